// The list of queries, and one of them with its rankings.
const known = (query, run) => data.rankings[run][query];
// What went wrong is counted by the rel and the cutoff of the first measure, which is named where another is shown.
const about = () => (state.m === 0 ? "" : `By ${data.measures[0].name}: `);

const listed = () => {
  const wanted = at("filter").value.trim().toLowerCase();
  const segment = data.segments ? at("segment").value : "";
  const change = at("change").value, why = at("why").value, order = at("order").value;
  let found = order === "file" ? data.queries.map((_, query) => query) : data.worst_first.slice();
  const low = (run) => (query) => (value(run, query) === null ? Infinity : measure().lower ? -value(run, query) : value(run, query));
  if (order === "a" || order === "b") { const by = low(state[order]); found.sort((x, y) => by(x) - by(y)); }
  if (order === "gain" || order === "loss") found.sort((x, y) => (order === "gain" ? -1 : 1) * ((gain(x) ?? 0) - (gain(y) ?? 0)));
  if (segment) found = found.filter((query) => data.segments[query] === segment);
  if (change) found = found.filter((query) => (direction(query) || "same") === change);
  if (why) found = found.filter((query) => known(query, state.b)?.why.includes(why));
  if (wanted) found = found.filter((query) => data.queries[query].toLowerCase().includes(wanted) || data.texts?.[query].toLowerCase().includes(wanted));
  return found;
};

const reason = (query) => {
  const its = known(query, state.b);
  return its ? make("td", { class: "why" }, ...its.why.map((tag) => make("span", { class: "tag" }, tag)), make("small", {}, about() + its.reason)) : make("td", {});
};
const showList = () => {
  const found = listed();
  const runs = [...new Set([state.a, state.b])];
  const row = (query) => make("tr", query === state.q ? { "aria-current": "true" } : {},
    make("th", { scope: "row" }, link(query), data.texts ? make("small", {}, data.texts[query]) : null),
    data.segments ? make("td", {}, data.segments[query]) : null,
    ...runs.map((run) => make("td", { class: "number" }, four(value(run, query)))),
    runs.length > 1 ? make("td", { class: "number " + direction(query) }, difference(query) === null ? "–" : signed(difference(query))) : null,
    reason(query));
  const heads = [["query"], ...(data.segments ? [["segment"]] : []), ...runs.map((run) => [data.runs[run], "number"]),
    ...(runs.length > 1 ? [["difference", "number"]] : []), [`what happened in ${data.runs[state.b]}`]];
  at("query-list").replaceChildren(table(heads, found.slice(0, state.shown).map(row)));
  at("query-count").textContent = `${found.length.toLocaleString("en")} of ${counted(data.queries.length, "query", "queries")}, by ${measure().name}`;
  at("more").hidden = found.length <= state.shown;
};

const badge = (grade) => {
  if (grade === undefined || grade < 0) return make("span", { class: "grade none", title: "not judged" }, "?");
  const element = make("span", { class: "grade" + (grade < 1 ? " zero" : ""), title: `grade ${grade}` }, String(grade));
  if (grade >= 1) element.style.background = `rgba(var(--good), ${Math.min(0.2 + 0.17 * grade, 0.75)})`;
  return element;
};
const described = (number) => {
  const [id, title, text] = data.documents[number];
  return make("div", {}, make("b", {}, title || id), title ? make("p", { class: "id" }, id) : null, text ? make("p", {}, text) : null);
};
const documentRow = (rank, grade, number) => make("li", {}, make("span", { class: "rank" }, rank), badge(grade), described(number));

