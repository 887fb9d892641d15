// The documents of a query beside the one that is shown, with the grades that the assessor gave.

import { counted, make } from "./elements.js";
import { chip } from "./grades.js";

const MOST = 200;

// `documents`: null as long as they are not known.
export function documentList(documents, current, scale, open, add) {
  const count = documents?.length ?? 0;
  return make(
    "aside",
    { class: "card", "aria-label": "Documents of this query", "aria-busy": String(documents === null) },
    make("p", { class: "soft" }, documents ? `This query, ${counted(count, "document")}` : "This query"),
    documents && make("ul", { class: "list" }, documents.slice(0, MOST).map((each) => row(each, current, scale, open))),
    count > MOST && make("p", { class: "soft" }, `and ${(count - MOST).toLocaleString("en")} more`),
    make("button", { type: "button", class: "adder", on: { click: add } }, make("kbd", {}, "A"), " add a document"),
  );
}

function row(each, current, scale, open) {
  const now = same(each, current);
  const others = !each.open && !each.said && !now;
  const who = [each.judges?.length && `judged by ${each.judges.join(", ")}`, each.with?.length && `with ${each.with.join(", ")}`].filter(Boolean);
  return make(
    "li",
    {},
    make(
      "button",
      {
        type: "button",
        class: now ? "now" : "",
        "aria-current": now ? "true" : null,
        disabled: others,
        title: others ? "other people judge it" : null,
        on: { click: () => open(each) },
      },
      others ? make("span", { class: "grade none" }, "·") : chip(each.said ? each.said.grade : undefined, scale),
      make("span", {}, make("span", { class: "name", dir: "auto" }, each.title || each.doc_id), who.length > 0 && make("small", {}, who.join("; "))),
    ),
  );
}

// The current document in the sight of a list that is longer than the window; the page itself stays where it is.
export function showCurrent(main) {
  const list = main.querySelector("aside");
  const now = list?.querySelector(".now");
  if (now) list.scrollTop = now.offsetTop + now.offsetHeight / 2 - list.clientHeight / 2;
}

export function same(one, other) {
  return one.query_id === other.query_id && one.doc_id === other.doc_id && String(one.part) === String(other.part);
}
