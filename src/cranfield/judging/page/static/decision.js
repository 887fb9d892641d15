// The decision: each pair of runs with its difference, its interval and its progress; and what follows from it.

import { commandLine, make } from "./elements.js";
import { verdictOf } from "./progress.js";

export function decisionPanel(decision) {
  if (!decision) return null;
  return make(
    "div",
    { class: "decision", role: "status" },
    decision.pairs.map((pair) =>
      make(
        "p",
        {},
        make("span", { class: "soft" }, `${pair.name}, ${decision.measure}`),
        pill(pair, ""),
        pair.difference && make("span", {}, make("b", {}, pair.difference), " ", make("span", { class: "soft" }, pair.interval)),
        pair.state === "open" && make("span", { class: "soft" }, pair.told),
      ),
    ),
  );
}

// What was decided, what it cost and what to do next.
export function decisionCard(decision, steps) {
  const { judged, documents } = decision;
  const number = (value, told) => make("div", {}, make("dt", {}, told), make("dd", {}, value.toLocaleString("en")));
  const verdicts = [
    decision.pairs.map((pair) =>
      make(
        "div",
        { class: "verdict" },
        pill(pair, "Decided: "),
        pair.difference && make("p", { class: "delta" }, pair.difference, " ", make("small", {}, decision.measure)),
        pair.difference && pair.interval && make("p", { class: "soft" }, `${decision.level} interval ${pair.interval}`),
        intervalDrawn(pair),
        make("p", { class: "soft" }, pair.reason),
      ),
    ),
    make("dl", { class: "cost" }, number(judged, `judged of ${documents.toLocaleString("en")}`), documents > judged && number(documents - judged, "not needed")),
  ];
  const next = [
    steps.length > 0 && make("h2", {}, "Next"),
    steps.length > 0 && make("ul", { class: "commands" }, steps.map(({ name, command }) => commandLine(name, command))),
    documents > judged && make(
      "p",
      { class: "soft" },
      "These documents were chosen to compare these runs. They do not say how many documents are relevant, and another run may need others.",
    ),
  ];
  return make("div", { class: "decided" }, make("div", {}, verdicts), make("div", {}, next));
}

function pill(pair, before) {
  const verdict = verdictOf(pair);
  if (!verdict) return null;
  const told = before ? verdict.told : { better: "better", worse: "worse", close: "no significant difference" }[verdict.kind];
  return make("p", { class: `pill ${verdict.kind}` }, `${verdict.sign} ${before}${told}`);
}

// The interval against zero, as wide as the wider side of it.
function intervalDrawn(pair) {
  const [low, high] = pair.ends ?? [];
  if (!pair.difference || !Number.isFinite(low) || !Number.isFinite(high)) return null;
  const widest = Math.max(Math.abs(low), Math.abs(high)) * 1.15 || 1;
  const place = (value) => 100 + (100 * value) / widest;
  const drawn = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const picture = drawn("svg", { viewBox: "0 0 200 16", class: `interval ${verdictOf(pair)?.kind ?? ""}`, role: "img", "aria-label": `from ${low.toFixed(3)} to ${high.toFixed(3)}; the line is no difference` });
  picture.append(
    drawn("line", { x1: 0, x2: 200, y1: 8, y2: 8, class: "axis" }),
    drawn("line", { x1: place(low), x2: Math.max(place(high), place(low) + 0.5), y1: 8, y2: 8, class: "range" }),
    drawn("line", { x1: 100, x2: 100, y1: 1, y2: 15, class: "zero" }),
    drawn("circle", { cx: place(Number(pair.difference.replace("−", "-"))), cy: 8, r: 3 }),
  );
  return picture;
}
