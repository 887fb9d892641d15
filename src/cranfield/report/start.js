// Filters and keys; then the first drawing.
const showAll = (focus) => { showTwo(); showMap(); showGroups(); showList(); showQuery(focus); showFirst(); drawAll(); };

document.querySelectorAll("table.sortable").forEach(sortable);
at("all-runs").addEventListener("click", () => { allRuns = true; showFirst(); });
options(at("order"), [["loss", "largest loss first"], ["gain", "largest gain first"], ["worst", several ? "worst first, mean of all runs" : "worst first"], ["b", "worst first, run"], ["a", "worst first, baseline"], ["file", "as in the judgments"]]
  .filter(([key]) => several || key === "worst" || key === "file"));
const relist = () => { state.shown = FIRST_QUERIES; showList(); };
at("filter").addEventListener("input", relist);
at("order").addEventListener("change", relist);
at("more").addEventListener("click", () => { state.shown += 200; showList(); });
for (const [id, key] of [["run-a", "a"], ["run-b", "b"], ["measure", "m"]]) {
  at(id)?.addEventListener("change", (event) => { choose(key, Number(event.target.value)); history.replaceState(null, "", place()); showAll(false); });
}
at("copy").addEventListener("click", () => copyPlace(at("copied")));
for (const button of document.querySelectorAll("[data-share]")) button.addEventListener("click", () => copy(data.share[button.dataset.share], at("shared")));
// The card as a picture, twice as large as it is drawn so that it is sharp.
at("save-card")?.addEventListener("click", async () => {
  const image = new Image(), canvas = make("canvas", { width: 2400, height: 1260 });
  image.src = `data:image/svg+xml,${encodeURIComponent(data.share.svg)}`;
  await image.decode();
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  make("a", { href: canvas.toDataURL("image/png"), download: "card.png" }).click();
});
linkPlaces(at("query"));
mapEvents();
// Where the page was when a query was opened: closing it leads back there, with the focus.
let came = null;
const goBack = () => {
  if (!came) return;
  const links = came.section ? [...at(came.section).querySelectorAll("a[href*='q=']")] : [];
  links.find((each) => new URLSearchParams(each.hash.slice(1)).get("q") === data.queries[came.query])?.focus({ preventScroll: true });
  scrollTo(0, came.y);
  came = null;
};
// A link to a query leads to it, one to two runs to these.
addEventListener("hashchange", () => {
  const before = state.q, link = document.activeElement?.closest("a[href*='q=']");
  if (!readPlace()) return;
  if (before === null && state.q !== null) came = { y: scrollY, query: state.q, section: link?.closest("section")?.id };
  showAll(state.q !== null && state.q !== before);
  if (before !== null && state.q === null) goBack();
  if (state.q === null && before === null) at("two")?.scrollIntoView({ block: "start" });
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/") { event.preventDefault(); at("filter").focus(); }
  if (event.key === "Escape" && state.q !== null) go(null);
  if (event.key === "j" || event.key === "k") {
    const found = listed(), next = state.q === null ? found[0] : found[found.indexOf(state.q) + (event.key === "j" ? 1 : -1)];
    if (next !== undefined) go(next);
  }
});
themed(() => {
  drawnHues = "";  // a canvas has the colours that it was painted with
  showAll(false);
});
// On paper nothing is folded away that a button would show.
let before_print = null;
addEventListener("beforeprint", () => { before_print = [mapRows, state.shown]; mapRows = state.shown = Infinity; showMap(); showList(); });
addEventListener("afterprint", () => { if (before_print) [mapRows, state.shown] = before_print; before_print = null; showMap(); showList(); });
const linked = readPlace() && state.q !== null;
showAll(linked);
performance.mark("interactive");
document.documentElement.dataset.page = "interactive";
