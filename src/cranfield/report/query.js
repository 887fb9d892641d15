// One query: its rankings beside each other, where each document moved, and what both lack.
const detailed = new Map(data.detailed.map((query, row) => [query, row]));
// What each letter stands for where a text is a list of numbers.
const NUMBER = new Map();
for (let code = "#".charCodeAt(0); code < 0xD800; code += 1) {
  const letter = String.fromCharCode(code);
  if (!"&<>\\\u2028\u2029".includes(letter)) NUMBER.set(letter, NUMBER.size);
}
// Of a column with any number of values for a query: those of one, which is a row.
const part = ([values, starts], row) => {
  const [first, last] = typeof starts === "number" ? [row * starts, (row + 1) * starts] : [starts[row], starts[row + 1]];
  const its = values.slice(first, last);
  return typeof its === "string" ? Array.from(its, (letter) => NUMBER.get(letter)) : its;
};
const known = (query, run) => {
  if (!detailed.has(query)) return undefined;
  const row = detailed.get(query), [top, ranks, reasons, tags, steps, effects] = rankings(run);
  const { shown } = data.details[query];
  return { top: top && part(top, row).map((each) => (typeof shown === "number" ? shown + each : shown[each])), ranks: ranks && part([ranks, data.starts], row), reason: data.reasons[reasons[row]], why: data.tags[tags[row]], steps: part(steps, row), effects: part(effects, row) };
};
const PARTS = 10000;  // of 1: the unit of the values down to each rank
const FINEST = 1e9;  // ... and of what each rank adds
const TINY = 2e-7;  // smaller effects are due to rounding
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
// What a document adds to the value of a run at its rank, given those above it; 0 where it is not among the first.
const adds = (query, run, number) => {
  const { top, effects } = known(query, run), place = top?.indexOf(number) ?? -1;
  return place < 0 ? 0 : effects[place] / FINEST;
};
const hasEffects = (query) => state.m === 0 && [state.a, state.b].every((run) => { const its = known(query, run); return its?.effects.length || its?.top?.length === 0; });
// How a move changes the value: "better", "worse", "" for not at all, "unknown" for a document without a grade.
const effect = (query, number) => {
  const grade = data.details[query].grades[number];
  const change = hasEffects(query) ? adds(query, state.b, number) - adds(query, state.a, number) : 0;
  if (Math.abs(change) >= TINY) return { change, kind: (change > 0) === !measure().lower ? "better" : "worse" };
  return { change: 0, kind: grade === undefined || grade < 0 ? "unknown" : "" };
};
// From the baseline to the run, in words, with what it does to the value.
const movement = (query, number, inRun) => {
  const before = rankOf(query, state.a, number), now = rankOf(query, state.b, number), { change, kind } = effect(query, number);
  const there = (rank) => (rank === null ? "" : ` ${rank === undefined ? `>${data.depth}` : plain(rank)}`);
  const shown = (run) => known(query, run).top.includes(number);
  const words = before === now && before !== undefined ? "same"
    : inRun ? (shown(state.a) ? `was ${before}` : before === null ? "new" : `new, was${there(before)}`)
    : shown(state.b) ? `now ${now}` : now === null ? "gone" : `left, now${there(now)}`;
  // A document in both rankings has its effect once, in the second: so the effects that are shown add up.
  const once = change && (inRun || !shown(state.b));
  return make("span", { class: `move ${kind}`, title: inRun ? `in ${data.short[state.a]}` : `in ${data.short[state.b]}` }, once ? `${words} ${kind === "better" ? "▲" : "▼"} ${signed(change)}` : words);
};
const nameOf = (number) => data.documents[number][1] || data.documents[number][0];

const ranked = (query, run) => {
  const its = known(query, run), words = data.texts?.[query] ?? "";
  if (its.top === null) return make("p", { class: "soft small" }, "The ranking is not known: only the evaluation was given.");
  if (!its.top.length) return make("p", { class: "soft small" }, "Nothing was retrieved.");
  const row = (number, index) => make("li", { "data-document": number }, make("span", { class: "rank" }, String(index + 1)), badge(data.details[query].grades[number]), described(number, words));
  return make("ol", { class: "ranking" }, ...its.top.map(row));
};

