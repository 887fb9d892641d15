"use strict";
// Every text goes onto the page as text (textContent), never as HTML: ids and documents may hold anything.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const shownAtFirst = 50;
  const state = { q: null, a: 0, b: Math.min(1, data.runs.length - 1), m: 0, shown: shownAtFirst };

  const make = (tag, settings = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(settings)) {
      if (name === "class") element.className = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };
  const four = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
  const signed = (value) => (value > 0 ? "+" : "") + value.toFixed(4);
  const value = (run, query) => data.values[run][state.m][query];
  const measure = () => data.measures[state.m];
  const difference = (query) => {
    const [one, other] = [value(state.a, query), value(state.b, query)];
    return one === null || other === null ? null : other - one;
  };
  const gain = (query) => { const found = difference(query); return found === null ? null : measure().lower ? -found : found; };

  // The state of the page is in its address, so that a link leads to the same view.
  const place = (query = state.q) => {
    const parts = new URLSearchParams();
    if (query !== null) parts.set("q", data.queries[query]);
    parts.set("a", data.runs[state.a]);
    parts.set("b", data.runs[state.b]);
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

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = (element, spec) => {
    if (!window.vegaEmbed) return;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim(), line = style.getPropertyValue("--line").trim();
    const config = {
      ...spec.config,
      axis: { ...spec.config.axis, labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line },
      legend: { ...spec.config.legend, labelColor: ink, titleColor: ink },
      title: { ...spec.config.title, color: ink },
    };
    const settings = { renderer: "svg", logLevel: 1, actions: { export: true, source: false, compiled: false, editor: false } };
    const rows = typeof spec.height === "object";  // a row for each run, however high that makes it
    const fit = {
      width: "container", height: rows ? spec.height.step * data.runs.length : spec.height,
      autosize: { type: rows ? "fit-x" : "fit", contains: "padding" },
    };
    // Names become parts of Vega's expressions, where these two signs would end a line inside a string.
    const plain = JSON.parse(JSON.stringify({ ...spec, ...fit, config }).replace(/[\u2028\u2029]/g, "\ufffd"));
    window.vegaEmbed(element, plain, settings).catch((error) => { element.textContent = String(error); });
  };
  const drawAll = () => {
    const list = at("chart-list");
    list.replaceChildren(...data.charts.map(() => make("figure")));
    data.charts.forEach((spec, index) => {
      const figure = list.children[index];
      const canvas = make("div", { role: "img", "aria-label": `${spec.title}. ${spec.description}` });
      figure.append(canvas);
      draw(canvas, spec);
    });
  };
  // The names of runs and of the measure stand in a template as signs that no name can hold.
  const filled = (spec, names) => {
    if (typeof spec === "string") return Object.entries(names).reduce((text, [sign, name]) => text.split("\0" + sign).join(name), spec);
    if (Array.isArray(spec)) return spec.map((part) => filled(part, names));
    if (spec && typeof spec === "object") return Object.fromEntries(Object.entries(spec).map(([key, part]) => [key, filled(part, names)]));
    return spec;
  };

  const choices = (select, names, chosen) => {
    select.replaceChildren(...names.map((name, index) => make("option", { value: index }, name)));
    select.value = chosen;
  };

  const link = (query) => make("a", { href: place(query) }, data.queries[query]);

  const showTwo = () => {
    if (!at("two")) return;
    choices(at("run-a"), data.runs, state.a);
    choices(at("run-b"), data.runs, state.b);
    choices(at("measure"), data.measures.map((each) => each.name), state.m);
    const name = measure().name, one = data.runs[state.a], other = data.runs[state.b];
    const compared = data.queries.map((_, query) => query).filter((query) => difference(query) !== null);
    const ordered = compared.slice().sort((x, y) => difference(y) - difference(x));
    const better = compared.filter((query) => gain(query) > 1e-9).length, worse = compared.filter((query) => gain(query) < -1e-9).length;
    const parts = [`${other} is better than ${one} for ${better} queries, worse for ${worse}, the same for ${compared.length - better - worse}.`];
    for (const pair of data.pairs) {
      const turned = pair.baseline === other && pair.run === one;
      if (pair.measure !== name || !(turned || (pair.baseline === one && pair.run === other))) continue;
      const sign = turned ? -1 : 1;
      const ends = pair.low === null || pair.high === null ? null : [sign * pair.low, sign * pair.high].sort((x, y) => x - y);
      parts.push(
        ` ${name} differs by ${signed(sign * pair.difference)}` + (ends ? ` [${signed(ends[0])}, ${signed(ends[1])}]` : "") +
        `, adjusted p = ${pair.adjusted < 0.0001 ? "below 0.0001" : pair.adjusted.toFixed(4)}` +
        (pair.effect === null ? "" : `, effect size ${(sign * pair.effect).toFixed(2)}`) +
        (pair.verdict === "no significant difference" ? ": not significant." : ": significant.") +
        (pair.could_reverse === true ? " Unjudged documents could reverse this." : pair.could_reverse === false ? " Unjudged documents cannot reverse this." : ""));
    }
    at("two-summary").textContent = parts.join("");
    const names = { measure: name, other, one };
    if (data.templates.difference) {
      const spec = filled(data.templates.difference, names);
      spec.description = parts[0];
      spec.data = { values: ordered.map((query, index) => ({ place: index + 1, query: data.queries[query], difference: difference(query) })) };
      draw(at("difference"), spec);
      const scatter = filled(data.templates.scatter, names);
      scatter.description = parts[0];
      const points = compared.map((query) => ({ query: data.queries[query], one: value(state.a, query), other: value(state.b, query) }));
      const every = points.flatMap((point) => [point.one, point.other]);
      const low = every.reduce((x, y) => Math.min(x, y), 0), high = every.reduce((x, y) => Math.max(x, y), measure().mean ? 1 : 0);
      scatter.layer[1].data = { values: points };
      scatter.layer[0].data = { values: [{ one: low, other: low }, { one: high, other: high }] };
      for (const layer of scatter.layer) for (const axis of ["x", "y"]) layer.encoding[axis].scale = { domain: [low, high] };
      draw(at("scatter"), scatter);
    }
    const changed = (title, list) => make("div", {}, make("h3", {}, title), make("table", {},
      make("thead", {}, make("tr", {}, ...["query", one, other, "difference"].map((text, index) => make("th", { scope: "col", class: index ? "number" : "" }, text)))),
      make("tbody", {}, ...list.map((query) =>
      make("tr", {}, make("th", { scope: "row" }, link(query)), make("td", { class: "number" }, four(value(state.a, query))),
        make("td", { class: "number" }, four(value(state.b, query))), make("td", { class: "number " + (gain(query) > 0 ? "up" : "down") }, signed(difference(query)))))))); 
    const byGain = compared.slice().sort((x, y) => gain(y) - gain(x));
    const side = make("div", { class: "side" });
    side.append(changed(`Where ${other} gains most`, byGain.filter((query) => gain(query) > 1e-9).slice(0, 5)));
    side.append(changed(`Where ${other} loses most`, byGain.filter((query) => gain(query) < -1e-9).reverse().slice(0, 5)));
    at("two-changes").replaceChildren(side);
  };

  const listed = () => {
    const wanted = at("filter").value.trim().toLowerCase();
    const segment = data.segments ? at("segment").value : "";
    const order = at("order").value;
    let found = order === "file" ? data.queries.map((_, query) => query) : data.worst_first.slice();
    const low = (run) => (query) => (value(run, query) === null ? Infinity : measure().lower ? -value(run, query) : value(run, query));
    if (order === "a" || order === "b") { const by = low(state[order]); found.sort((x, y) => by(x) - by(y)); }
    if (order === "gain" || order === "loss") found.sort((x, y) => (order === "gain" ? -1 : 1) * ((gain(x) ?? 0) - (gain(y) ?? 0)));
    if (segment) found = found.filter((query) => data.segments[query] === segment);
    if (wanted) found = found.filter((query) => data.queries[query].toLowerCase().includes(wanted) || (data.texts && data.texts[query].toLowerCase().includes(wanted)));
    return found;
  };

  const showList = () => {
    const found = listed();
    const runs = [...new Set([state.a, state.b])];
    const head = ["query", ...(data.texts ? ["text"] : []), ...(data.segments ? ["segment"] : [])];
    const row = (query) => make("tr", query === state.q ? { "aria-current": "true" } : {},
      make("th", { scope: "row" }, link(query)),
      data.texts ? make("td", {}, data.texts[query]) : null,
      data.segments ? make("td", {}, data.segments[query]) : null,
      ...runs.map((run) => make("td", { class: "number" }, four(value(run, query)))),
      runs.length > 1 ? make("td", { class: "number " + (gain(query) > 0 ? "up" : gain(query) < 0 ? "down" : "") }, difference(query) === null ? "–" : signed(difference(query))) : null,
      make("td", {}, data.details[query] ? data.details[query].runs[state.b].reason : ""));
    const heads = [...head.map((name) => make("th", { scope: "col" }, name)),
      ...runs.map((run) => make("th", { scope: "col", class: "number" }, `${measure().name} of ${data.runs[run]}`)),
      ...(runs.length > 1 ? [make("th", { scope: "col", class: "number" }, "difference")] : []),
      make("th", { scope: "col" }, `what happened in ${data.runs[state.b]}`)];
    at("query-list").replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...found.slice(0, state.shown).map(row)));
    at("query-count").textContent = `${found.length.toLocaleString("en")} of ${data.queries.length.toLocaleString("en")} queries`;
    at("more").hidden = found.length <= state.shown;
  };

  const badge = (grade) => {
    if (grade === undefined || grade < 0) return make("span", { class: "grade none", title: "not judged" }, "?");
    const element = make("span", { class: "grade" + (grade < 1 ? " zero" : ""), title: `grade ${grade}` }, String(grade));
    if (grade >= 1) element.style.background = `rgba(var(--good), ${Math.min(0.2 + 0.17 * grade, 0.75)})`;
    return element;
  };
  const described = (number) => {
    const [id, title, text] = data.documents[number];
    return make("div", {}, make("b", {}, title || id), title ? make("p", {}, id) : null, text ? make("p", {}, text) : null);
  };

  const side = (query, key) => {
    const run = state[key], known = data.details[query].runs[run], grades = data.details[query].grades;
    const pick = make("select", { "aria-label": "Run shown here", onchange: (event) => { state[key] = Number(event.target.value); go(query); } });
    choices(pick, data.runs, run);
    const rows = known.top.map((number, index) => make("li", {}, make("span", { class: "rank" }, String(index + 1)), badge(grades[number]), described(number)));
    const relevant = data.details[query].relevant;
    const missed = relevant.map(([number, grade], index) => [number, grade, known.ranks[index]]).filter(([, , rank]) => rank === 0 || rank > known.top.length);
    const part = make("div", {}, pick, make("p", {}, `${measure().name} ${four(value(run, query))}: ${known.reason}`),
      known.top.length ? make("ol", { class: "ranking" }, ...rows) : make("p", { class: "note" }, "Nothing was retrieved."),
      make("h3", {}, "Relevant, but not shown above"),
      missed.length ? make("p", { class: "note" }, "With its rank, or – where it was not retrieved.") : null,
      missed.length ? make("ul", { class: "ranking" }, ...missed.map(([number, grade, rank]) =>
        make("li", {}, make("span", { class: "rank" }, rank ? String(rank) : "–"), badge(grade), described(number)))) : make("p", { class: "note" }, "None."));
    const unlisted = data.details[query].all_relevant - relevant.length;
    if (unlisted > 0) part.append(make("p", { class: "note" }, `${unlisted} more relevant documents are not listed.`));
    if (known.steps.length && known.top.length) {
      const head = ["rank", "document", "grade", "log2(i+1)", ...data.families.map((name) => `${name}@i`)];
      part.append(make("details", {}, make("summary", {}, "How the values come about, rank by rank"), make("div", { class: "wide" }, make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((name, index) => make("th", { scope: "col", class: index === 1 ? "" : "number" }, name)))),
        make("tbody", {}, ...known.top.map((number, index) => make("tr", {}, make("td", { class: "number" }, String(index + 1)),
          make("td", {}, data.documents[number][0]), make("td", { class: "number" }, grades[number] === undefined ? "–" : String(grades[number])),
          make("td", { class: "number" }, Math.log2(index + 2).toFixed(4)), ...known.steps.map((step) => make("td", { class: "number" }, four(step[index])))))))))) ;
    }
    return part;
  };

  const showQuery = (focus) => {
    const view = at("query"), query = state.q;
    view.hidden = query === null;
    if (query === null) { view.replaceChildren(); return; }
    const step = (by) => { const found = listed(), next = found[found.indexOf(query) + by]; if (next !== undefined) go(next); };
    view.replaceChildren(make("header", {}, make("h3", {}, data.queries[query] + (data.texts && data.texts[query] ? `: ${data.texts[query]}` : "")),
      make("button", { type: "button", onclick: () => step(-1) }, "← previous"), make("button", { type: "button", onclick: () => step(1) }, "next →"),
      make("button", { type: "button", onclick: () => go(null) }, "close")));
    if (data.details[query]) {
      const keys = data.runs.length > 1 ? ["a", "b"] : ["a"];
      view.append(make("div", { class: "side" }, ...keys.map((key) => side(query, key))));
    } else view.append(make("p", { class: "note" }, "The rankings of this query are not in this page; see below what was left out."));
    if (focus) { view.scrollIntoView({ block: "start" }); view.focus({ preventScroll: true }); }
  };

  const showAll = (focus) => { showTwo(); showList(); showQuery(focus); };

  // Sorting by any column of a table that was written into the page.
  for (const table of document.querySelectorAll("table.sortable")) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.classList.contains("number");
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.children[column].dataset.sort ?? row.children[column].textContent;
        const rows = [...table.tBodies[0].rows].sort((x, y) => key(x).localeCompare(key(y), "en", { numeric: !head.classList.contains("number") }) );
        if (head.classList.contains("number")) rows.sort((x, y) => Number(key(x)) - Number(key(y)));
        table.tBodies[0].append(...(down ? rows.reverse() : rows));
      });
    });
  }

  choices(at("order"), [], 0);
  at("order").append(...[["worst", "worst first, all runs"], ["b", "worst first, run"], ["a", "worst first, baseline"], ["loss", "largest loss first"], ["gain", "largest gain first"], ["file", "as in the judgments"]]
    .filter(([key]) => data.runs.length > 1 || key === "worst" || key === "file").map(([key, name]) => make("option", { value: key }, name)));
  at("order").value = "worst";
  if (data.segments) {
    at("segment-label").hidden = false;
    const names = [...new Set(data.segments)].filter(Boolean).sort();
    at("segment").append(make("option", { value: "" }, "all"), ...names.map((name) => make("option", { value: name }, name)));
    at("segment").addEventListener("change", () => { state.shown = shownAtFirst; showList(); });
  }
  at("filter").addEventListener("input", () => { state.shown = shownAtFirst; showList(); });
  at("order").addEventListener("change", showList);
  at("more").addEventListener("click", () => { state.shown += 200; showList(); });
  for (const [id, key] of [["run-a", "a"], ["run-b", "b"], ["measure", "m"]]) {
    if (at(id)) at(id).addEventListener("change", (event) => { state[key] = Number(event.target.value); history.replaceState(null, "", place()); showAll(false); });
  }
  addEventListener("hashchange", () => { const before = state.q; if (readPlace()) showAll(state.q !== null && state.q !== before); });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "/") { event.preventDefault(); at("filter").focus(); }
    if (event.key === "Escape" && state.q !== null) go(null);
    if (event.key === "j" || event.key === "k") {
      const found = listed(), next = state.q === null ? found[0] : found[found.indexOf(state.q) + (event.key === "j" ? 1 : -1)];
      if (next !== undefined) go(next);
    }
  });
  dark.addEventListener("change", () => { drawAll(); showTwo(); });
  drawAll();
  showAll(readPlace() && state.q !== null);
})();
