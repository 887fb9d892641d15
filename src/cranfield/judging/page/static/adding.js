// Adding a document that an assessor knows, although no system returned it.

import { make } from "./elements.js";

export function askForDocument(add) {
  const field = make("input", { required: true, maxlength: "1000", "aria-label": "Its id" });
  const submit = (event) => {
    event.preventDefault();
    if (!field.value.trim()) return;
    card.close();
    add(field.value.trim());
  };
  const card = make(
    "dialog",
    { class: "card", "aria-label": "Add a document" },
    make(
      "form",
      { class: "adding", on: { submit } },
      make("h2", {}, "Add a document"),
      make("p", { class: "soft" }, "A document that is relevant to this query, but that no system returned."),
      make("label", {}, "Its id ", field),
      make(
        "p",
        { class: "links" },
        make("button", {}, "Add"),
        make("button", { type: "button", class: "quiet", on: { click: () => card.close() } }, "Cancel"),
      ),
    ),
  );
  card.addEventListener("close", () => card.remove());
  document.body.append(card);
  card.showModal();
  field.focus();
}
