// The judgments, with filters; assessors can correct their own grades.

import { fill, make, when } from "./elements.js";
import { chip } from "./grades.js";
import { listen } from "./keys.js";
import { ask } from "./server.js";
import { head } from "./session.js";

export async function show(session, main) {
  const words = make("input", { type: "search", placeholder: "Words in a query, title, id or comment", "aria-label": "Search", maxlength: "200" });
  const grade = choice("Grade", [["", "all grades"], ...session.scale.map((each) => [String(each.grade), `${each.grade} ${each.name}`]), ["none", "cannot judge"]]);
  const names = [...new Set([session.assessor, ...session.assessors])];
  const by = choice("Assessor", [["", "everyone"], ...names.map((name) => [name, name === session.assessor ? `${name} (you)` : name])]);
  const list = make("ul", { class: "rows" });
  const more = make("button", { type: "button", class: "more", hidden: true }, "Show more");
  const empty = make("p", { class: "soft", hidden: true }, "Nothing here yet.");
  let last = null;
  let asked = 0;

  const load = async (before) => {
    const number = ++asked;
    const told = await ask("judged", {
      assessor: session.assessor,
      words: words.value,
      by: by.value,
      ...(grade.value ? { grade: grade.value === "none" ? null : Number(grade.value) } : {}),
      before,
    });
    if (number !== asked) return;
    if (!before) list.replaceChildren();
    list.append(...told.judged.map((each) => row(each, session)));
    last = told.judged.at(-1)?.number ?? null;
    more.hidden = !told.more;
    empty.hidden = list.childElementCount > 0;
  };

  head(session, { place: "Latest first" });
  let typing = 0;
  words.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => load(null), 150);
  });
  for (const each of [grade, by]) each.addEventListener("change", () => load(null));
  more.addEventListener("click", () => load(last));
  fill(main, make("p", { class: "search" }, words, grade, by), make("div", { class: "card" }, list, empty, more));
  listen([{ keys: ["/"], run: () => words.focus() }, { keys: ["Escape"], run: () => location.assign("/") }]);
  await load(null);
}

function choice(name, values) {
  return make("select", { "aria-label": name }, values.map(([value, told]) => make("option", { value }, told)));
}

function row(each, session) {
  const inside = [
    chip(each.grade, session.scale),
    make(
      "span",
      { class: "name", dir: "auto" },
      each.title || each.doc_id,
      make("small", { class: "soft" }, each.query || each.query_id),
      each.comment && make("small", { class: "said" }, `“${each.comment}”`),
    ),
    make("span", { class: "soft number" }, each.assessor, make("small", {}, each.adjudicates ? "settled" : "", " ", when(each.at))),
  ];
  if (!each.mine) return make("li", {}, make("div", {}, inside));
  const asked = new URLSearchParams({ query: each.query_id, document: each.doc_id, ...(each.part ? { part: each.part.join("-") } : {}) });
  return make("li", {}, make("a", { href: `/?${asked}`, title: "Correct it" }, inside));
}
