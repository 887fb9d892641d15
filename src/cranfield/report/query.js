// One query: its rankings beside each other, where each document moved, and what both lack.
const detailed = new Map(data.detailed.map((query, row) => [query, row]));
// Of a column with any number of values for a query: those of one, which is a row.
const part = ([values, starts], row) => values.slice(starts[row], starts[row + 1]);
const known = (query, run) => {
  if (!detailed.has(query)) return undefined;
  const row = detailed.get(query), [top, ranks, reasons, tags, steps] = rankings(run);
  return { top: top && part(top, row), ranks: ranks && part(ranks, row), reason: data.reasons[reasons[row]], why: data.tags[tags[row]], steps: part(steps, row) };
};
const PARTS = 10000;  // of 1: the unit of the values down to each rank
// Reasons are counted by the rel and the cutoff of the first measure, which is named if another is shown.
const about = () => (state.m === 0 ? "" : `By ${data.measures[0].name}: `);
const tag = (text) => make("span", { class: "chip" }, text);

const badge = (grade) => {
  if (grade === undefined || grade < 0) return make("span", { class: "grade none", title: "not judged" }, "?");
  return make("span", { class: `grade g${Math.max(0, Math.min(3, Math.floor(grade)))}`, title: `grade ${grade}` }, String(grade));
};
const described = (number, words) => {
  const [id, title, text] = data.documents[number];
  return make("div", {}, make("b", {}, words ? marked(title || id, words) : title || id), title ? make("span", { class: "id" }, ` ${id}`) : null,
    text ? make("p", { class: "text" }, words ? marked(text, words) : text) : null);
};

// The rank of a document in a run: a number; null if it was not retrieved; undefined if that is not known.
const rankOf = (query, run, number) => {
  const its = known(query, run);
  const shown = its.top?.indexOf(number) ?? -1;
  if (shown >= 0) return shown + 1;
  const listed = data.details[query].relevant.findIndex(([each]) => each === number);
  if (listed >= 0 && its.ranks) return its.ranks[listed] || null;
  if (its.top && its.top.length < data.depth) return null;  // all of the ranking is shown
  return undefined;
};
const isRelevant = (query, number) => data.details[query].relevant.some(([each]) => each === number);
// From the baseline to the run. Only for relevant documents is one direction better than the other.
const movement = (query, number) => {
  const before = rankOf(query, state.a, number), now = rankOf(query, state.b, number);
  const below = `>${data.depth}`;
  const from = before === null ? "–" : before ?? below, to = now === null ? "–" : now ?? below;
  const place = (rank) => (rank === null ? Infinity : rank ?? data.depth + 1);
  const moved = Math.sign(place(before) - place(now));
  const kind = !isRelevant(query, number) || !moved ? "" : moved > 0 ? "better" : "worse";
  const words = before === null ? "new" : now === null ? "gone" : moved === 0 ? "=" : `${moved > 0 ? "↑" : "↓"} ${from}→${to}`;
  const spoken = { new: `not retrieved by ${data.runs[state.a]}`, gone: `not retrieved by ${data.runs[state.b]}`, "=": "at the same rank" }[words] ?? `from rank ${from} to rank ${to}`.replace(">", "below ");
  return make("span", { class: `move ${kind}`, title: spoken }, words);
};

const ranked = (query, run, compared) => {
  const its = known(query, run), words = data.texts?.[query] ?? "";
  if (its.top === null) return make("p", { class: "soft small" }, "The ranking is not known: only the evaluation was given.");
  if (!its.top.length) return make("p", { class: "soft small" }, "Nothing was retrieved.");
  const row = (number, index) => make("li", { "data-document": number }, make("span", { class: "rank" }, String(index + 1)), badge(data.details[query].grades[number]),
    described(number, words), compared ? movement(query, number) : null);
  return make("ol", { class: "ranking" }, ...its.top.map(row));
};

