// Two systems side by side.
const changes = (title, queries) => {
  if (!queries.length) return make("div", {}, make("h3", {}, title), make("p", { class: "soft small" }, "Nowhere."));
  const heads = [["query"], [data.short[state.a], "number"], [data.short[state.b], "number"], ["difference", "number"]];
  const cell = (text, name, kind = "") => make("td", { class: `number ${kind}`, "data-label": name }, text);
  const rows = queries.map((query) => make("tr", {}, make("th", { scope: "row" }, link(query)), cell(three(value(state.a, query)), data.short[state.a]),
    cell(three(value(state.b, query)), data.short[state.b]), cell(changed(query), "difference", direction(query))));
  return make("div", {}, make("h3", {}, title), table(heads, rows));
};

const balance = (better, same, worse) => {
  const total = better + same + worse;
  let start = 0;
  const bar = shape("svg", { class: "balance", viewBox: "0 0 400 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const [kind, count] of [["better", better], ["same", same], ["worse", worse]]) {
    const wide = total ? 400 * count / total : 0;
    if (count) bar.append(shape("rect", { class: kind, x: start, width: wide, height: 12 }));
    start += wide;
  }
  return [bar, make("p", { class: "counts" }, make("b", { class: "better" }, `▲ ${plain(better)} better`),
    make("span", { class: "soft" }, `${plain(same)} the same`), make("b", { class: "worse" }, `▼ ${plain(worse)} worse`))];
};

// The data of a template are those of two runs: replace them by others, in all layers.
const refill = (part, fill) => {
  if (part.data?.values) part.data = { values: fill(part.data.values) };
  for (const layer of part.layer ?? []) refill(layer, fill);
};
// The names of queries in a chart: their texts, with the id where two queries ask the same.
const named = (queries) => {
  const times = new Map();
  for (const query of queries) times.set(asked(query), (times.get(asked(query)) ?? 0) + 1);
  return new Map(queries.map((query) => [query, times.get(asked(query)) > 1 ? `${asked(query)} (${data.queries[query]})` : asked(query)]));
};

const drawTwo = (name, one, other, compared, described) => {
  const templates = data.templates[measure().lower];
  if (!templates || !compared.length) return;
  const names = { measure: name, other, one }, labels = named(compared);
  const ordered = compared.slice().sort((x, y) => gain(y) - gain(x));
  const rows = ordered.map((query, index) => ({ place: index + 1, query: labels.get(query), place_of_query: query, difference: difference(query) }));
  const changes = rows.map((row) => row.difference), least = changes.reduce((x, y) => Math.min(x, y), 0), most = changes.reduce((x, y) => Math.max(x, y), 0);
  const bars = filled(templates.difference, names);
  bars.description = described;
  // Beside the queries there are 0, and the ends of an axis that has room for words on both sides of it.
  const room = 0.2 * (most - least) || 1;
  refill(bars, (old) => (old[0]?.query !== undefined ? rows : old.length === 2 ? [{ difference: Math.min(-room, least) }, { difference: Math.max(room, most) }] : old));
  eachAxis(bars, (axis) => {
    if (Array.isArray(axis.sort)) axis.sort = rows.map((row) => row.query);
    if (axis.scale?.paddingInner === 0) delete axis.scale.paddingInner;  // not for an area
  });
  const scatter = filled(templates.scatter, names);
  bars.height = scatter.height;
  draw(at("difference"), bars);
  const points = compared.map((query) => ({ query: labels.get(query), place_of_query: query, one: value(state.a, query), other: value(state.b, query) }));
  const every = points.flatMap((point) => [point.one, point.other]);
  const low = every.reduce((x, y) => Math.min(x, y), 0), high = every.reduce((x, y) => Math.max(x, y), measure().mean ? 1 : 0);
  scatter.description = described;
  refill(scatter, (old) => (old[0]?.query !== undefined ? points : [{ one: low, other: low }, { one: high, other: high }]));
  eachAxis(scatter, (axis) => { if (axis.scale?.domain) axis.scale = { ...axis.scale, domain: [low, high] }; });
  draw(at("scatter"), scatter);
};

const showTwo = () => {
  if (!at("two")) return;
  choices(at("run-a"), data.brief, state.a);
  choices(at("run-b"), data.brief, state.b);
  choices(at("measure"), data.measures.map((each) => each.name), state.m);
  const name = measure().name, one = data.short[state.a], other = data.short[state.b];
  const compared = data.queries.map((_, query) => query).filter((query) => difference(query) !== null);
  const better = compared.filter((query) => gain(query) > SAME).length, worse = compared.filter((query) => gain(query) < -SAME).length;
  const same = compared.length - better - worse;
  const described = `${other} is better than ${one} for ${counted(better, "query", "queries")}, worse for ${plain(worse)}, the same for ${plain(same)}.`;
  const said = data.pairs[name]?.[`${state.a} ${state.b}`];
  // As in the terminal, but with the page's minus sign.
  at("two-summary").textContent = said ? said.join(" ").replace(/([ (])-(?=\d+\.\d+\b)/g, "$1−") : described;
  at("two-balance").replaceChildren(...balance(better, same, worse));
  drawTwo(name, data.brief[state.a], data.brief[state.b], compared, described);
  const byGain = compared.slice().sort((x, y) => gain(y) - gain(x));
  at("two-changes").replaceChildren(
    changes(`Where ${other} gains most`, byGain.filter((query) => gain(query) > SAME).slice(0, 5)),
    changes(`Where ${other} loses most`, byGain.filter((query) => gain(query) < -SAME).reverse().slice(0, 5)));
};
