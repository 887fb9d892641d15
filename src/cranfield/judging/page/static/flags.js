// The queries that assessors flagged as unclear, or as having no answer. Flags are withdrawn by those who raised them.

import { fill, make, when } from "./elements.js";
import { listen } from "./keys.js";
import { ask, insist, newKey } from "./server.js";
import { head } from "./session.js";

export async function show(session, main) {
  const load = async () => {
    const told = await ask("flags", { assessor: session.assessor });
    head(session, { place: "Queries that somebody finds unclear, or without an answer" });
    const card = make("div", { class: "card" });
    fill(main, card);
    if (!told.queries.length) return fill(card, make("p", { class: "soft" }, "Nobody has flagged a query. While you judge, Q flags the query on the screen."));
    fill(
      card,
      make("ul", { class: "rows" }, told.queries.map((each) => row(each))),
      told.more && make("p", { class: "soft" }, "There are more."),
    );
  };
  const withdraw = async (query_id) => {
    await insist("flag", { assessor: session.assessor, query_id, withdrawn: true, key: newKey() }, "Not withdrawn yet.");
    await load();
  };
  const flag = (each, query_id) =>
    make(
      "div",
      { class: "raised" },
      make("span", { class: "name", dir: "auto" }, each.comment || make("span", { class: "soft" }, "without a comment")),
      make("span", { class: "soft number" }, each.unanswerable ? `no answer: ${each.assessor}` : each.assessor, make("small", {}, when(each.at))),
      each.assessor === session.assessor && make("button", { type: "button", class: "more", on: { click: () => withdraw(query_id) } }, "Withdraw"),
    );
  const row = (each) =>
    make(
      "li",
      { class: "flagged" },
      make(
        "a",
        { href: `/?query=${encodeURIComponent(each.query_id)}` },
        make("span", { class: "name", dir: "auto" }, each.query || each.query_id, each.narrative && make("small", { class: "soft" }, each.narrative)),
      ),
      each.flags.map((one) => flag(one, each.query_id)),
    );
  listen([{ keys: ["Escape"], run: () => location.assign("/") }]);
  await load();
}
