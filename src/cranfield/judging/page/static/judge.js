// One document at a time. A grade is saved before the page moves on, and the next document is there already.

import { askForDocument } from "./adding.js";
import { decisionPanel, decisionReasons } from "./decision.js";
import { documentCard } from "./document.js";
import { fill, fillFinished, make, notice } from "./elements.js";
import { gradeButtons, gradeOfKey, keyOf } from "./grades.js";
import { keysCard, listen } from "./keys.js";
import { documentList, same } from "./list.js";
import { Passages } from "./passages.js";
import { ask, insist, newKey } from "./server.js";
import { head } from "./session.js";

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
    this.later = []; // numbers of tasks that were passed over
    this.list = { query_id: null, documents: [] };
    this.busy = false;
    this.all = false; // also what is not needed for a decision
    this.decision = null;
    this.saved = 0; // how often something was saved
    this.state = "";
    this.passages = new Passages(session, (name, body) => this.ask(name, body), (part) => this.savePart(part, null));
    this.commands = [
      { keys: [" ", "ArrowRight", "n"], told: "next, without a grade", run: () => this.next() },
      { keys: ["ArrowLeft", "b"], told: "back", run: () => this.back() },
      { keys: ["u"], told: "undo the last grade", run: () => this.undo() },
      { keys: ["x"], told: "cannot judge this document", run: () => this.grade(null) },
      { keys: ["c"], told: "comment", run: () => this.comment() },
      { keys: ["f"], told: "show the full text", run: () => this.main.querySelector(".more")?.click() },
      { keys: ["a"], told: "add a document that you know of", run: () => this.add() },
      { keys: ["l"], told: "list the queries", run: () => this.go("/queries") },
      { keys: ["/"], told: "search queries and documents", run: () => this.go("/queries?search") },
      { keys: ["Escape"], told: "grade the whole document, not the selected passage", run: () => this.passages.clear() },
      { keys: ["?"], told: "these keys", run: () => this.help() },
    ];
    listen(this.commands, (key) => {
      this.passages.look(); // the browser tells of a selection a little later
      const grade = gradeOfKey(session.scale, key);
      if (grade !== undefined) this.grade(grade);
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
    history.replaceState(null, "", "/"); // a reload goes on with what is next
  }

  // A query of which nothing is left: its first document is shown; if it has none, one can be added.
  async chosen(query) {
    await this.load(query);
    const first = this.list.documents.find((each) => each.said || each.open);
    if (first) return this.open(first);
    this.at = this.seen.length;
    const { query: text, narrative } = this.list;
    head(this.session, { title: text || query, narrative, progress: this.progress });
    const told = this.list.documents.length ? "Other people are judging the documents of this query." : "No system returned anything for this query. Do you know a document that answers it?";
    fillFinished(
      this.main,
      make("p", {}, told),
      make("div", { class: "tools" }, this.tool("A", "add a document", () => this.add(query)), this.tool("␣", "next", () => this.hold(() => this.advance()))),
    );
  }

  add(query = this.entry?.task.query_id ?? this.list.query_id) {
    if (this.busy || !query) return;
    askForDocument((doc_id) =>
      this.hold(async () => {
        const told = await this.ask("add", { query_id: query, doc_id, part: null });
        this.progress = told.progress;
        this.put(told.task, told.said);
        this.list.query_id = null;
        await this.draw();
      }),
    );
  }

  // Fetch what comes next, in the order of the server.
  async refill(query = this.entry?.task.query_id ?? "") {
    const saved = this.saved;
    const told = await this.ask("next", { count: AHEAD, without: this.later, query_id: query, all: this.all });
    this.decision = told.decision;
    if (saved === this.saved) this.progress = told.progress; // an answer that a grade has overtaken would turn the count back
    // Since it was asked, documents may have been judged or left for later.
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
    await this.draw();
    this.refill().catch(() => {}); // in the background; if it fails, the next step asks again
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

  async back() {
    if (this.busy) return;
    if (!this.entry && this.seen.length) {
      this.at = this.seen.length - 1; // from the end of the work
      return this.draw();
    }
    if (this.at < 1) return notice("This is the first document since you opened the page.");
    this.watch();
    this.at -= 1;
    await this.draw();
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
        await this.draw();
      } else {
        await this.advance();
      }
    });
  }

  // What is selected is graded, and the document stays: it may hold more, and wants a grade of its own.
  async gradePassage(selected, grade) {
    await this.hold(async () => {
      await this.savePart([selected.start, selected.end], grade);
      this.passages.add(selected, grade);
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
    const chosen = this.main.querySelectorAll(".grades button")[this.session.scale.findIndex((each) => each.grade === grade)];
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
    const listed = this.list.documents.find((each) => same(each, task));
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
      this.list.query_id = null; // what is in it has changed
      await this.draw();
    });
  }

  async open(item) {
    try {
      const told = await this.ask("open", item);
      this.put(told.task, told.said);
    } catch (error) {
      if (error.status !== 409) throw error;
      notice("Somebody else is judging this document.");
    }
    if (!this.progress) await this.refill(item.query_id);
    if (this.entry) await this.draw();
    else await this.advance();
  }

  // Show a document that was seen before where it was, another one at the end.
  put(task, said) {
    const known = this.seen.findIndex((each) => same(each.task, task));
    this.at = known >= 0 ? known : this.seen.length;
    this.seen[this.at] = { task, said, seconds: 0, comment: said?.comment ?? "" };
    this.queue = this.queue.filter((each) => !same(each, task));
  }

  // One thing at a time: a key pressed while a grade is being saved is not a second grade.
  async hold(work) {
    this.busy = true;
    try {
      await work();
    } finally {
      this.busy = false;
    }
  }

  // Time counts while the page is in sight.
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

  // How far it is: with a decision, what is judged and what is likely still needed.
  far() {
    const { decision, progress } = this;
    if (!decision || decision.done || this.all) return progress;
    return { documents: decision.judged + decision.needed, left: decision.needed, pace: progress.pace };
  }

  async draw() {
    const { task, said } = this.entry;
    this.since = performance.now();
    if (this.list.query_id !== task.query_id) await this.load(task.query_id);
    const place = this.list.number ? `Query ${this.list.number.toLocaleString("en")} of ${this.list.queries.toLocaleString("en")}` : "";
    head(this.session, { title: task.query || task.query_id, narrative: task.narrative, place, progress: this.far(), state: this.state });
    const card = documentCard(task);
    card.addEventListener("unfolded", () => this.passages.highlight());
    fill(
      this.main,
      make(
        "div",
        { class: "columns" },
        make(
          "div",
          {},
          card,
          make(
            "div",
            { class: "panel" },
            this.passages.list,
            this.passages.hint,
            gradeButtons(this.session.scale, said?.grade, (grade) => this.grade(grade)),
            this.tools(said),
            this.commentField(),
          ),
        ),
        this.beside(task),
      ),
    );
    this.passages.show(task, card).catch(() => {}); // without them the document can be judged as well
    scrollTo(0, 0);
  }

  beside(task) {
    const list = documentList(this.list.documents, task, this.session.scale, (item) => !this.busy && this.hold(() => this.open(item)), () => this.add());
    const panel = decisionPanel(this.decision);
    if (panel) list.prepend(panel);
    return list;
  }

  tool(key, name, run, pressed) {
    return make(
      "button",
      { type: "button", class: pressed ? "chosen" : "", "aria-pressed": pressed === undefined ? null : String(pressed), on: { click: run } },
      make("kbd", {}, key),
      name,
    );
  }

  tools(said) {
    return make(
      "div",
      { class: "tools" },
      this.tool("←", "back", () => this.back()),
      this.tool("␣", "next", () => this.next()),
      this.tool("U", "undo", () => this.undo()),
      this.tool("X", "cannot judge", () => this.grade(null), said?.grade === null),
      this.tool("C", "comment", () => this.comment()),
      this.tool("?", "keys", () => this.help()),
    );
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
    // A grade that is there already is saved again, with the comment; else it goes with the grade.
    const left = () => {
      if (entry.said && entry.comment.trim() !== (entry.said.comment ?? "")) {
        this.hold(async () => {
          await this.save(entry, entry.said.grade);
          this.state = "saved: comment";
          if (entry === this.entry) await this.draw();
        });
      }
    };
    return make(
      "label",
      { class: "comment", hidden: !entry.comment },
      "Comment ",
      make("textarea", { rows: "2", maxlength: "10000", on: { input: keep, keydown: keyed, change: left } }, entry.comment),
    );
  }

  comment() {
    const label = this.main.querySelector(".comment");
    if (!label) return;
    label.hidden = false;
    label.querySelector("textarea").focus();
  }

  async load(query) {
    const told = await this.ask("query", { query_id: query });
    this.list = { query_id: query, ...told };
    for (const each of this.seen) {
      const listed = this.list.documents.find((one) => same(one, each.task));
      if (listed && each.said) listed.said = each.said;
    }
  }

  async finished() {
    this.at = this.seen.length;
    if (this.decision?.done && !this.all) return this.decided();
    const { left, documents } = this.progress;
    head(this.session, { title: left ? "Nothing left for you" : documents ? "Everything is judged" : "Nothing to judge", progress: this.progress, state: this.state });
    const told = left
      ? `${left.toLocaleString("en")} ${left === 1 ? "document is" : "documents are"} left for others: somebody has them open, or they need a second assessor. Reload the page to look again.`
      : documents
        ? "Thank you. You can now settle differences between assessors, and look through and correct the judgments."
        : "No documents are waiting to be judged. Fill the store with: cranfield pool";
    fillFinished(
      this.main,
      make("p", {}, told),
      make("p", { class: "links" }, make("a", { href: "/adjudicate" }, "Settle differences"), make("a", { href: "/judged" }, "Review judgments")),
      this.seen.length > 0 && make("div", { class: "tools" }, this.tool("←", "back", () => this.back()), this.tool("U", "undo", () => this.undo())),
    );
  }

  decided() {
    const goOn = () => {
      this.all = true;
      this.hold(() => this.advance());
    };
    head(this.session, { title: "Decided", progress: this.progress, state: this.state });
    fillFinished(
      this.main,
      decisionReasons(this.decision),
      decisionPanel(this.decision),
      make("div", { class: "tools" }, this.seen.length > 0 && [this.tool("←", "back", () => this.back()), this.tool("U", "undo", () => this.undo())], make("button", { type: "button", on: { click: goOn } }, "Judge the others too")),
    );
  }

  help() {
    const digits = this.session.scale.map((_, index) => keyOf(this.session.scale, index)).join(" ");
    keysCard(this.commands, digits);
  }

  go(address) {
    location.assign(address);
  }
}

function partOf(text) {
  return text ? text.split("-").map(Number) : null;
}
