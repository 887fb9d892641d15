// Groups of queries: by what happened with the run, against the baseline, by length, by segment. Each opens its list.
const MISORDERED = "lower grade above a higher one", NOTHING_WRONG = "nothing of these";
const category = (reason) => (/^grade .* above grade /.test(reason) ? MISORDERED : reason);
const apart_from_words = new Set(data.apart);
const LENGTHS = [["1 or 2 words", 2], ["3 to 5 words", 5], ["6 words or more", Infinity]];
// What happened with the run, by the first measure: several of these may be true of a query.
const happened = (query) => {
  const its = known(query, state.b);
  if (!its) return [];
  const found = its.why.map(category), [first] = its.top ?? [];
  if (its.top && !its.top.length) found.unshift("nothing retrieved");
  if (first !== undefined && !(data.details[query].grades[first] >= 0)) found.push("unjudged on top");
  if (apart_from_words.has(query)) found.push("no shared word");
  return found.length ? found : [NOTHING_WRONG];
};
const HAPPENED = ["nothing retrieved", "nothing relevant retrieved", "ranked too low", MISORDERED, "unjudged on top", "mostly unjudged", "no shared word", "no relevant document is judged", NOTHING_WRONG];
const kinds = [
  { key: "what", title: () => `What happened with ${data.short[state.b]}`, names: HAPPENED, of: happened, shown: data.detailed.length > 0 },
  { key: "change", title: () => `Against ${data.short[state.a]}`, names: ["worse", "better", "same"], of: (query) => (difference(query) === null ? [] : [direction(query) || "same"]), shown: several },
  { key: "length", title: () => "Length", names: LENGTHS.map(([name]) => name),
    of: (query) => { const words = data.texts[query].trim().split(/\s+/).length; return [LENGTHS.find(([, most]) => words <= most)[0]]; }, shown: data.texts !== null },
  { key: "segment", title: () => "Segment", names: [...new Set(data.segments ?? [])].filter(Boolean).sort(), of: (query) => [data.segments[query]], shown: data.segments !== null },
].filter((kind) => kind.shown);
const inGroups = (query) => kinds.every((kind) => !state.only[kind.key] || kind.of(query).includes(state.only[kind.key]));
const showGroups = () => {
  at("groups").replaceChildren(...kinds.map((kind) => {
    const counts = new Map(kind.names.map((name) => [name, 0]));
    for (const query of data.worst_first) for (const name of kind.of(query)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const chip = ([name, count]) => {
      const chosen = state.only[kind.key] === name;
      const button = make("button", { type: "button", class: "group", "data-group": name, "aria-pressed": String(chosen), onclick: () => only(kind.key, chosen ? null : name) }, `${name} `, make("b", {}, plain(count)));
      button.disabled = !count && !chosen;
      return button;
    };
    return make("div", { class: "groups", role: "group", "aria-label": kind.title() }, make("span", { class: "soft small" }, kind.title()), ...[...counts].map(chip));
  }));
};
const only = (key, name) => {
  const focused = document.activeElement?.dataset?.group;
  if (key === null) state.only = {}; else state.only[key] = name;
  state.shown = FIRST_QUERIES;
  history.replaceState(null, "", place());
  showGroups();
  showList();
  if (focused) [...document.querySelectorAll("#groups button")].find((each) => each.dataset.group === focused)?.focus();
};
