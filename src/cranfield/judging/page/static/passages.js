// Passages: selected text is graded as a part of the document. A selection snaps to words, and its ends can be moved.
// In the page, places count as JavaScript does; in the store, they count characters.

import { fill, make } from "./elements.js";
import { chip } from "./grades.js";
import { moved, snapped } from "./wordends.js";

const QUOTED = 90; // characters of a passage in a line

export class Passages {
  // `saving`: grade(grade) saves the selection, remove(part) takes a saved passage back
  constructor(session, ask, saving) {
    Object.assign(this, { session, ask, saving });
    this.selected = null; // { from, to, start, end, quote, replaces }: what the next grade is for
    this.marked = [];
    this.hint = make("div", { class: "passage-hint", role: "status" });
    this.list = make("ul", { class: "passages", "aria-label": "Passages" });
    document.addEventListener("selectionchange", () => this.look());
  }

  // When a document is shown, its marked passages come from the server.
  async show(task, card) {
    Object.assign(this, { task, card, marked: [] });
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
    const range = chosen.getRangeAt(0);
    const ends = chosen.isCollapsed ? [null, null] : [this.placeOf(range.startContainer, range.startOffset), this.placeOf(range.endContainer, range.endOffset)];
    this.choose(...(ends.includes(null) ? [null, null] : snapped(this.task.text, ...ends)), this.selected?.replaces);
  }

  // What the next grade is for, from one place to another; nothing from null. `replaces`: the passage that is adjusted.
  choose(from, to, replaces = null) {
    const { text } = this.task;
    const start = from === null ? 0 : this.base + characters(text.slice(0, from));
    this.selected = from === null ? null : { from, to, start, end: start + characters(text.slice(from, to)), quote: text.slice(from, to), replaces };
    this.tell();
    shown("chosen", this.selected ? [this.rangeOf(from, to)] : []);
  }

  get base() {
    return this.task.part?.[0] ?? 0;
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
    if (this.card?.contains(getSelection().anchorNode)) getSelection().removeAllRanges();
    this.choose(null, null);
  }

  // Take up a saved passage again: its ends can be moved, and its next grade replaces it.
  adjust(part) {
    this.card.querySelector(".more")?.click();
    const [from, to] = this.placesOf(part);
    this.select(from, to, part);
  }

  move(end, by) {
    const { from, to, replaces } = this.selected;
    this.select(...moved(this.task.text, from, to, end, by), replaces);
  }

  // As if the reader had selected it.
  select(from, to, replaces) {
    this.choose(from, to, replaces);
    const range = this.rangeOf(from, to);
    if (!range) return;
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    range.startContainer.parentElement?.scrollIntoView({ block: "nearest" });
  }

  tell() {
    const { selected } = this;
    if (!selected) return fill(this.hint);
    const mover = (end, by, told) => make("button", { type: "button", "aria-label": told, title: told, on: { click: () => this.move(end, by) } }, by < 0 ? "‹" : "›");
    const known = selected.replaces && this.marked.find((each) => String(each.part) === String(selected.replaces));
    fill(
      this.hint,
      make("span", { class: "quoted" }, known ? "You are adjusting: " : "The next grade is for this passage: ", make("q", { dir: "auto" }, shortened(selected.quote))),
      make("span", { class: "mover" }, "start ", mover("start", -1, "Start one word earlier"), mover("start", 1, "Start one word later")),
      make("span", { class: "mover" }, "end ", mover("end", -1, "End one word earlier"), mover("end", 1, "End one word later")),
      known && make("button", { type: "button", on: { click: () => this.saving.grade(known.grade) } }, `save with grade ${known.grade}`),
      make("button", { type: "button", on: { click: () => this.clear() } }, make("kbd", {}, "Esc"), known ? " leave it as it was" : " grade the whole document instead"),
    );
  }

  // A grade was saved for the selection.
  add({ start, end, replaces }, grade) {
    const gone = [String([start, end]), String(replaces)];
    this.marked = [...this.marked.filter((each) => !gone.includes(String(each.part))), { part: [start, end], grade }];
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
      await this.saving.remove(part);
      this.marked = this.marked.filter((each) => String(each.part) !== String(part));
      this.clear();
      this.draw();
    };
    return make(
      "li",
      {},
      chip(grade, this.session.scale),
      make("button", { type: "button", class: "adjust", title: "Adjust this passage", on: { click: () => this.adjust(part) } }, make("q", { dir: "auto" }, shortened(this.quoteOf(part)))),
      make("button", { type: "button", "aria-label": "Remove this passage", on: { click: drop } }, "×"),
    );
  }

  quoteOf(part) {
    return this.task.text.slice(...this.placesOf(part));
  }

  // Where a part of the store is in the text of the page.
  placesOf(part) {
    const letters = [...this.task.text];
    return part.map((place) => letters.slice(0, place - this.base).join("").length);
  }

  highlight() {
    shown("passage", this.marked.map(({ part }) => this.rangeOf(...this.placesOf(part))));
  }

  rangeOf(from, to) {
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

// Passages are underlined in the text, where the browser can do that without changing it.
function shown(name, ranges) {
  const there = ranges.filter(Boolean);
  if (there.length) globalThis.CSS?.highlights?.set(name, new Highlight(...there));
  else globalThis.CSS?.highlights?.delete(name);
}

function characters(text) {
  return [...text].length; // code points, not the surrogates that JavaScript counts
}

function shortened(text) {
  const plain = text.replace(/\s+/gu, " ");
  return plain.length > QUOTED ? `${plain.slice(0, QUOTED)}…` : plain;
}
