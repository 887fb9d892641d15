// How far judging is. What is judged and what waits are two numbers, each of one fixed thing: neither turns back.

import { counted } from "./elements.js";

// { done, of, lines, badge }: what the bar shows, and the lines beside it.
export function storeProgress(progress) {
  const done = progress.documents - progress.left;
  return { done, of: progress.documents, lines: [judgedOf(done, progress.documents), timeLeft(progress)] };
}

// Of the documents that are compared, how many are judged; and what is still needed, or waits though it is not needed.
export function decisionProgress(decision, progress, goesOn) {
  const lines = [judgedOf(decision.judged, decision.documents)];
  if (!decision.done) lines.push(needed(decision.needed));
  else if (goesOn) lines.push(`${progress.left.toLocaleString("en")} wait`);
  return { done: decision.judged, of: decision.documents, lines, badge: decision.done ? badgeOf(decision) : null };
}

function judgedOf(done, of) {
  return `${done.toLocaleString("en")} of ${of.toLocaleString("en")} judged`;
}

// A number, or the two ends of a range; nothing where it is not known yet.
function needed(number) {
  const ends = [number].flat().filter((each) => Number.isFinite(each)).map((each) => each.toLocaleString("en"));
  return ends.length ? `about ${[...new Set(ends)].join(" to ")} more to decide` : "";
}

function timeLeft({ pace, left }) {
  const minutes = Math.round((pace * left) / 60);
  if (!pace || minutes < 1) return "";
  return `about ${minutes < 90 ? `${minutes} min` : counted(Math.round(minutes / 60), "hour")} left`;
}

// The verdict on a pair of runs: its sentence, its colour and its sign; null while it is open.
export function verdictOf(pair) {
  const [baseline, run] = pair.runs;
  const verdict = pair.state === "all judged" ? pair.verdict : pair.state;
  if (pair.state === "open") return null;
  if (verdict === "better") return { kind: "better", sign: "▲", told: `${run} is better than ${baseline}` };
  if (verdict === "worse") return { kind: "worse", sign: "▼", told: `${run} is worse than ${baseline}` };
  return { kind: "close", sign: "=", told: `no significant difference between ${run} and ${baseline}` };
}

function badgeOf(decision) {
  const verdicts = decision.pairs.map(verdictOf).filter(Boolean);
  if (verdicts.length !== 1) return { kind: "plain", told: "Decided" };
  return { kind: verdicts[0].kind, told: `${verdicts[0].sign} Decided` };
}
