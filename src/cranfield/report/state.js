// The page's data, the choices on it, and the address that holds them.
const unpacked = async (text) => {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
const data = JSON.parse(at("data").type === "application/json" ? at("data").textContent : await unpacked(at("data").textContent));
// The data of each run are JSON inside this JSON, parsed when needed.
const read = (texts) => { const found = []; return (run) => (found[run] ??= JSON.parse(texts[run])); };
const columns = read(data.values), rankings = read(data.rankings);
const SAME = 1e-9;
const FIRST_QUERIES = 20;  // listed at first
const state = { q: null, a: data.chosen[0], b: data.chosen[1], m: 0, shown: FIRST_QUERIES, only: {} };
const several = data.runs.length > 1;

const measure = () => data.measures[state.m];
const value = (run, query) => columns(run)[state.m][query];
const difference = (query) => {
  const one = value(state.a, query), other = value(state.b, query);
  return one === null || other === null ? null : other - one;
};
// By how much the run is better: a difference, negated where lower is better.
const gain = (query) => {
  const found = difference(query);
  return found === null ? null : measure().lower ? -found : found;
};
const direction = (query) => { const found = gain(query); return found > SAME ? "better" : found < -SAME ? "worse" : ""; };
const sign = (query) => ({ better: "▲ ", worse: "▼ " })[direction(query)] ?? "";
const changed = (query) => (difference(query) === null ? "–" : sign(query) + signed(difference(query)));

// The text of a query, or its id if that is not known.
const asked = (query) => data.texts?.[query] || data.queries[query];
// Of many runs only some have a colour: those of the verdict, and those that are chosen now.
const hue = (run) => {
  if (data.hues[run]) return data.hues[run];
  const free = Math.max(...data.hues) + 1;
  return run === state.b ? free : run === state.a ? free + (data.hues[state.b] ? 0 : 1) : 0;
};
const swatch = (run) => shape("svg", { class: `swatch run-${hue(run)}`, viewBox: "0 0 10 10", "aria-hidden": "true" },
  shape("rect", { width: 10, height: 10, rx: 3 }));

// Choose a run or a measure. A run is never compared with itself: one that is on the other side changes places.
const choose = (key, found) => {
  const other = { a: "b", b: "a" }[key];
  if (other && state[other] === found) state[other] = state[key];
  state[key] = found;
};

// The state of the page is in its address, so that a link leads to the same view. A query alone is enough: #q=ID.
const place = (query = state.q) => {
  const parts = new URLSearchParams();
  if (query !== null) parts.set("q", data.queries[query]);
  if (several) {
    parts.set("a", data.runs[state.a]);
    parts.set("b", data.runs[state.b]);
  }
  parts.set("m", measure().name);
  for (const [key, name] of Object.entries(state.only)) if (name) parts.set(key, name);
  return "#" + parts;
};
const readPlace = () => {
  if (!location.hash.includes("=")) return false;
  const parts = new URLSearchParams(location.hash.slice(1));
  const find = (key, list, otherwise) => { const found = list.indexOf(parts.get(key)); return found < 0 ? otherwise : found; };
  state.a = find("a", data.runs, state.a);
  state.b = find("b", data.runs, state.b);
  state.m = find("m", data.measures.map((each) => each.name), state.m);
  state.only = Object.fromEntries(["what", "change", "length", "segment"].filter((key) => parts.has(key)).map((key) => [key, parts.get(key)]));
  state.q = parts.has("q") ? find("q", data.queries, null) : null;
  return true;
};
const go = (query) => { location.hash = place(query); };
const link = (query) => make("a", { href: place(query) }, asked(query));
const copy = async (text, told) => {
  try {
    await navigator.clipboard.writeText(text);
    told.textContent = "Copied.";
  } catch { told.textContent = text; }  // to be copied by hand
};
const copyPlace = (told) => copy(location.href.split("#")[0] + place(), told);
