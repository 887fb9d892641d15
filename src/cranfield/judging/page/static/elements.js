// Elements of the page. Texts only become text nodes: no text of a document is read as HTML.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  return fill(element, children);
}

// Replace the children of an element; lists are flattened, and missing ones left out.
export function fill(element, ...children) {
  const there = (child) => child !== null && child !== undefined && child !== false && child !== "";
  element.replaceChildren(...children.flat(Infinity).filter(there));
  return element;
}

// Put a card into an element where there is no document to grade.
export function fillFinished(element, ...children) {
  fill(document.getElementById("dock"));
  return fill(element, make("section", { class: "card finished" }, ...children));
}

// A command that can be copied; where the browser has no clipboard, as without HTTPS, it is selected.
export function commandLine(name, command) {
  const code = make("code", { tabindex: "0" }, command);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      notice("Copied.", "good", 2);
    } catch {
      getSelection().selectAllChildren(code);
      notice("Selected: copy it with Ctrl+C or ⌘C.");
    }
  };
  return make("li", { class: "command" }, make("span", { class: "soft" }, name), code, make("button", { type: "button", "aria-label": `Copy: ${name}`, on: { click: copy } }, "Copy"));
}

// A dialog, which goes when it is closed.
export function openDialog(label, ...children) {
  const card = make("dialog", { class: "card", "aria-label": label }, ...children);
  card.addEventListener("close", () => card.remove());
  document.body.append(card);
  card.showModal();
  return card;
}

export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function when(text) {
  return new Date(text).toLocaleString("en", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false });
}

let hiding = 0;

export function notice(text, kind = "plain", seconds = 4) {
  const place = document.getElementById("notice");
  clearTimeout(hiding);
  place.className = text ? `shown ${kind}` : "";
  place.textContent = text;
  if (text && seconds) hiding = setTimeout(() => notice(""), seconds * 1000);
}
