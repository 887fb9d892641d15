// Two systems side by side.
const verdict = (pair) => {
  const known = { true: " Unjudged documents could reverse this.", false: " Unjudged documents cannot reverse this." };
  return `${pair.sentence}.` + (pair.sentence.endsWith("could reverse this") ? "" : known[pair.could_reverse] ?? "");
};

const changes = (title, queries) => {
  if (!queries.length) return make("div", {}, make("h3", {}, title), make("p", { class: "note" }, "Nowhere."));
  const heads = [["query"], [data.runs[state.a], "number"], [data.runs[state.b], "number"], ["difference", "number"]];
  const cell = (text, kind = "") => make("td", { class: `number ${kind}` }, text);
  const rows = queries.map((query) => make("tr", {}, make("th", { scope: "row" }, link(query)), cell(four(value(state.a, query))),
    cell(four(value(state.b, query))), cell(signed(difference(query)), direction(query))));
  return make("div", { class: "wide" }, make("h3", {}, title), table(heads, rows));
};

const drawTwo = (name, one, other, compared, told) => {
  if (!data.templates.difference) return;
  const names = { measure: name, other, one };
  const ordered = compared.slice().sort((x, y) => difference(y) - difference(x));
  const bars = filled(data.templates.difference, names);
  bars.description = told;
  bars.data = { values: ordered.map((query, index) => ({ place: index + 1, query: data.queries[query], difference: difference(query) })) };
  draw(at("difference"), bars);
  const scatter = filled(data.templates.scatter, names);
  const points = compared.map((query) => ({ query: data.queries[query], one: value(state.a, query), other: value(state.b, query) }));
  const every = points.flatMap((point) => [point.one, point.other]);
  const low = every.reduce((x, y) => Math.min(x, y), 0), high = every.reduce((x, y) => Math.max(x, y), measure().mean ? 1 : 0);
  scatter.description = told;
  scatter.layer[1].data = { values: points };
  scatter.layer[0].data = { values: [{ one: low, other: low }, { one: high, other: high }] };
  for (const layer of scatter.layer) for (const axis of ["x", "y"]) layer.encoding[axis].scale = { domain: [low, high] };
  draw(at("scatter"), scatter);
};

const showTwo = () => {
  if (!at("two")) return;
  choices(at("run-a"), data.runs, state.a);
  choices(at("run-b"), data.runs, state.b);
  choices(at("measure"), data.measures.map((each) => each.name), state.m);
  const name = measure().name, one = data.runs[state.a], other = data.runs[state.b];
  const compared = data.queries.map((_, query) => query).filter((query) => difference(query) !== null);
  const better = compared.filter((query) => gain(query) > SAME).length, worse = compared.filter((query) => gain(query) < -SAME).length;
  const told = `${other} is better than ${one} for ${counted(better, "query", "queries")}, worse for ${worse.toLocaleString("en")}, the same for ${(compared.length - better - worse).toLocaleString("en")}.`;
  const known = data.pairs.filter((pair) => pair.measure === name && (pair.baseline === one && pair.run === other || pair.baseline === other && pair.run === one));
  at("two-summary").textContent = [told, ...known.map(verdict)].join(" ");
  const share = (count) => `${compared.length ? 100 * count / compared.length : 0}%`;
  const part = (kind, count) => { const bar = make("span", { class: kind }, count ? count.toLocaleString("en") : ""); bar.style.width = share(count); return bar; };
  at("two-balance").replaceChildren(part("win", better), part("tie", compared.length - better - worse), part("loss", worse));
  drawTwo(name, one, other, compared, told);
  const byGain = compared.slice().sort((x, y) => gain(y) - gain(x));
  at("two-changes").replaceChildren(
    changes(`Where ${other} gains most`, byGain.filter((query) => gain(query) > SAME).slice(0, 5)),
    changes(`Where ${other} loses most`, byGain.filter((query) => gain(query) < -SAME).reverse().slice(0, 5)));
};
