// Sorting, filters, keys; then the first drawing.
const showAll = (focus) => { showTwo(); showList(); showQuery(focus); };

for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numeric;
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.children[column].dataset.sort ?? row.children[column].textContent;
      const rows = [...table.tBodies[0].rows].sort((x, y) => (numeric ? Number(key(x)) - Number(key(y)) : key(x).localeCompare(key(y), "en", { numeric: true })));
      table.tBodies[0].append(...(down ? rows.reverse() : rows));
    });
  });
}

const options = (select, pairs) => select.append(...pairs.map(([key, name]) => make("option", { value: key }, name)));
const several = data.runs.length > 1;
options(at("order"), [["worst", several ? "worst first, all runs" : "worst first"], ["b", "worst first, run"], ["a", "worst first, baseline"], ["loss", "largest loss first"], ["gain", "largest gain first"], ["file", "as in the judgments"]]
  .filter(([key]) => several || key === "worst" || key === "file"));
options(at("change"), [["", "any"], ["up", "run is better"], ["down", "run is worse"], ["same", "the same"]]);
at("change-label").hidden = !several;
const tags = [...new Set(data.rankings.flatMap((queries) => Object.values(queries).flatMap((its) => its.why)))].sort();
options(at("why"), [["", "any"], ...tags.map((tag) => [tag, tag])]);
at("why-label").hidden = !tags.length;
if (data.segments) {
  at("segment-label").hidden = false;
  options(at("segment"), [["", "all"], ...[...new Set(data.segments)].filter(Boolean).sort().map((name) => [name, name])]);
}
const relist = () => { state.shown = 50; showList(); };
at("filter").addEventListener("input", relist);
for (const id of ["segment", "change", "why", "order"]) at(id).addEventListener("change", relist);
at("more").addEventListener("click", () => { state.shown += 200; showList(); });
for (const [id, key] of [["run-a", "a"], ["run-b", "b"], ["measure", "m"]]) {
  at(id)?.addEventListener("change", (event) => { state[key] = Number(event.target.value); history.replaceState(null, "", place()); showAll(false); });
}
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
drawAll();
showAll(linked);
performance.mark("interactive");
document.documentElement.dataset.page = "interactive";
