// A table in a block of the class "filtered" gets a field that searches its rows, and a choice for each column after the
// second; without scripts, it shows all rows. And an address of what was once on this page leads to where it is now.
function filter(block) {
  const table = block.querySelector("table")
  const rows = [...table.tBodies[0].rows]
  const heads = [...table.tHead.rows[0].cells].map(cell => cell.textContent)
  const kindsOf = (row, column) => row.cells[column].textContent.split(";").map(part => part.split(":")[0].trim())
  const form = document.createElement("form")
  const words = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter by a name or words" })
  words.setAttribute("aria-label", "Filter the rows of the table")
  form.append(words)
  const choices = heads.slice(2).map((head, place) => {
    const column = place + 2
    const select = document.createElement("select")
    select.setAttribute("aria-label", head)
    const kinds = new Set(rows.flatMap(row => kindsOf(row, column)))
    select.append(new Option(`${head}: all`, ""))
    for (const kind of kinds) if (kind && kind !== "also") select.append(new Option(kind))
    form.append(select)
    return { column, select }
  })
  const found = Object.assign(document.createElement("output"), { className: "found" })
  form.append(found)
  form.className = "filter"
  const show = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean)
    let shown = 0
    for (const row of rows) {
      const text = row.textContent.toLowerCase()
      const fits = choices.every(({ column, select }) => !select.value || kindsOf(row, column).includes(select.value))
      row.hidden = !fits || !asked.every(word => text.includes(word))
      shown += !row.hidden
    }
    found.value = shown ? `${shown} of ${rows.length}` : "None. Try another word, or fewer."
  }
  form.addEventListener("input", show)
  form.addEventListener("submit", event => event.preventDefault())
  block.prepend(form)
  show()
}

// `#Evaluation-bounds` was a part of `#Evaluation`, and moved with it.
function forward() {
  for (let name = decodeURIComponent(location.hash.slice(1)); name; name = name.replace(/-?[^-]*$/, "")) {
    const link = document.getElementById(name)?.closest(".moved")?.nextElementSibling
    if (link) return location.replace(link.href.replace(/#.*/, location.hash))
  }
}

// What a terminal prints has the colours of the terminal: green for better, red for worse, amber for undecided.
const TONES = [
  ["better", /^ *(Better|PASSED|ok)\b|(?<=: )passed\b|▲( [\d,]+ better)?|^  \+[\d.]+(?=  )/gm],
  ["worse", /^ *(Worse|FAILED)\b|(?<=: )FAILED\b|▼( [\d,]+ worse)?|^  -[\d.]+(?=  )/gm],
  ["close", /^ *(Too close to call|No difference)\b|^warning:/gm],
]
const INTERVAL = /[├┼─●┤]{3,}/gm  // in the tone of its row

function toned(text) {
  const found = TONES.flatMap(([tone, pattern]) => [...text.matchAll(pattern)].map(match => [match.index, match[0], tone]))
  for (const match of text.matchAll(INTERVAL)) {
    const row = text.slice(text.lastIndexOf("\n", match.index) + 1).split("\n")[0]
    found.push([match.index, match[0], row.includes("▲") ? "better" : row.includes("▼") ? "worse" : "close"])
  }
  const parts = []
  let at = 0
  for (const [start, word, tone] of found.sort((one, other) => one[0] - other[0])) {
    if (start < at) continue
    parts.push(text.slice(at, start), Object.assign(document.createElement("span"), { className: `tone-${tone}`, textContent: word }))
    at = start + word.length
  }
  return [...parts, text.slice(at)]
}
for (const output of document.querySelectorAll(".language-console .go")) output.replaceChildren(...toned(output.textContent))

document.querySelectorAll(".filtered").forEach(filter)
addEventListener("hashchange", forward)
forward()
