// Every query by every run, the hardest on top: a row is one drawing, with one path for each level of the values.
const MAP_ROWS = 60, LEVELS = 4;  // rows shown at first; levels above 0
const best_first = data.order.map((name) => data.runs.indexOf(name));
let mapRows = MAP_ROWS;
const mean = (values) => { const known = values.filter((each) => each !== null); return known.length ? known.reduce((sum, each) => sum + each, 0) / known.length : null; };
const level = (number, top) => (number === null ? null : number <= SAME ? 0 : Math.max(1, Math.min(LEVELS, Math.ceil(LEVELS * number / top - SAME))));
const strip = (kinds, name, height) => {
  const paths = new Map();
  for (let start = 0, stop; start < kinds.length; start = stop) {
    for (stop = start + 1; stop < kinds.length && kinds[stop] === kinds[start];) stop += 1;
    if (kinds[start] !== null) paths.set(kinds[start], `${paths.get(kinds[start]) ?? ""}M${start} 0H${stop}V1H${start}Z`);
  }
  return shape("svg", { viewBox: `0 0 ${kinds.length} 1`, preserveAspectRatio: "none", "shape-rendering": "crispEdges", "aria-hidden": "true" },
    ...[...paths].map(([kind, path]) => shape("path", { class: name(kind), d: path })));
};
const showMap = () => {
  if (!at("map")) return;
  const rows = data.queries.map((_, query) => best_first.map((run) => value(run, query)));
  const top = Math.max(1, ...rows.map((row) => row.reduce((most, each) => Math.max(most, each ?? 0), 0)));
  const means = rows.map(mean), hard = measure().lower ? -1 : 1;
  const order = data.worst_first.filter((query) => means[query] !== null).sort((x, y) => hard * (means[x] - means[y]));
  const ends = Array.from({ length: LEVELS }, (_, index) => `to ${(top * (index + 1) / LEVELS).toLocaleString("en", { maximumFractionDigits: 2 })}`);
  const sample = (kind) => shape("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, shape("rect", { class: `level-${kind}`, width: 10, height: 10, rx: 2 }));
  at("map-legend").replaceChildren(make("span", {}, `${measure().name}, hardest query first`), ...["0", ...ends].map((text, kind) => make("span", {}, sample(kind), text)));
  const row = (query) => make("tr", query === state.q ? { "aria-current": "true", "data-query": query } : { "data-query": query },
    make("th", { scope: "row", title: asked(query) }, link(query)), make("td", {}, strip(rows[query].map((each) => level(each, top)), (kind) => `level-${kind}`)),
    make("td", { class: "number" }, three(means[query])));
  const heads = make("tr", {}, make("th", { scope: "col" }, "query"),
    make("th", { scope: "col" }, make("span", { class: "ends" }, make("span", {}, "best run"), make("span", {}, "worst run")), strip(best_first.map((run) => data.standing[run]), (kind) => kind)),
    make("th", { scope: "col", class: "number" }, "mean"));
  const found = make("table", { class: "map" }, make("colgroup", {}, make("col", { class: "name" }), make("col"), make("col", { class: "mean" })), make("thead", {}, heads), make("tbody", {}, ...order.slice(0, mapRows).map(row)));
  at("map-rows").replaceChildren(found);
  at("map-more").hidden = order.length <= mapRows;
  at("map-more").textContent = `Show all ${plain(order.length)} queries`;
};
// The cell under the pointer: its query and run.
const cellAt = (event) => {
  const drawn = event.target.closest("#map tbody svg");
  if (!drawn) return null;
  const box = drawn.getBoundingClientRect(), place = Math.floor(best_first.length * (event.clientX - box.left) / box.width);
  return { query: Number(drawn.closest("tr").dataset.query), run: best_first[Math.max(0, Math.min(best_first.length - 1, place))] };
};
const mapEvents = () => {
  if (!at("map")) return;
  at("map-rows").addEventListener("mousemove", (event) => {
    const cell = cellAt(event);
    if (cell) at("map-told").textContent = `${data.short[cell.run]}, place ${best_first.indexOf(cell.run) + 1}: ${three(value(cell.run, cell.query))} for ${asked(cell.query)}`;
  });
  at("map-rows").addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    if (cell.run !== state.a) choose("b", cell.run);
    go(cell.query);
  });
  at("map-more").addEventListener("click", () => { mapRows = Infinity; showMap(); });
};
