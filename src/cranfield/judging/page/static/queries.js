// All queries, or those with some words: which are done, and where to continue.

import { counted, fill, make } from "./elements.js";
import { listen } from "./keys.js";
import { decisionProgress, storeProgress } from "./progress.js";
import { ask } from "./server.js";
import { head } from "./session.js";

export async function show(session, main) {
  const list = make("div", { class: "card" });
  const field = make("input", { type: "search", placeholder: "Words in a query, title or id", "aria-label": "Search", maxlength: "200" });
  let asked = 0;
  const load = async () => {
    const number = ++asked;
    const told = await ask("queries", { assessor: session.assessor, words: field.value });
    if (number !== asked) return; // a later search has been answered
    head(session, {
      place: `${told.progress.queries_done.toLocaleString("en")} of ${counted(told.progress.queries, "query", "queries")} done`,
      progress: told.decision ? decisionProgress(told.decision, told.progress, false) : storeProgress(told.progress),
    });
    fill(list, ...rows(told, field.value));
  };
  let typing = 0;
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(load, 150);
  });
  fill(main, make("p", { class: "search" }, field), list);
  listen([{ keys: ["/"], run: () => field.focus() }, { keys: ["Escape"], run: () => location.assign("/") }]);
  await load();
  if (new URLSearchParams(location.search).has("search")) field.focus();
}

function done(query) {
  return query.pooled > 0 && query.left === 0;
}

function pill(flags, said) {
  return flags.length > 0 && make("span", { class: "pill close" }, `${said} ${flags.map((flag) => flag.assessor).join(", ")}`);
}

function rows(told, words) {
  if (!told.queries.length) {
    return [make("p", { class: "soft" }, words ? "Nothing contains these words." : "There are no queries here.")];
  }
  const row = (each) =>
    make(
      "li",
      {},
      make(
        "a",
        { href: `/?query=${encodeURIComponent(each.query_id)}` },
        make("span", { class: done(each) ? "tick done" : "tick", "aria-label": done(each) ? "done" : "open" }, done(each) ? "✓" : ""),
        make(
          "span",
          { class: "name", dir: "auto" },
          each.text || each.query_id,
          make(
            "small",
            { class: "soft" },
            pill(each.flags.filter((flag) => !flag.unanswerable), "unclear to"),
            pill(each.flags.filter((flag) => flag.unanswerable), "no answer, says"),
            Object.entries(each.judges).map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(" · "),
          ),
        ),
        make("span", { class: "soft number" }, each.pooled ? `${each.pooled - each.left} of ${each.pooled}` : "nothing found"),
      ),
    );
  return [
    make("ul", { class: "rows" }, told.queries.map(row)),
    told.more && make("p", { class: "soft" }, "There are more: search to find them."),
  ];
}
