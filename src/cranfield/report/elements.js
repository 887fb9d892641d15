// Making elements. Every text goes onto the page as text, never as HTML: ids and documents may contain anything.
const at = (id) => document.getElementById(id);
const make = (tag, settings = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const shape = (tag, settings = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(settings)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const table = (heads, rows) => make("table", {},
  make("thead", {}, make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind ?? "" }, text)))),
  make("tbody", {}, ...rows));
const choices = (select, names, chosen) => {
  select.replaceChildren(...names.map((name, index) => make("option", { value: index }, name)));
  select.value = chosen;
};
const options = (select, pairs) => select.append(...pairs.map(([key, name]) => make("option", { value: key }, name)));

const three = (value) => (value === null || value === undefined ? "–" : value.toFixed(3).replace("-", "−"));
const four = (value) => (value === null || value === undefined ? "–" : value.toFixed(4).replace("-", "−"));
// A difference with its sign, and with more decimals where three would make it 0.
const signed = (value) => {
  if (Math.abs(value) < SAME) return "0.000";
  const digits = [3, 4, 5, 6].find((each) => Number(value.toFixed(each)) !== 0) ?? 6;
  return (value > 0 ? "+" : "−") + Math.abs(value).toFixed(digits);
};
const plain = (number) => number.toLocaleString("en");
const counted = (number, one, many) => `${plain(number)} ${number === 1 ? one : many}`;
