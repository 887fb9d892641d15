// Flags: an assessor says that a query is unclear, and may take that back.

import { make, openDialog } from "./elements.js";

// `mine`: the assessor's flag, if there is one; `send({ comment, withdrawn })` saves.
export function askForFlag(mine, send) {
  const field = make("textarea", { rows: "3", maxlength: "10000", placeholder: "For instance: the animal or the car?" }, mine?.comment ?? "");
  const done = async (body) => {
    card.close();
    await send(body);
  };
  const submit = (event) => {
    event.preventDefault();
    done({ comment: field.value.trim(), withdrawn: false });
  };
  const card = openDialog(
    "Flag the query as unclear",
    make(
      "form",
      { class: "adding", on: { submit } },
      make("h2", {}, mine ? "You flagged this query as unclear" : "Is the query unclear?"),
      make("p", { class: "soft" }, "A flag shows everyone that its words do not say what is relevant. You can still judge its documents."),
      make("label", {}, "What is unclear? ", field),
      make(
        "p",
        { class: "actions" },
        make("button", {}, mine ? "Save" : "Flag it"),
        mine && make("button", { type: "button", class: "quiet", on: { click: () => done({ withdrawn: true }) } }, "Withdraw the flag"),
        make("button", { type: "button", class: "quiet", on: { click: () => card.close() } }, "Cancel"),
      ),
    ),
  );
  field.focus();
}

export function flagButton(run) {
  return make("button", { type: "button", title: "Flag the query as unclear", on: { click: run } }, make("kbd", {}, "Q"), "unclear?");
}

export function flagLines(flags) {
  return flags.map((each) => make("p", { class: "flag", dir: "auto" }, make("b", {}, `Unclear to ${each.assessor}`), each.comment && `: ${each.comment}`));
}
