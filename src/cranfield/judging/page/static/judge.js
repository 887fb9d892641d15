// One document at a time. A grade is saved before the page moves on, and the next document is there already.

import { askForDocument } from "./adding.js";
import { decisionPanel } from "./decision.js";
import { fillDock, tool } from "./dock.js";
import { documentCard } from "./document.js";
import { fill, fillFinished, make, notice } from "./elements.js";
import { showDecided, showFinished } from "./ends.js";
import { askForFlag, said } from "./flagging.js";
import { gradeButtons, gradeOfKey, keyOf } from "./grades.js";
import { keysCard, listen } from "./keys.js";
import { documentList, same, showCurrent } from "./list.js";
import { Passages } from "./passages.js";
import { decisionProgress, storeProgress } from "./progress.js";
import { ask, insist, newKey } from "./server.js";
import { head, showProgress } from "./session.js";

const AHEAD = 4; // documents fetched before they are needed

export async function show(session, main) {
  const judging = new Judging(session, main);
  await judging.start();
}

class Judging {
  constructor(session, main) {
    this.session = session;
    this.main = main;
    this.seen = []; // { task, said, seconds }: what was shown, in order
    this.at = -1;
    this.queue = [];
    this.later = []; // numbers of tasks that were skipped
    this.list = { query_id: null, documents: null, stale: true }; // the documents of a query; null until they are there
    this.commented = Promise.resolve(); // once the last comment is saved
    this.busy = false;
    this.all = false; // also documents that are not needed for a decision
    this.decision = null;
    this.saved = 0; // how often something was saved
    this.lists = 0; // how often a list was asked for
    this.state = "";
    this.passages = new Passages(session, (name, body) => this.ask(name, body), {
      grade: (grade) => this.grade(grade),
      remove: (part) => this.savePart(part, null),
    });
    this.commands = [
      { keys: [" ", "ArrowRight", "n"], told: "next, without a grade", run: () => this.next() },
      { keys: ["ArrowLeft", "b"], told: "back", run: () => this.back() },
      { keys: ["u"], told: "undo the last grade", run: () => this.undo() },
      { keys: ["x"], told: "cannot judge this document", run: () => this.grade(null) },
      { keys: ["c"], told: "comment", run: () => this.comment() },
      { keys: ["f"], told: "show the full text", run: () => this.main.querySelector(".more")?.click() },
      { keys: ["a"], told: "add a document that you know of", run: () => this.add() },
      { keys: ["q"], told: "flag the query as unclear, or as having no answer", run: () => this.flag() },
      { keys: ["l"], told: "list the queries", run: () => this.go("/queries") },
      { keys: ["/"], told: "search queries and documents", run: () => this.go("/queries?search") },
      { keys: ["Escape"], told: "grade the whole document, not the selected passage", run: () => this.passages.clear() },
      { keys: ["?"], told: "these keys", run: () => this.help() },
    ];
    listen(this.commands, (key) => {
      const grade = gradeOfKey(session.scale, key);
      if (grade === undefined) return false;
      this.passages.look(); // the browser reports a selection a little later
      this.grade(grade);
      return true;
    });
    this.since = performance.now();
    document.addEventListener("visibilitychange", () => this.watch());
    addEventListener("pagehide", () => this.leave());
  }

  get entry() {
    return this.seen[this.at];
  }

  ask(name, body = {}) {
    return ask(name, { assessor: this.session.assessor, ...body });
  }

  async start() {
    const asked = new URLSearchParams(location.search);
    const query = asked.get("query");
    if (query && asked.get("document") !== null) {
      await this.open({ query_id: query, doc_id: asked.get("document"), part: partOf(asked.get("part")) });
    } else {
      await this.refill(query ?? "");
      if (query && this.queue[0]?.query_id !== query) await this.chosen(query);
      else await this.advance();
    }
    history.replaceState(null, "", "/"); // a reload continues with the next document
  }

  // A query with nothing left: its first document is shown; if it has none, one can be added.
  async chosen(query) {
    await this.load(query);
    const first = this.list.documents.find((each) => each.said || each.open);
    if (first) return this.open(first);
    this.at = this.seen.length;
    const { query: text, narrative } = this.list;
    head(this.session, { title: text || query, narrative, progress: this.far(), flags: this.list.flags, flag: () => this.flag() });
    const told = this.list.documents.length ? "The documents of this query are judged, or other people have them open." : "No system returned anything for this query. Do you know a document that answers it?";
    fillFinished(
      this.main,
      make("p", {}, told),
      make("div", { class: "tools" }, tool("A", "add a document", () => this.add(query)), tool("␣", "next", () => this.hold(() => this.advance()))),
    );
  }