// Both rankings beside each other, in rows of one height, so that lines can join the places of each document.
const ROW = 36, GUTTER = 96;
const joined = (query) => {
  const tops = [state.a, state.b].map((run) => known(query, run).top), panel = make("div", { class: "panel", "aria-live": "polite" });
  const open = (number) => {
    const again = panel.dataset.document === String(number);
    panel.replaceChildren(...(again ? [] : [badge(data.details[query].grades[number]), described(number, data.texts?.[query] ?? "")]));
    panel.dataset.document = again ? "" : number;
  };
  const row = (inRun) => (number, index) => make("li", { "data-document": number, class: effect(query, number).kind },
    make("span", { class: "rank" }, String(index + 1)), badge(data.details[query].grades[number]),
    make("button", { type: "button", class: "plain title", title: data.documents[number][0], onclick: () => open(number) }, nameOf(number)), movement(query, number, inRun));
  const list = (run, top, inRun) => (top.length ? make("ol", { class: "ranking", "aria-label": data.short[run] }, ...top.map(row(inRun))) : make("p", { class: "soft small" }, "Nothing was retrieved."));
  const middle = (rank) => (rank + 0.5) * ROW, high = ROW * Math.max(...tops.map((top) => top.length), 1);
  const lines = [];
  const line = (number, path) => lines.push(shape("path", { class: effect(query, number).kind || "none", d: path, "data-document": number }));
  tops[0].forEach((number, rank) => {
    const to = tops[1].indexOf(number), y = middle(rank);
    line(number, to < 0 ? `M0 ${y}H24m-6 -4l6 4l-6 4` : `M0 ${y}C${GUTTER / 2} ${y} ${GUTTER / 2} ${middle(to)} ${GUTTER} ${middle(to)}`);
  });
  tops[1].forEach((number, rank) => { if (!tops[0].includes(number)) line(number, `M${GUTTER - 24} ${middle(rank)}H${GUTTER}m-6 -4l6 4l-6 4`); });
  const drawing = shape("svg", { viewBox: `0 0 ${GUTTER} ${high}`, height: high, preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines);
  // On a phone the first ranking has no room for titles: what left it is listed below.
  const left = tops[0].filter((number) => !tops[1].includes(number)).map((number) => make("li", { class: effect(query, number).kind }, badge(data.details[query].grades[number]), make("span", {}, nameOf(number)), movement(query, number, false)));
  const legend = [["better", "adds to the value"], ["worse", "takes from the value"], ["none", "makes no difference"], ["unknown", "unjudged, may do either"]]
    .map(([kind, text]) => make("span", {}, shape("svg", { viewBox: "0 0 30 10", "aria-hidden": "true" }, shape("path", { class: kind, d: "M0 5H30" })), text));
  return [make("div", { class: "joined" }, list(state.a, tops[0], false), drawing, list(state.b, tops[1], true)),
    left.length ? make("ul", { class: "ranking left" }, ...left) : "", make("p", { class: "legend soft small" }, ...legend), summed(query, tops), panel];
};
// The sum of the effects that are shown, and what remains for documents below.
const summed = (query, tops) => {
  if (!hasEffects(query)) return make("p", { class: "soft small" }, `What each move does to the value is shown for ${data.measures[0].name}${state.m === 0 ? ", where the ranks are known" : ""}.`);
  const total = [...new Set(tops.flat())].reduce((sum, number) => sum + adds(query, state.b, number) - adds(query, state.a, number), 0);
  const rest = difference(query) - total;
  const below = Math.abs(rest) < TINY ? "" : `; documents below rank ${data.depth}: ${signed(rest)}`;
  return make("p", { class: "soft small sum" }, `A number is what the document adds at its new rank, minus what it added at its old one, given those above it. Sum: ${signed(total)}${below}.`);
};

// What happened, in two sentences: the largest effect, and how the relevant documents moved.
const told = (query) => {
  const tops = [state.a, state.b].map((run) => known(query, run).top), all = [...new Set(tops.flat())];
  const largest = all.map((number) => [number, effect(query, number).change]).sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]))[0];
  const place = (rank) => (rank === undefined ? `below rank ${data.depth}` : `rank ${plain(rank)}`);
  const sentences = [];
  if (largest?.[1]) {
    const [number, change] = largest, grade = data.details[query].grades[number];
    const before = rankOf(query, state.a, number), now = rankOf(query, state.b, number);
    const known_ranks = Number.isFinite(before) && Number.isFinite(now);
    const moved = before === now ? `stayed at rank ${plain(now)}` : before === null ? `is new, at ${place(now)}` : now === null ? `is no longer retrieved (it was at ${place(before)})`
      : `${known_ranks && now < before || before === undefined ? "rose" : "fell"} from ${place(before)} to ${place(now).replace(known_ranks ? "rank " : "", "")}`;
    sentences.push(`“${nameOf(number)}” (grade ${grade}) ${moved}: ${signed(change)}.`);
  }
  const relevant = data.details[query].relevant.map(([number]) => number), moves = { rose: 0, fell: 0, "came in": 0, left: 0 };
  for (const number of relevant) {
    const [before, now] = tops.map((top) => top.indexOf(number));
    if (before === now) continue;
    moves[before < 0 ? "came in" : now < 0 ? "left" : now < before ? "rose" : "fell"] += 1;
  }
  const parts = Object.entries(moves).filter(([, count]) => count).map(([how, count]) => `${plain(count)} ${how}`);
  sentences.push(parts.length ? `Of the relevant documents in the top ${data.depth}, ${new Intl.ListFormat("en").format(parts)}.` : `No relevant document moved in the top ${data.depth}.`);
  if (tops[1].length && tops[1][0] !== tops[0][0] && !(data.details[query].grades[tops[1][0]] >= 0)) sentences.push(`The first document of ${data.short[state.b]} is not judged.`);
  return make("p", { class: "told" }, sentences.join(" "));
};
const placed = (query) => {
  const gains = data.queries.map((_, each) => gain(each)).filter((each) => each !== null), its = gain(query);
  if (its === null || Math.abs(its) <= SAME) return "";
  const larger = gains.filter((each) => (its > 0 ? each > its + SAME : each < its - SAME)).length;
  const nth = larger === 0 ? "the" : `the ${new Intl.PluralRules("en", { type: "ordinal" }).select(larger + 1).replace(/.*/, (rule) => plain(larger + 1) + { one: "st", two: "nd", few: "rd", other: "th" }[rule])}`;
  return ` · ${nth} largest ${its > 0 ? "gain" : "loss"} of ${counted(gains.length, "query", "queries")}`;
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
    make("span", { class: "move" }, ...runs.flatMap((run, index) => [index ? make("br") : null, runs.length > 1 ? `${data.short[run]}: ${rank(run, number)}` : rank(run, number)])));
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
    make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": `Rank by rank, ${data.short[run]}` }, table(heads, rows)));
};

