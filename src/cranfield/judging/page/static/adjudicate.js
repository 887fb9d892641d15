// Disagreements of assessors, side by side, to be settled.

import { fillDock, tool } from "./dock.js";
import { documentCard } from "./document.js";
import { counted, fill, fillFinished, make, notice } from "./elements.js";
import { chip, gradeButtons, gradeOfKey, keyOf } from "./grades.js";
import { keysCard, listen } from "./keys.js";
import { ask, insist, newKey } from "./server.js";
import { head } from "./session.js";

export async function show(session, main) {
  const told = await ask("conflicts", { assessor: session.assessor });
  const { conflicts } = told;
  let at = 0;
  let settled = 0;
  let busy = false;
  let state = "";

  const draw = () => {
    const current = conflicts[at];
    const left = told.count - settled;
    if (!current) {
      head(session, { title: left > 0 && conflicts.length < told.count ? "More to settle" : "Nothing to settle", state });
      const text =
        left > 0 && conflicts.length < told.count
          ? `${counted(left, "difference")} left. Reload the page for the next.`
          : "Wherever several people judged the same document, they agree or the difference is settled.";
      return fillFinished(main, make("p", {}, text), make("p", { class: "links" }, make("a", { href: "/" }, "Judge"), make("a", { href: "/judged" }, "Review judgments")));
    }
    const { task, said } = current;
    head(session, { title: task.query || task.query_id, narrative: task.narrative, place: `Different grades: ${at + 1} of ${told.count.toLocaleString("en")}`, state });
    fill(
      main,
      make(
        "div",
        { class: "columns" },
        make(
          "div",
          {},
          documentCard(task),
        ),
        make("aside", { class: "card before", "aria-label": "Grades of the assessors" }, make("p", { class: "soft" }, "Their grades"), make("div", { class: "opinions" }, said.map((each) => opinion(each, session.scale)))),
      ),
    );
    fillDock(gradeButtons(session.scale, current.settled, settle), tools());
    scrollTo(0, 0);
  };
  const step = (by) => {
    if (busy) return;
    at = Math.min(Math.max(at + by, 0), conflicts.length);
    draw();
  };
  const settle = async (grade) => {
    const current = conflicts[at];
    if (busy || !current) return;
    busy = true;
    try {
      const { task } = current;
      const body = { query_id: task.query_id, doc_id: task.doc_id, part: task.part, text_sha256: task.text_sha256 };
      await insist("judge", { assessor: session.assessor, ...body, grade, adjudicates: true, key: newKey() }, "Not saved yet.");
      settled += current.settled === undefined;
      current.settled = grade;
      const name = session.scale.find((each) => each.grade === grade)?.name ?? "";
      state = `settled: ${grade} ${name}`;
      at += 1;
    } finally {
      busy = false;
    }
    draw();
  };
  const undo = async () => {
    if (busy || !settled) return notice("Nothing has been settled yet.");
    busy = true;
    try {
      const back = await insist("undo", { assessor: session.assessor, adjudicates: true, key: newKey() }, "Not undone yet.");
      const found = conflicts.findIndex((each) => back.task && each.task.query_id === back.task.query_id && each.task.doc_id === back.task.doc_id);
      if (found >= 0) {
        delete conflicts[found].settled;
        settled -= 1;
        at = found;
      }
      state = "undone";
    } finally {
      busy = false;
    }
    draw();
  };
  const commands = [
    { keys: [" ", "ArrowRight", "n"], told: "next, without settling it", run: () => step(1) },
    { keys: ["ArrowLeft", "b"], told: "back", run: () => step(-1) },
    { keys: ["u"], told: "undo", run: undo },
    { keys: ["f"], told: "show the full text", run: () => main.querySelector(".more")?.click() },
    { keys: ["?"], told: "these keys", run: () => help() },
  ];
  const help = () => keysCard(commands, session.scale.map((_, index) => keyOf(session.scale, index).toUpperCase()).join(" "));
  const tools = () => [tool("←", "back", () => step(-1)), tool("␣", "next", () => step(1)), tool("U", "undo", undo), tool("?", "keys", help)];
  listen(commands, (key) => {
    const grade = gradeOfKey(session.scale, key);
    if (grade !== undefined) settle(grade);
    return grade !== undefined;
  });
  draw();
}

function opinion(each, scale) {
  return make(
    "div",
    { class: "opinion" },
    make("b", {}, each.assessor),
    make("p", {}, chip(each.grade, scale), " ", scale.find((one) => one.grade === each.grade)?.name ?? "cannot judge"),
    each.comment && make("p", { class: "said", dir: "auto" }, `“${each.comment}”`),
  );
}
