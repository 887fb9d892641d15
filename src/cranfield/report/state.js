// The page's data, what is chosen on it, and the address that says so.
// Every text goes onto the page as text (textContent), never as HTML: ids and documents may hold anything.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const SAME = 1e-9;
const state = { q: null, a: data.baseline, b: data.baseline === 0 ? Math.min(1, data.runs.length - 1) : 0, m: 0, shown: 50 };

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
const four = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(4);
const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

const measure = () => data.measures[state.m];
const value = (run, query) => data.values[run][state.m][query];
const difference = (query) => {
  const one = value(state.a, query), other = value(state.b, query);
  return one === null || other === null ? null : other - one;
};
// By how much the run is better: a difference, turned round where lower is better.
const gain = (query) => {
  const found = difference(query);
  return found === null ? null : measure().lower ? -found : found;
};
const direction = (query) => { const found = gain(query); return found > SAME ? "up" : found < -SAME ? "down" : ""; };

// The state of the page is in its address, so that a link leads to the same view. A query alone is enough: #q=ID.
const place = (query = state.q) => {
  const parts = new URLSearchParams();
  if (query !== null) parts.set("q", data.queries[query]);
  if (data.runs.length > 1) {
    parts.set("a", data.runs[state.a]);
    parts.set("b", data.runs[state.b]);
  }
  parts.set("m", measure().name);
  return "#" + parts;
};
const readPlace = () => {
  if (!location.hash.includes("=")) return false;
  const parts = new URLSearchParams(location.hash.slice(1));
  const find = (key, list, otherwise) => { const found = list.indexOf(parts.get(key)); return found < 0 ? otherwise : found; };
  state.a = find("a", data.runs, state.a);
  state.b = find("b", data.runs, state.b);
  state.m = find("m", data.measures.map((each) => each.name), state.m);
  state.q = parts.has("q") ? find("q", data.queries, null) : null;
  return true;
};
const go = (query) => { location.hash = place(query); };
const link = (query) => make("a", { href: place(query) }, data.queries[query]);

const choices = (select, names, chosen) => {
  select.replaceChildren(...names.map((name, index) => make("option", { value: index }, name)));
  select.value = chosen;
};
const table = (heads, rows) => make("table", {},
  make("thead", {}, make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind ?? "" }, text)))),
  make("tbody", {}, ...rows));