const side = (query, key, lists) => {
  const run = state[key], its = known(query, run);
  const pick = make("select", { "aria-label": key === "a" ? "Baseline shown here" : "Run shown here", onchange: (event) => { choose(key, Number(event.target.value)); go(query); } });
  choices(pick, data.brief, run);
  return make("div", {}, make("p", { class: "side-head" }, swatch(run), several ? pick : make("b", {}, data.short[run]), make("span", {}, `${measure().name} ${three(value(run, query))}`)),
    make("p", { class: "why" }, ...its.why.map(tag), about() + its.reason), lists ? ranked(query, run) : null, steps(query, run));
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
  const copied = make("span", { class: "soft small", role: "status" });
  const tools = make("div", { class: "tools" }, copied, button("Copy link", () => copyPlace(copied)), button("← Previous", () => step(-1)), button("Next →", () => step(1)), button("Close", () => go(null)));
  view.replaceChildren(make("header", {}, make("h3", {}, asked(query)), data.texts ? make("span", { class: "id" }, data.queries[query]) : null, tools));
  if (data.details[query]) {
    const keys = several ? ["a", "b"] : ["a"], both = several && keys.every((key) => known(query, state[key]).top);
    if (several) view.append(make("p", { class: "numbers" }, make("b", { class: direction(query) }, `${changed(query)} ${measure().name}`), placed(query)));
    if (both) view.append(told(query));
    view.append(make("div", { class: "side" }, ...keys.map((key) => side(query, key, !both))), ...(both ? joined(query) : []), missed(query, [...new Set(keys.map((key) => state[key]))]));
  } else {
    const rows = data.short.map((name, run) => make("tr", {}, make("th", { scope: "row", title: data.runs[run] }, name), make("td", { class: "number", "data-label": measure().name }, three(value(run, query)))));
    view.append(make("p", { class: "soft small" }, "The rankings of this query are not on this page; the notes below the list say what was left out."), table([["run"], [measure().name, "number"]], rows));
  }
  if (focus) { view.scrollIntoView({ block: "start" }); view.focus({ preventScroll: true }); }
};
