// Flags: an assessor says that a query is unclear or has no answer, and may take that back.

import { make, openDialog } from "./elements.js";

// `mine`: the assessor's flag, if there is one; `send({ comment, withdrawn })` saves.
export function askForFlag(mine, send) {
  const field = make("textarea", { rows: "3", maxlength: "10000", placeholder: "For instance: the animal or the car?" }, mine?.comment ?? "");
  const done = async (body) => {
    card.close();
    await send(body);
  };
  const flag = (unanswerable) => done({ comment: field.value.trim(), withdrawn: false, unanswerable });
  const submit = (event) => {
    event.preventDefault();
    flag(false);
  };
  const card = openDialog(
    "Flag the query",
    make(
      "form",
      { class: "adding", on: { submit } },
      make("h2", {}, mine ? `You flagged this query as ${said(mine)}` : "Is the query unclear, or has it no answer?"),
      make("p", { class: "soft" }, "Unclear: its words do not say what is relevant. No answer: nothing that a system could return is right. Everyone sees a flag, and you can still judge documents."),
      make("label", {}, "What is it? ", field),
      make(
        "p",
        { class: "actions" },
        make("button", {}, "It is unclear"),
        make("button", { type: "button", on: { click: () => flag(true) } }, "It has no answer"),
        mine && make("button", { type: "button", class: "quiet", on: { click: () => done({ withdrawn: true }) } }, "Withdraw the flag"),
        make("button", { type: "button", class: "quiet", on: { click: () => card.close() } }, "Cancel"),
      ),
    ),
  );
  field.focus();
}

export function said(flag) {
  return flag.unanswerable ? "having no answer" : "unclear";
}

export function flagButton(run) {
  return make("button", { type: "button", title: "Flag the query as unclear, or as having no answer", on: { click: run } }, make("kbd", {}, "Q"), "unclear?");
}

export function flagLines(flags) {
  return flags.map((each) => make("p", { class: "flag", dir: "auto" }, make("b", {}, each.unanswerable ? `No answer, says ${each.assessor}` : `Unclear to ${each.assessor}`), each.comment && `: ${each.comment}`));
}