  add(query = this.entry?.task.query_id ?? this.list.query_id) {
    if (this.busy || !query) return;
    askForDocument(
      (words) => this.ask("find", { query_id: query, words }),
      (doc_id) =>
        this.hold(async () => {
          const told = await this.ask("add", { query_id: query, doc_id, part: null });
          this.progress = told.progress;
          this.put(told.task, told.said);
          Object.assign(this.list, { stale: true, asked: false });
          this.draw();
        }),
    );
  }

  async flag() {
    const query_id = this.entry?.task.query_id ?? this.list.query_id;
    if (this.busy || !query_id) return;
    if (this.list.stale) await this.load(query_id); // it may be flagged already
    if (this.list.query_id !== query_id) return; // another document is there by now
    const { flags = [] } = this.list;
    const mine = flags.find((each) => each.assessor === this.session.assessor);
    askForFlag(mine, (body) =>
      this.hold(async () => {
        const told = await insist("flag", { assessor: this.session.assessor, query_id, key: newKey(), ...body }, "Not saved yet.");
        this.list.flags = told.flags;
        this.state = body.withdrawn ? "flag withdrawn" : `saved: flagged as ${said(body)}`;
        if (this.entry) this.drawHead();
        else await this.chosen(query_id);
      }),
    );
  }

  // Fetch the next documents, in the order of the server.
  async refill(query = this.entry?.task.query_id ?? "") {
    const saved = this.saved;
    const told = await this.ask("next", { count: AHEAD, without: this.later, query_id: query, all: this.all });
    if (saved === this.saved) Object.assign(this, { progress: told.progress, decision: told.decision }); // an answer older than a grade would turn the count back
    // In the meantime, documents may have been judged or left for later.
    const judged = this.seen.filter((each) => each.said).map((each) => each.task.number);
    const known = new Set([...judged, ...this.later, this.entry?.task.number]);
    this.queue = told.tasks.filter((task) => !known.has(task.number));
  }

  async advance() {
    if (!this.queue.length) await this.refill();
    if (!this.queue.length && this.later.length) {
      this.later = [];
      await this.refill();
      notice("These are the documents that you left for later.");
    }
    if (!this.queue.length) return this.finished();
    this.seen.push({ task: this.queue.shift(), said: null, seconds: 0, comment: "" });
    this.at = this.seen.length - 1;
    this.draw();
    this.refill().then(() => this.drawDecision(), () => {}); // in the background; if it fails, the next step asks again
  }

  async next() {
    if (this.busy || !this.entry) return;
    this.watch();
    if (this.at < this.seen.length - 1) {
      this.at += 1;
      return this.draw();
    }
    const { task, said } = this.entry;
    if (!said && task.number) {
      this.later.push(task.number);
      this.queue = this.queue.filter((each) => each.number !== task.number);
    }
    await this.hold(() => this.advance());
  }

  back() {
    if (this.busy) return;
    if (!this.entry && this.seen.length) {
      this.at = this.seen.length - 1; // from the end of the work
      return this.draw();
    }
    if (this.at < 1) return notice("This is the first document since you opened the page.");
    this.watch();
    this.at -= 1;
    this.draw();
  }

  async grade(grade) {
    if (this.busy || !this.entry) return;
    const { selected } = this.passages;
    if (selected && grade !== null) return this.gradePassage(selected, grade);
    const entry = this.entry;
    await this.hold(async () => {
      await this.save(entry, grade);
      const chosen = this.session.scale.find((each) => each.grade === grade);
      this.state = grade === null ? "saved: cannot judge" : `saved: ${grade} ${chosen?.name ?? ""}`;
      if (this.at < this.seen.length - 1) {
        this.at += 1;
        this.draw();
      } else {
        await this.advance();
      }
    });
  }

