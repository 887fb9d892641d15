// The leaderboard: a click on a head sorts it; of many runs, it first shows the best.
const FIRST = matchMedia("(max-width: 760px)").matches ? 8 : 20;  // runs shown at first; on a phone each takes many lines

const sortable = (board) => board.querySelectorAll("thead th").forEach((head, column) => {
  const button = make("button", { type: "button" }, ...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const numeric = head.classList.contains("number") || head.dataset.kind === "number";
    const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.classList.contains("number");
    board.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.children[column].dataset.sort ?? row.children[column].textContent;
    const rows = [...board.tBodies[0].rows].sort((x, y) => (numeric ? Number(key(x)) - Number(key(y)) : key(x).localeCompare(key(y), "en", { numeric: true })));
    board.tBodies[0].append(...(down ? rows.reverse() : rows));
    showFirst();
  });
});

let allRuns = false;
const showFirst = () => {
  const chosen = new Set([data.runs[state.a], data.runs[state.b]]), many = !allRuns && data.runs.length > FIRST;
  for (const runs of document.querySelectorAll("table.runs")) {
    [...runs.tBodies[0].rows].forEach((row, index) => { row.hidden = many && index >= FIRST && !chosen.has(row.dataset.run); });
  }
  at("all-runs").hidden = !many;
  for (const row of document.querySelectorAll("[data-run]")) {
    for (const part of row.querySelectorAll("[class*='run-']")) part.setAttribute("class", part.getAttribute("class").replace(/run-\d/, `run-${hue(data.runs.indexOf(row.dataset.run))}`));
  }
};
