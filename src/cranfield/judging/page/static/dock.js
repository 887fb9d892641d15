// The dock at the bottom edge: grades and tools stay in reach, however long a text is.

import { fill, make } from "./elements.js";

// `above`: what concerns the next grade, such as a selected passage; nothing at all empties the dock.
export function fillDock(grades, tools, ...above) {
  const row = grades && make("div", { class: "columns" }, grades, make("div", { class: "tools", role: "group", "aria-label": "Tools" }, tools));
  fill(document.getElementById("dock"), row && make("div", { class: "inside" }, above, row));
}

export function tool(key, name, run, pressed) {
  return make(
    "button",
    {
      type: "button",
      class: [pressed && "chosen", key === "?" && "keys"].filter(Boolean).join(" "),
      "aria-pressed": pressed === undefined ? null : String(pressed),
      on: { click: run },
    },
    make("kbd", {}, key),
    name,
  );
}