  // The selection is graded, and the document stays: it may contain more, and needs a grade of its own.
  async gradePassage(selected, grade) {
    await this.hold(async () => {
      await this.savePart([selected.start, selected.end], grade);
      const { replaces } = selected;
      const moved = replaces && String(replaces) !== String([selected.start, selected.end]);
      if (moved) await this.savePart(replaces, null);
      this.passages.add(selected, grade);
      const { name } = this.session.scale.find((each) => each.grade === grade);
      this.state = `saved: ${grade} ${name}, for the passage`;
      this.drawHead();
    });
  }

  async savePart(part, grade) {
    const { query_id, doc_id } = this.entry.task;
    const said = { query_id, doc_id, part, grade, comment: "", key: newKey() };
    const told = await insist("judge", { assessor: this.session.assessor, ...said }, "Not saved yet.");
    this.saved += 1;
    this.progress = told.progress;
  }

  async save(entry, grade) {
    this.watch();
    const { task } = entry;
    const chosen = document.querySelectorAll("#dock .grades button")[this.session.scale.findIndex((each) => each.grade === grade)];
    chosen?.classList.add("saving");
    const said = { grade, comment: entry.comment.trim() };
    const told = await insist(
      "judge",
      {
        assessor: this.session.assessor,
        query_id: task.query_id,
        doc_id: task.doc_id,
        part: task.part,
        text_sha256: task.text_sha256,
        seconds: Math.round(entry.seconds) / 1000,
        key: newKey(),
        ...said,
      },
      "Not saved yet.",
    ).finally(() => chosen?.classList.remove("saving"));
    this.saved += 1;
    entry.said = said;
    entry.seconds = 0;
    this.progress = told.progress;
    this.later = this.later.filter((number) => number !== task.number);
    const listed = this.list.documents?.find((each) => same(each, task));
    if (listed) listed.said = said;
  }

  async undo() {
    if (this.busy) return;
    await this.hold(async () => {
      const told = await insist("undo", { assessor: this.session.assessor, key: newKey() }, "Not undone yet.");
      if (!told.task) return notice("There is nothing to undo.");
      this.saved += 1;
      this.progress = told.progress;
      this.state = "undone";
      this.put(told.task, told.said);
      Object.assign(this.list, { stale: true, asked: false });
      this.draw();
    });
  }

  async open(item) {
    try {
      const told = await this.ask("open", item);
      this.put(told.task, told.said);
    } catch (error) {
      if (error.status !== 409) throw error;
      notice(error.message[0].toUpperCase() + error.message.slice(1));
    }
    if (!this.progress) await this.refill(item.query_id);
    if (this.entry) this.draw();
    else await this.advance();
  }

  // Show a document that was seen before where it was, another one at the end.
  put(task, said) {
    const known = this.seen.findIndex((each) => same(each.task, task));
    this.at = known >= 0 ? known : this.seen.length;
    this.seen[this.at] = { task, said, seconds: 0, comment: said?.comment ?? "" };
    this.queue = this.queue.filter((each) => !same(each, task));
  }

  // One thing at a time: a key pressed while a grade is being saved is not a second grade. A comment that is being saved
  // makes nobody wait: what is said next is sent after it.
  async hold(work) {
    this.busy = true;
    try {
      await this.commented;
      await work();
    } finally {
      this.busy = false;
    }
  }

  // Time counts while the page is visible.
  watch() {
    const now = performance.now();
    if (this.entry && !this.away) this.entry.seconds += now - this.since;
    this.away = document.hidden;
    this.since = now;
  }

  leave() {
    const body = JSON.stringify({ assessor: this.session.assessor });
    fetch("/api/leave", { method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body }).catch(() => {});
  }

  far() {
    return this.decision ? decisionProgress(this.decision, this.progress, this.all) : storeProgress(this.progress);
  }

  drawHead() {
    const { task } = this.entry;
    const { number, queries, flags } = this.list;
    // Documents for a decision come from all queries at once.
    const place = number && (!this.decision || this.all) ? `Query ${number.toLocaleString("en")} of ${queries.toLocaleString("en")}` : "";
    head(this.session, {
      title: task.query || task.query_id,
      narrative: task.narrative,
      place,
      progress: this.far(),
      state: this.state,
      flags,
      flag: () => this.flag(),
    });
  }

  // The decision may have changed while the next document was there already.
  drawDecision() {
    if (!this.decision || !this.entry) return;
    showProgress(this.far());
    this.main.querySelector(".decision")?.replaceWith(decisionPanel(this.decision));
  }

