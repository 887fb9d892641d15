// The decision: each pair of runs with its difference, its interval and its progress.

import { make } from "./elements.js";

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
        make("b", {}, pair.difference),
        make("span", { class: "soft" }, pair.interval),
        make("span", { class: "soft" }, pair.told),
      ),
    ),
  );
}

export function decisionReasons(decision) {
  return decision.pairs.map((pair) => make("p", {}, pair.reason));
}
