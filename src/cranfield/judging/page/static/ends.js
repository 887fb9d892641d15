// The end of the work: all is judged, nothing is left for this assessor, or a comparison is decided.

import { decisionCard } from "./decision.js";
import { counted, fillFinished, make } from "./elements.js";
import { ask } from "./server.js";
import { head } from "./session.js";

// `end`: the session, the main element, the progress and the state as shown, and the ways back.
export function showFinished({ session, main, progress, state, ways }, { left, documents }) {
  const title = left ? "Nothing left for you" : documents ? "Everything is judged" : "Nothing to judge";
  head(session, { title, progress, state });
  const waits = `${counted(left, "document is", "documents are")} left for others: someone has them open, or they need a second assessor. Reload the page to look again.`;
  const done = documents ? "Thank you. You can still look through the judgments and correct your own." : "No documents are waiting to be judged. Fill the store with: cranfield pool";
  const links = make("p", { class: "links" }, make("a", { href: "/judged" }, "Review judgments"));
  fillFinished(main, make("p", {}, left ? waits : done), links, make("div", { class: "tools" }, ways));
  // Not awaited: the keys work meanwhile. Without an answer the link is missing, and the page of differences has its own.
  ask("conflicts", { assessor: session.assessor }).then(
    ({ count }) => count && links.prepend(make("a", { href: "/adjudicate" }, `Settle ${counted(count, "difference")} between assessors`)), // of one assessor there are none
    () => {},
  );
}

export function showDecided({ session, main, progress, state, ways }, decision, goOn) {
  const [pair, ...others] = decision.pairs;
  head(session, { title: others.length ? "Decided" : pair.name, progress, state });
  const rest = decision.documents - decision.judged;
  const more = rest > 0 && make("button", { type: "button", on: { click: goOn } }, `Judge the other ${rest.toLocaleString("en")} too`);
  fillFinished(main, decisionCard(decision, session.next_steps), make("div", { class: "tools" }, ways, more));
}
