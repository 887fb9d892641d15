// Filters and keys; then the first drawing.
const showAll = (focus) => { showTwo(); showList(); showQuery(focus); showFirst(); drawAll(); };

document.querySelectorAll("table.sortable").forEach(sortable);
at("all-runs").addEventListener("click", () => { allRuns = true; showFirst(); });
options(at("order"), [["worst", several ? "worst first, mean of all runs" : "worst first"], ["b", "worst first, run"], ["a", "worst first, baseline"], ["loss", "largest loss first"], ["gain", "largest gain first"], ["file", "as in the judgments"]]
  .filter(([key]) => several || key === "worst" || key === "file"));
options(at("change"), [["", "any"], ["better", "run is better"], ["worse", "run is worse"], ["same", "the same"]]);
at("change-label").hidden = !several;
const reasons = [...new Set(data.tags.flat().map(category))].sort();
options(at("why"), [["", "any"], ...reasons.map((each) => [each, each])]);
at("why-label").hidden = !reasons.length;
if (data.segments) {
  at("segment-label").hidden = false;
  options(at("segment"), [["", "all"], ...[...new Set(data.segments)].filter(Boolean).sort().map((name) => [name, name])]);
}
const relist = () => { state.shown = FIRST_QUERIES; showList(); };
at("filter").addEventListener("input", relist);
for (const id of ["segment", "change", "why", "order"]) at(id).addEventListener("change", relist);
at("more").addEventListener("click", () => { state.shown += 200; showList(); });
for (const [id, key] of [["run-a", "a"], ["run-b", "b"], ["measure", "m"]]) {
  at(id)?.addEventListener("change", (event) => { choose(key, Number(event.target.value)); history.replaceState(null, "", place()); showAll(false); });
}
at("copy").addEventListener("click", copyPlace);
linkPlaces(at("query"));
addEventListener("hashchange", () => { const before = state.q; if (readPlace()) showAll(state.q !== null && state.q !== before); });
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/") { event.preventDefault(); at("filter").focus(); }
  if (event.key === "Escape" && state.q !== null) go(null);
  if (event.key === "j" || event.key === "k") {
    const found = listed(), next = state.q === null ? found[0] : found[found.indexOf(state.q) + (event.key === "j" ? 1 : -1)];
    if (next !== undefined) go(next);
  }
});
const linked = readPlace() && state.q !== null;
showAll(linked);
performance.mark("interactive");
document.documentElement.dataset.page = "interactive";
