// A document as an assessor sees it: title, text with the words of the query marked, picture; long texts are folded.

import { make } from "./elements.js";
import { marked } from "./words.js";

const FOLDED = 1400; // characters shown of a long text

export function documentCard(task, unfolded = false) {
  const card = make("article", { class: "card document", "aria-label": "Document" });
  card.append(
    make(
      "div",
      { class: "about" },
      make("span", { class: "id", dir: "auto" }, task.doc_id),
      task.part && make("span", {}, `a part: characters ${task.part[0]} to ${task.part[1]}`),
      task.url && make("a", { href: task.url, target: "_blank", rel: "noopener noreferrer" }, hostOf(task.url)),
    ),
  );
  if (task.title) card.append(make("h2", { dir: "auto" }, marked(task.title, task.query)));
  if (task.image?.source) card.append(make("img", { src: task.image.source, alt: "", loading: "eager" }));
  if (task.image?.elsewhere) {
    card.append(
      make(
        "p",
        { class: "soft" },
        "Its image is on another server: ",
        make("a", { href: task.image.elsewhere, target: "_blank", rel: "noopener noreferrer" }, hostOf(task.image.elsewhere)),
      ),
    );
  }
  if (task.text) card.append(textOf(task, unfolded));
  else if (!task.title && !task.image) {
    card.append(make("p", { class: "soft" }, "The store has no text for this document, only its id."));
  }
  return card;
}

function textOf(task, unfolded) {
  const holder = make("div", { class: "text", dir: "auto" });
  const long = task.text.length > FOLDED * 1.25;
  const end = long && !unfolded ? lastBreak(task.text, FOLDED) : task.text.length;
  holder.append(...paragraphs(task.text.slice(0, end), task.query));
  if (end < task.text.length) {
    const more = (task.text.length - end).toLocaleString("en");
    const open = () => {
      holder.replaceChildren(...paragraphs(task.text, task.query));
      holder.dispatchEvent(new Event("unfolded", { bubbles: true }));
    };
    holder.append(
      make("button", { class: "more", type: "button", on: { click: open } }, `Show the other ${more} characters `, make("kbd", {}, "F")),
    );
  }
  return holder;
}

// Each paragraph knows where it begins in the text.
function paragraphs(text, query) {
  const found = [];
  let start = 0;
  for (const gap of [...text.matchAll(/\n\s*\n/gu), { index: text.length, 0: "" }]) {
    const each = text.slice(start, gap.index);
    if (each.trim()) found.push(make("p", { "data-start": start }, marked(each, query)));
    start = gap.index + gap[0].length;
  }
  return found;
}

function lastBreak(text, most) {
  const head = text.slice(0, most);
  const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf("\n"), head.lastIndexOf("。"));
  const place = sentence > most / 2 ? sentence + 1 : head.lastIndexOf(" ");
  return place > most / 2 ? place : most;
}

function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}