  // The document is shown at once; the list of its query and the flags come when they are there.
  draw() {
    const { task, said } = this.entry;
    this.since = performance.now();
    if (this.list.query_id !== task.query_id) this.list = { query_id: task.query_id, documents: null, stale: true };
    const { list } = this;
    if (list.stale && !list.asked) {
      list.asked = true;
      this.load(task.query_id).then(() => this.drawList(), () => (list.asked = false)); // it can be judged without them
    }
    this.drawHead();
    const card = documentCard(task);
    card.addEventListener("unfolded", () => this.passages.highlight());
    fill(
      this.main,
      make("div", { class: "columns" }, card, this.beside(task)),
    );
    const grades = gradeButtons(this.session.scale, said?.grade, (grade) => this.grade(grade));
    fillDock(grades, this.tools(said), this.passages.list, this.passages.hint, this.commentField());
    this.passages.show(task, card).catch(() => {}); // the document can be judged without them
    showCurrent(this.main);
    scrollTo(0, 0);
  }

  drawList() {
    if (!this.entry || this.list.stale) return;
    this.drawHead();
    const list = this.main.querySelector("aside"); // it stays: somebody may be about to click in it
    list?.replaceChildren(...this.beside(this.entry.task).childNodes);
    list?.setAttribute("aria-busy", "false");
    showCurrent(this.main);
  }

  beside(task) {
    const list = documentList(this.list.documents, task, this.session.scale, (item) => !this.busy && this.hold(() => this.open(item)), () => this.add());
    const panel = decisionPanel(this.decision);
    if (panel) list.prepend(panel);
    return list;
  }

  tools(said) {
    return [
      tool("←", "back", () => this.back()),
      tool("␣", "next", () => this.next()),
      tool("U", "undo", () => this.undo()),
      tool("X", "cannot judge", () => this.grade(null), said?.grade === null),
      tool("C", "comment", () => this.comment()),
      tool("?", "keys", () => this.help()),
    ];
  }

  // Where there is no document to grade: the way back, if there is one.
  ways() {
    return this.seen.length > 0 && [tool("←", "back", () => this.back()), tool("U", "undo", () => this.undo())];
  }

  commentField() {
    const entry = this.entry;
    const keep = (event) => (entry.comment = event.target.value);
    const keyed = (event) => {
      if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey)) {
        event.preventDefault();
        event.target.blur();
      }
    };
    // An existing grade is saved again with the comment; otherwise the comment goes with the next grade.
    const left = () => {
      if (!entry.said || entry.comment.trim() === (entry.said.comment ?? "")) return;
      const saved = this.save(entry, entry.said.grade).then(() => {
        this.state = "saved: comment";
        if (entry === this.entry) this.drawHead();
      });
      this.commented = new Promise((done) => saved.finally(done)); // a failure is told, and nothing waits for it
    };
    return make(
      "label",
      { class: "comment", hidden: !entry.comment },
      "Comment ",
      make("textarea", { rows: "2", maxlength: "10000", on: { input: keep, keydown: keyed, change: left } }, entry.comment),
    );
  }

  comment() {
    const label = document.querySelector("#dock .comment");
    if (!label) return;
    label.hidden = false;
    label.querySelector("textarea").focus();
  }

  async load(query) {
    const number = ++this.lists;
    const told = await this.ask("query", { query_id: query });
    if (number !== this.lists) return; // a later list is asked for
    this.list = { query_id: query, stale: false, ...told };
    for (const each of this.seen) {
      const listed = this.list.documents.find((one) => same(one, each.task));
      if (listed && each.said) listed.said = each.said;
    }
  }

  async finished() {
    this.at = this.seen.length;
    const end = { session: this.session, main: this.main, progress: this.far(), state: this.state, ways: this.ways() };
    if (!this.decision?.done || this.all) return showFinished(end, this.progress);
    showDecided(end, this.decision, () => {
      this.all = true;
      this.hold(() => this.advance());
    });
  }

  help() {
    const digits = this.session.scale.map((_, index) => keyOf(this.session.scale, index).toUpperCase()).join(" ");
    keysCard(this.commands, digits);
  }

  go(address) {
    location.assign(address);
  }
}

function partOf(text) {
  return text ? text.split("-").map(Number) : null;
}
