// The list of queries: search, filters and order.
const searched = data.queries.map((id, query) => `${id}\n${data.texts?.[query] ?? ""}`.toLowerCase());

const listed = () => {
  const wanted = at("filter").value.trim().toLowerCase();
  const order = at("order").value;
  let found = order === "file" ? data.queries.map((_, query) => query) : data.worst_first.slice();
  const low = (run) => (query) => (value(run, query) === null ? Infinity : measure().lower ? -value(run, query) : value(run, query));
  if (order === "a" || order === "b") { const by = low(state[order]); found.sort((x, y) => by(x) - by(y)); }
  if (order === "gain" || order === "loss") found.sort((x, y) => (order === "gain" ? -1 : 1) * ((gain(x) ?? 0) - (gain(y) ?? 0)));
  found = found.filter(inGroups);
  if (wanted) found = found.filter((query) => searched[query].includes(wanted));
  return found;
};

const reason = (query) => {
  const its = known(query, state.b);
  return its ? make("td", { class: "why" }, ...its.why.map(tag), make("small", {}, about() + its.reason)) : make("td", {});
};
const showList = () => {
  const found = listed();
  const runs = [...new Set([state.a, state.b])];
  const row = (query) => make("tr", query === state.q ? { "aria-current": "true" } : {},
    make("th", { scope: "row" }, link(query), data.texts?.[query] ? make("small", {}, data.queries[query]) : null),
    data.segments ? make("td", { "data-label": "segment" }, data.segments[query]) : null,
    ...runs.map((run) => make("td", { class: "number", "data-label": data.short[run] }, three(value(run, query)))),
    runs.length > 1 ? make("td", { class: "number " + direction(query), "data-label": "difference" }, changed(query)) : null,
    reason(query));
  const heads = [["query"], ...(data.segments ? [["segment"]] : []), ...runs.map((run) => [data.short[run], "number"]),
    ...(runs.length > 1 ? [["difference", "number"]] : []), [several ? `what happened with ${data.short[state.b]}` : "what happened"]];
  const all = () => { at("filter").value = ""; only(null); at("filter").focus(); };
  const none = make("p", {}, "No query matches. ", make("button", { type: "button", class: "plain", onclick: all }, "Show all queries"));
  at("query-list").replaceChildren(!found.length ? none : table(heads, found.slice(0, state.shown).map(row)));
  at("query-count").textContent = `${plain(found.length)} of ${counted(data.queries.length, "query", "queries")}, by ${measure().name}`;
  at("more").hidden = found.length <= state.shown;
};
