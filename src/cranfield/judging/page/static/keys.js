// Keys, and the card that lists them. Typing in a field is not a command.

import { make, openDialog } from "./elements.js";

// `digits` is called with any other key; true if it is that of a grade.
export function listen(commands, digits = null) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (document.querySelector("dialog[open]")) return; // it has keys of its own
    if (event.target.closest("input, textarea, select")) return;
    if (event.shiftKey && event.key.startsWith("Arrow")) return; // extends a selection
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((key === " " || key === "Enter") && event.target.closest("button, a")) return;
    const command = commands.find((each) => each.keys.includes(key));
    if (command) command.run();
    else if (!digits?.(key)) return;
    event.preventDefault();
  });
}

export function keysCard(commands, digits) {
  const named = { " ": "Space", ArrowRight: "→", ArrowLeft: "←", Escape: "Esc" };
  const rows = [
    ...(digits ? [[[digits], "give a grade"]] : []),
    ...commands.map((each) => [each.keys.map((key) => named[key] ?? key.toUpperCase()), each.told]),
  ];
  const card = openDialog(
    "Keys",
    make("h2", {}, "Keys"),
    make(
      "dl",
      { class: "keylist" },
      rows.map(([keys, told]) => [make("dt", {}, keys.map((key) => make("kbd", {}, key))), make("dd", {}, told)]),
    ),
    make("button", { type: "button", on: { click: () => card.close() } }, "Close"),
  );
  card.addEventListener("keydown", (event) => event.key === "?" && card.close());
}
