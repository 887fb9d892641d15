// Adding a document that an assessor knows, although no system returned it: found by its words, or by its id.

import { fill, make, openDialog } from "./elements.js";
import { marked } from "./words.js";

// `find(words)` searches; `add(id)` adds a document, and throws what the server says against it.
export function askForDocument(find, add) {
  const field = make("input", { type: "search", required: true, maxlength: "1000", "aria-label": "Words of its title or text, or its id" });
  const found = make("div", { class: "found", "aria-live": "polite" });
  let asked = 0;

  const tell = (...told) => fill(found, ...told);
  const choose = async (id) => {
    try {
      await add(id);
      card.close();
    } catch (error) {
      tell(make("p", { class: "refused", role: "alert" }, `${error.message} ${error.hint ? `${error.hint}.` : ""}`));
    }
  };
  const row = (each, words) =>
    make(
      "li",
      {},
      make(
        "button",
        { type: "button", on: { click: () => choose(each.doc_id) } },
        make("span", { class: "id", dir: "auto" }, each.doc_id, each.pooled && make("span", { class: "tag" }, "in the list")),
        each.title && make("b", { dir: "auto" }, marked(each.title, words)),
        each.text && make("span", { class: "beginning", dir: "auto" }, marked(each.text, words)),
      ),
    );
  const show = ({ documents, read }, words) => {
    const isKnown = documents.some((each) => each.doc_id === words);
    tell(
      documents.length > 0 && make("ul", {}, documents.map((each) => row(each, words))),
      !documents.length && make("p", { class: "soft" }, "Nothing found."),
      read && make("p", { class: "soft" }, `Only the first ${read.toLocaleString("en")} documents were searched; an id finds any of them.`),
      !isKnown && !/\s/u.test(words) && make("button", { type: "button", class: "quiet", on: { click: () => choose(words) } }, "Add the document with the id ", make("b", { dir: "auto" }, words)),
    );
  };
  const search = async (event) => {
    event.preventDefault();
    const words = field.value.trim();
    if (!words) return;
    const number = ++asked;
    tell(make("p", { class: "soft" }, "Searching …"));
    try {
      const told = await find(words);
      if (number === asked) show(told, words);
    } catch (error) {
      if (number === asked) tell(make("p", { class: "refused", role: "alert" }, `${error.message} ${error.hint ? `${error.hint}.` : ""}`));
    }
  };
  const card = openDialog(
    "Add a document",
    make(
      "form",
      { class: "adding", on: { submit: search } },
      make("h2", {}, "Add a document"),
      make("p", { class: "soft" }, "One that is relevant to this query, but that no system returned. Search its title and text, or give its id."),
      make("p", { class: "search" }, field, make("button", {}, "Search")),
      found,
      make("button", { type: "button", class: "quiet", on: { click: () => card.close() } }, "Cancel"),
    ),
  );
  field.focus();
}
