// Passages: selected text is graded as a part of the document; places count characters, as the store does.

import { fill, make } from "./elements.js";
import { chip } from "./grades.js";

const QUOTED = 90; // characters of a passage in a line

export class Passages {
  constructor(session, ask, remove) {
    Object.assign(this, { session, ask, remove });
    this.selected = null; // { start, end, quote }: what the next grade is for
    this.of = null;
    this.hint = make("div", { class: "passage-hint", role: "status" });
    this.list = make("ul", { class: "passages", "aria-label": "Passages" });
    document.addEventListener("selectionchange", () => this.look());
  }

  // When a document is shown, its marked passages come from the server.
  async show(task, card) {
    Object.assign(this, { task, card, of: task.number, marked: [] });
    this.clear();
    fill(this.list);
    const { passages } = await this.ask("passages", { query_id: task.query_id, doc_id: task.doc_id });
    if (this.task !== task) return; // another document is there by now
    this.marked = passages;
    this.draw();
  }

  look() {
    const chosen = getSelection();
    const holder = this.card?.querySelector(".text");
    if (!holder || !chosen.rangeCount || !holder.contains(chosen.anchorNode) || !holder.contains(chosen.focusNode)) return;
    this.selected = chosen.isCollapsed ? null : this.partOf(chosen.getRangeAt(0));
    this.tell();
  }

  // The place of a selection in the text, in characters; blanks at its ends do not belong to it.
  partOf(range) {
    const from = this.placeOf(range.startContainer, range.startOffset);
    const to = this.placeOf(range.endContainer, range.endOffset);
    if (from === null || to === null) return null;
    const text = this.task.text;
    const quote = text.slice(from, to).trim();
    if (!quote) return null;
    const first = from + text.slice(from, to).indexOf(quote);
    const base = (this.task.part?.[0] ?? 0) + characters(text.slice(0, first));
    return { start: base, end: base + characters(quote), quote };
  }

  placeOf(node, offset) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const paragraph = element.closest("p[data-start]");
    if (!paragraph) return element.matches(".text") ? this.endOf(element, offset) : null;
    const before = document.createRange();
    before.setStart(paragraph, 0);
    before.setEnd(node, offset);
    return Number(paragraph.dataset.start) + before.toString().length;
  }

  // A selection that ends between two paragraphs.
  endOf(holder, offset) {
    const after = holder.children[offset];
    if (after?.dataset.start) return Number(after.dataset.start);
    const last = holder.querySelector("p[data-start]:last-of-type");
    return last ? Number(last.dataset.start) + last.textContent.length : null;
  }

  clear() {
    this.selected = null;
    if (this.card?.contains(getSelection().anchorNode)) getSelection().removeAllRanges();
    this.tell();
  }

  tell() {
    const { selected } = this;
    fill(
      this.hint,
      selected && [
        make("span", {}, "The next grade is for this passage: ", make("q", { dir: "auto" }, shortened(selected.quote))),
        make("button", { type: "button", on: { click: () => this.clear() } }, make("kbd", {}, "Esc"), " grade the whole document instead"),
      ],
    );
  }

  // A grade was saved for the selection.
  add(selected, grade) {
    const part = [selected.start, selected.end];
    this.marked = [...this.marked.filter((each) => String(each.part) !== String(part)), { part, grade }];
    this.clear();
    this.draw();
  }

  draw() {
    this.marked.sort((one, other) => one.part[0] - other.part[0]);
    fill(this.list, this.marked.map((each) => this.row(each)));
    this.highlight();
  }

  row({ part, grade }) {
    const drop = async () => {
      await this.remove(part);
      this.marked = this.marked.filter((each) => String(each.part) !== String(part));
      this.draw();
    };
    return make(
      "li",
      {},
      chip(grade, this.session.scale),
      make("q", { dir: "auto" }, shortened(this.quoteOf(part))),
      make("button", { type: "button", "aria-label": "Remove this passage", on: { click: drop } }, "×"),
    );
  }

  quoteOf([start, end]) {
    const base = this.task.part?.[0] ?? 0;
    return [...this.task.text].slice(start - base, end - base).join("");
  }

  // Marked passages are underlined in the text, where the browser can do that without changing it.
  highlight() {
    if (!globalThis.CSS?.highlights) return;
    const ranges = this.marked.map(({ part }) => this.rangeOf(part)).filter(Boolean);
    if (ranges.length) CSS.highlights.set("passage", new Highlight(...ranges));
    else CSS.highlights.delete("passage");
  }

  rangeOf([start, end]) {
    const base = this.task.part?.[0] ?? 0;
    const letters = [...this.task.text];
    const [from, to] = [start, end].map((place) => letters.slice(0, place - base).join("").length);
    const range = document.createRange();
    let begun = false;
    for (const paragraph of this.card.querySelectorAll("p[data-start]")) {
      let place = Number(paragraph.dataset.start);
      const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const next = place + node.length;
        if (!begun && from < next) {
          range.setStart(node, Math.max(from - place, 0));
          begun = true;
        }
        if (begun && to > place) range.setEnd(node, Math.min(to - place, node.length));
        place = next;
      }
    }
    return begun ? range : null;
  }
}

function characters(text) {
  return [...text].length; // code points, not the surrogates that JavaScript counts
}

function shortened(text) {
  const plain = text.replace(/\s+/gu, " ");
  return plain.length > QUOTED ? `${plain.slice(0, QUOTED)}…` : plain;
}
