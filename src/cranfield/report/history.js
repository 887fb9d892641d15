// Which line is shown, its chart at the width that there is, and what is said of the result under the pointer.
const data = JSON.parse(at("data").textContent);
const SAME = 1e-9;
let shown = 0;
const blocks = [...document.querySelectorAll(".line")], buttons = [...document.querySelectorAll("[data-line].group")];

const tip = (line, at) => make("div", { class: "tip", role: "status" },
  make("b", {}, line.subject[at] || line.commit[at] || "a result"),
  make("p", { class: "soft" }, [dayOf(line.at[at]), line.commit[at]].filter(Boolean).join(" · ")),
  make("p", {}, `${line.measure} ${three(line.value[at])}`, line.low[at] === null ? "" : ` (${three(line.low[at])} to ${three(line.high[at])})`),
  line.first[at] === null ? null : make("p", { class: "soft" }, `measured again; was ${three(line.first[at])}`),
  line.apart[at] === undefined ? null : make("p", { class: "soft" }, line.apart[at]),
  line.difference[at] === null ? null : make("p", { class: ["worse", "", "better"][line.sign[at] + 1] },
    line.better[at] + line.worse[at] ? `${signed(line.difference[at])} vs before: ${line.better[at]} better, ${line.worse[at]} worse` : "no query differs from before"),
  line.p95[at] === null ? null : make("p", { class: "soft" }, `p95 ${line.p95[at].toFixed(0)} ms`));

const draw = (number) => {
  const box = blocks[number].querySelector(".timeline"), line = data.lines[number];
  const width = Math.max(280, Math.floor(box.clientWidth));
  const chart = timeline(line, data.limit, width);
  box.replaceChildren(chart.svg);
  let chosen = null;
  const show = (at) => {
    box.querySelector(".tip")?.remove();
    chosen = at;
    const place = chart.point(at);
    if (!place) return;
    const card = box.appendChild(tip(line, at)), wide = card.offsetWidth;
    card.style.left = `${Math.min(Math.max(place[0] + 14, 0), width - wide)}px`;
    if (place[0] + 14 + wide > width) card.style.left = `${Math.max(place[0] - wide - 14, 0)}px`;
    card.style.top = `${Math.max(place[1] - card.offsetHeight - 10, 26)}px`;
  };
  box.onpointermove = (event) => show(chart.nearest(event.clientX - box.getBoundingClientRect().left));
  box.onpointerleave = () => show(null);
  box.onblur = () => show(null);
  box.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") show(null);
    if (!by) return;
    event.preventDefault();
    const last = line.at.length - 1;
    show(chosen === null ? last : Math.min(last, Math.max(0, chosen + by)));
  };
};

const choose = (number) => {
  shown = number;
  blocks.forEach((block, at) => { block.hidden = at !== number; });
  for (const button of buttons) button.setAttribute("aria-pressed", String(Number(button.dataset.line) === number));
  draw(number);
};
for (const button of buttons) button.addEventListener("click", () => choose(Number(button.dataset.line)));
at("system")?.addEventListener("change", (event) => {
  for (const button of buttons) button.hidden = button.dataset.system !== event.target.value;
  choose(Number(buttons.find((button) => !button.hidden).dataset.line));
});
// A link to a commit opens its list of queries, also in the line of another measure.
const follow = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const number = blocks.findIndex((block) => block.contains(target));
  if (number >= 0 && number !== shown) choose(number);
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", follow);
themed(() => {});
new ResizeObserver(() => draw(shown)).observe(at("main"));
addEventListener("beforeprint", () => draw(shown));
choose(0);
follow();
document.documentElement.dataset.page = "interactive";