// Relevant documents that neither ranking shows, each once.
const missed = (query, runs) => {
  const detail = data.details[query], by = state.m === 0 ? "" : ` by ${data.measures[0].name}`;
  const shown = new Set(runs.flatMap((run) => known(query, run).top ?? []));
  const rows = detail.relevant.filter(([number]) => !shown.has(number));
  const unlisted = detail.all_relevant - detail.relevant.length;
  if (!detail.all_relevant) return null;
  const head = `Relevant${by}, but ${runs.length > 1 ? "in neither" : "not in the"} top ${data.depth}`;
  if (!rows.length && !unlisted) return make("p", { class: "soft small found" }, `Every document that is relevant${by} is ${runs.length > 1 ? "in one of the two rankings above" : "in the ranking above"}.`);
  const part = make("div", { class: "missed" }, make("h3", {}, head));
  const rank = (run, number) => { const found = rankOf(query, run, number); return found === null ? "not retrieved" : found === undefined ? "rank not known" : `rank ${plain(found)}`; };
  const row = ([number, grade]) => make("li", {}, badge(grade), described(number, data.texts?.[query] ?? ""),
    make("span", { class: "move" }, ...runs.flatMap((run, index) => [index ? make("br") : null, runs.length > 1 ? `${data.runs[run]}: ${rank(run, number)}` : rank(run, number)])));
  if (rows.length) part.append(make("ul", { class: "ranking" }, ...rows.map(row)));
  if (unlisted > 0) part.append(make("p", { class: "soft small" }, `${counted(unlisted, "more relevant document is", "more relevant documents are")} not listed.`));
  return part;
};

// Term by term: the gain at each rank, what the discount leaves of it, and every measure down to there.
const steps = (query, run) => {
  const grades = data.details[query].grades, its = known(query, run);
  if (!its.steps.length || !its.top?.length) return null;
  const names = ["grade", "gain", "log2(i+1)", "gain/log2", ...data.families.map((name) => `${name}@i`)];
  const heads = [["rank", "number"], ["document"], ...names.map((name) => [name, "number"])];
  const rows = its.top.map((number, index) => {
    const grade = grades[number], worth = data.gains[String(grade)] ?? 0, discount = Math.log2(index + 2);
    const numbers = [grade === undefined ? "–" : String(grade), String(worth), four(discount), four(worth / discount), ...data.families.map((_, family) => four(its.steps[family * its.top.length + index] / PARTS))];
    return make("tr", {}, make("td", { class: "number", "data-label": "rank" }, String(index + 1)), make("td", { class: "id", "data-label": "document" }, data.documents[number][0]),
      ...numbers.map((text, column) => make("td", { class: "number", "data-label": names[column] }, text)));
  });
  return make("details", { class: "notes steps" }, make("summary", {}, "How these values are calculated"),
    make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": `Rank by rank, ${data.runs[run]}` }, table(heads, rows)));
};

const side = (query, key) => {
  const run = state[key], its = known(query, run);
  const pick = make("select", { "aria-label": key === "a" ? "Baseline shown here" : "Run shown here", onchange: (event) => { choose(key, Number(event.target.value)); go(query); } });
  choices(pick, data.runs, run);
  return make("div", {}, make("p", { class: "side-head" }, swatch(run), several ? pick : make("b", {}, data.runs[run]), make("span", {}, `${measure().name} ${three(value(run, query))}`)),
    make("p", { class: "why" }, ...its.why.map(tag), about() + its.reason), ranked(query, run, several && state.a !== state.b), steps(query, run));
};

// Both places of a document are marked while the pointer is on one of them.
const linkPlaces = (view) => view.addEventListener("mouseover", (event) => {
  const number = event.target.closest("[data-document]")?.dataset.document;
  for (const each of view.querySelectorAll("[data-document]")) each.classList.toggle("linked", each.dataset.document === number);
});

const showQuery = (focus) => {
  const view = at("query"), query = state.q;
  view.hidden = query === null;
  if (query === null) { view.replaceChildren(); return; }
  const step = (by) => { const found = listed(), next = found[found.indexOf(query) + by]; if (next !== undefined) go(next); };
  const button = (text, onclick) => make("button", { type: "button", onclick }, text);
  const whole = make("button", { type: "button", "aria-pressed": String(view.classList.contains("whole")), onclick: () => whole.setAttribute("aria-pressed", String(view.classList.toggle("whole"))) }, "Whole texts");
  const tools = make("div", { class: "tools" }, data.texts ? whole : null, button("← Previous", () => step(-1)), button("Next →", () => step(1)), button("Close", () => go(null)));
  view.replaceChildren(make("header", {}, make("h3", {}, asked(query)), data.texts ? make("span", { class: "id" }, data.queries[query]) : null, tools));
  if (data.details[query]) {
    const keys = several ? ["a", "b"] : ["a"];
    view.append(make("div", { class: "side" }, ...keys.map((key) => side(query, key))), missed(query, [...new Set(keys.map((key) => state[key]))]));
  } else {
    const rows = data.runs.map((name, run) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number", "data-label": measure().name }, three(value(run, query)))));
    view.append(make("p", { class: "soft small" }, "The rankings of this query are not on this page; the notes below the list say what was left out."), table([["run"], [measure().name, "number"]], rows));
  }
  if (focus) { view.scrollIntoView({ block: "start" }); view.focus({ preventScroll: true }); }
};
