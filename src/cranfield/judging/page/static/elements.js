// Elements of the page. Texts only ever become text nodes: nothing a document says is read as HTML.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  return fill(element, children);
}

// Put children into an element in the place of those it has; lists are taken apart, and what is not there is left out.
export function fill(element, ...children) {
  const there = (child) => child !== null && child !== undefined && child !== false && child !== "";
  element.replaceChildren(...children.flat(Infinity).filter(there));
  return element;
}

// Put a card into an element where there is no document to grade.
export function fillFinished(element, ...children) {
  return fill(element, make("section", { class: "card finished" }, ...children));
}

export function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

let hiding = 0;

export function notice(text, kind = "plain", seconds = 4) {
  const place = document.getElementById("notice");
  clearTimeout(hiding);
  place.className = text ? `shown ${kind}` : "";
  place.textContent = text;
  if (text && seconds) hiding = setTimeout(() => notice(""), seconds * 1000);
}