const missed = (query, its) => {
  const detail = data.details[query];
  const part = make("div", {}, make("h4", {}, `Relevant${state.m === 0 ? "" : ` by ${data.measures[0].name}`}, but not shown above`));
  if (its.ranks === null) { part.append(make("p", { class: "note" }, "Not known.")); return part; }
  const rows = detail.relevant.map(([number, grade], index) => [number, grade, its.ranks[index]]).filter(([, , rank]) => rank === 0 || rank > (its.top ?? []).length);
  if (rows.length) part.append(make("p", { class: "note" }, "With the rank, or – where it was not retrieved."),
    make("ul", { class: "ranking" }, ...rows.map(([number, grade, rank]) => documentRow(rank ? rank.toLocaleString("en") : "–", grade, number))));
  else part.append(make("p", { class: "note" }, "None."));
  const unlisted = detail.all_relevant - detail.relevant.length;
  if (unlisted > 0) part.append(make("p", { class: "note" }, `${unlisted} more relevant documents are not listed.`));
  return part;
};

// Term by term: the gain at each rank, what the discount leaves of it, and every measure down to there.
const steps = (query, its) => {
  const grades = data.details[query].grades;
  const heads = [["rank", "number"], ["document"], ...["grade", "gain", "log2(i+1)", "gain/log2", ...data.families.map((name) => `${name}@i`)].map((name) => [name, "number"])];
  const rows = its.top.map((number, index) => {
    const grade = grades[number], worth = data.gains[String(grade)] ?? 0, discount = Math.log2(index + 2);
    const numbers = [grade === undefined ? "–" : String(grade), String(worth), four(discount), four(worth / discount), ...its.steps.map((step) => four(step[index]))];
    return make("tr", {}, make("td", { class: "number" }, String(index + 1)), make("td", { class: "id" }, data.documents[number][0]), ...numbers.map((text) => make("td", { class: "number" }, text)));
  });
  return make("details", {}, make("summary", {}, "How these values are calculated"), make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Rank by rank" }, table(heads, rows)));
};

const side = (query, key) => {
  const run = state[key], its = known(query, run);
  const pick = make("select", { "aria-label": "Run shown here", onchange: (event) => { state[key] = Number(event.target.value); go(query); } });
  choices(pick, data.runs, run);
  const ranking = its.top === null ? make("p", { class: "note" }, "The ranking is not known: only the evaluation was given.")
    : its.top.length ? make("ol", { class: "ranking" }, ...its.top.map((number, index) => documentRow(String(index + 1), data.details[query].grades[number], number)))
      : make("p", { class: "note" }, "Nothing was retrieved.");
  return make("div", {}, make("p", { class: "side-head" }, data.runs.length > 1 ? pick : make("b", {}, data.runs[run]), make("span", {}, `${measure().name} ${four(value(run, query))}`)),
    make("p", { class: "why" }, ...its.why.map((tag) => make("span", { class: "tag" }, tag)), about() + its.reason), ranking, missed(query, its),
    its.steps.length && its.top?.length ? steps(query, its) : null);
};

const showQuery = (focus) => {
  const view = at("query"), query = state.q;
  view.hidden = query === null;
  if (query === null) { view.replaceChildren(); return; }
  const step = (by) => { const found = listed(), next = found[found.indexOf(query) + by]; if (next !== undefined) go(next); };
  const text = data.texts?.[query];
  view.replaceChildren(make("header", {}, make("h3", {}, data.queries[query] + (text ? `: ${text}` : "")),
    make("button", { type: "button", onclick: () => step(-1) }, "← previous"), make("button", { type: "button", onclick: () => step(1) }, "next →"),
    make("button", { type: "button", onclick: () => go(null) }, "close")));
  if (data.details[query]) {
    view.append(make("div", { class: "side" }, ...(data.runs.length > 1 ? ["a", "b"] : ["a"]).map((key) => side(query, key))));
  } else {
    const rows = data.runs.map((name, run) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, four(value(run, query)))));
    view.append(make("p", { class: "note" }, "The rankings of this query are not in this page; what was left out is said below the list."), table([["run"], [measure().name, "number"]], rows));
  }
  if (focus) { view.scrollIntoView({ block: "start" }); view.focus({ preventScroll: true }); }
};
