// Charts: specifications of the page, drawn one at a time so that nothing else has to wait.
const MANY = 1500;  // from this many marks on, a chart is painted on a canvas
const tokens = new Map(Object.entries(data.colours).map(([name, colour]) => [colour, `--${name}`]));
const waiting = new Map();  // element → what to draw in it

// Drawn as elements, charts have the colours of light paper, which the style sheet turns into the page's own, on screen
// and on paper. A canvas cannot be restyled: it takes the page's colours when it is painted.
const repainted = (part, style) => {
  if (typeof part === "string") return tokens.has(part) ? style.getPropertyValue(tokens.get(part)).trim() || part : part;
  if (Array.isArray(part)) return part.map((each) => repainted(each, style));
  if (part && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, key === "values" ? each : repainted(each, style)]));
  return part;
};
// Runs have the same colours in all charts and on the whole page.
const recoloured = (part) => {
  if (Array.isArray(part)) { part.forEach(recoloured); return; }
  if (!part || typeof part !== "object") return;
  const { domain, range } = part.field === "run" ? part.scale ?? {} : {};
  const runs = Array.isArray(domain) && Array.isArray(range) ? domain.map((name) => data.runs.indexOf(name)) : [-1];
  if (runs.length && runs.every((run) => run >= 0)) {
    const dashes = data.names.dashes;
    if (tokens.has(range[0])) part.scale.range = runs.map((run) => data.colours[`run-${hue(run)}`]);
    else if (typeof range[0] === "number") part.scale.range = runs.map((run) => (hue(run) ? Math.max : Math.min)(...range));
    else if (runs.some((run) => !hue(run))) part.scale.range = runs.map((run) => dashes[hue(run) ? (hue(run) - 1) % dashes.length : 0]);
  }
  for (const [key, each] of Object.entries(part)) if (key !== "values") recoloured(each);
};
const eachAxis = (part, change) => {
  for (const axis of ["x", "y"]) if (part.encoding?.[axis]) change(part.encoding[axis], axis);
  for (const layer of part.layer ?? []) eachAxis(layer, change);
};
const LETTER = 6.5;  // pixels, about
const NARROW = 340;  // pixels: in less, legends leave out more of the middle of a name
const relabelled = (part) => {
  if (Array.isArray(part)) { part.forEach(relabelled); return; }
  if (!part || typeof part !== "object") return;
  if (part.legend?.labelExpr) {
    const long = data.runs.map((name, run) => [name, data.brief[run]]).filter(([name, brief]) => name !== brief);
    const [known, shown] = [0, 1].map((side) => JSON.stringify(long.map((pair) => pair[side])).replace(/[\u2028\u2029]/g, "\ufffd"));
    part.legend = { ...part.legend, labelExpr: `indexof(${known}, datum.label) < 0 ? datum.label : ${shown}[indexof(${known}, datum.label)]` };
  }
  for (const [key, each] of Object.entries(part)) if (key !== "values") relabelled(each);
};
const fitted = (spec, painted, wide) => {
  const fit = {
    width: "container", height: Math.round(1.1 * spec.height), autosize: { type: "fit", contains: "padding" },
    config: {
      ...spec.config, font: getComputedStyle(document.body).fontFamily,
      axis: { ...spec.config?.axis, titleLimit: wide }, legend: { ...spec.config?.legend, labelLimit: wide - 40 },
    },
  };
  const { title, ...rest } = spec;  // shown above the chart, where it can wrap
  const whole = { ...rest, ...fit };
  // Names become part of Vega's expressions, where these two characters would end a line inside a string.
  const safe = JSON.parse(JSON.stringify(whole).replace(/[\u2028\u2029]/g, "\ufffd"));
  recoloured(safe);
  if (safe.layer) renamed(safe);
  if (wide < NARROW) relabelled(safe);
  // A title that is longer than its axis is wrapped where it has a comma.
  eachAxis(safe, (axis) => { if (typeof axis.title === "string" && axis.title.length * LETTER > wide) axis.title = axis.title.split(/(?<=,) /); });
  // The text "if" is taken for the function of that name, even in quotes.
  const parsed = JSON.parse(JSON.stringify(safe).replaceAll('"if"', '"if\u00a0"'));
  return painted ? repainted(parsed, getComputedStyle(document.documentElement)) : parsed;
};
const drawNow = async (element, spec) => {
  const layers = [spec, ...(spec.layer ?? [])].map((part) => part.data?.values?.length ?? 0);
  const painted = Math.max(...layers) > MANY;
  // The page forbids code in strings and styles from elsewhere: expressions are interpreted, styles are the page's own.
  const settings = {
    renderer: painted ? "canvas" : "svg", logLevel: 1, ast: true, defaultStyle: false, actions: false,
    tooltip: { disableDefaultStyle: true },
  };
  try {
    element.view?.finalize();
    const drawn = await window.vegaEmbed(element, fitted(spec, painted, element.clientWidth - 60), settings);
    element.view = drawn.view;
    // A click on the mark of a query opens it.
    drawn.view.addEventListener("click", (_, item) => { if (item?.datum?.place_of_query !== undefined) go(item.datum.place_of_query); });
    describe(element, spec);  // Vega has its own words for it
    // The picture is described as a whole; its parts have no names of their own.
    for (const part of element.querySelectorAll("svg, canvas")) part.setAttribute("aria-hidden", "true");
  } catch (error) { element.textContent = String(error); }
};
let drawing = false;
const drawWaiting = async () => {
  if (drawing) return;
  drawing = true;
  while (waiting.size) {
    const [element, spec] = waiting.entries().next().value;
    waiting.delete(element);
    await drawNow(element, spec);
    await new Promise((resolve) => setTimeout(resolve));  // let clicks and keys come first
  }
  drawing = false;
  document.documentElement.dataset.charts = "drawn";
};
const describe = (element, spec) => {
  element.setAttribute("role", "img");
  element.removeAttribute("aria-roledescription");
  element.setAttribute("aria-label", `${spec.title}. ${spec.description}`);
};
const draw = (element, spec) => {
  if (!window.vegaEmbed) return;
  const heading = element.parentElement?.querySelector(".chart-title");
  if (heading) heading.textContent = spec.title;
  describe(element, spec);
  waiting.delete(element);
  waiting.set(element, spec);
  delete document.documentElement.dataset.charts;
  setTimeout(drawWaiting);
};
const save = async (element, kind) => {
  const picture = kind === "svg" ? URL.createObjectURL(new Blob([await element.view.toSVG()], { type: "image/svg+xml" })) : await element.view.toImageURL("png", 2);
  make("a", { href: picture, download: `chart.${kind}` }).click();
};

const figure = (specs) => {
  const canvas = make("div", { class: "drawing" }), words = make("p", {});
  const show = (which) => { words.textContent = specs[which].description; draw(canvas, specs[which]); };
  const pick = make("select", { onchange: (event) => show(Number(event.target.value)) });
  choices(pick, specs.map((spec) => spec.title), 0);
  // Of several charts one is chosen; on paper, its title replaces the choice.
  const title = make("p", { class: specs.length > 1 ? "chart-title paper" : "chart-title" }, specs[0].title);
  const heading = specs.length > 1 ? [make("label", { class: "controls chart-choice" }, make("span", { class: "soft small" }, "Chart"), pick), title] : [title];
  show(0);
  const saving = ["svg", "png"].map((kind) => make("button", { type: "button", class: "plain screen", onclick: () => save(canvas, kind), "aria-label": `Save this chart as ${kind.toUpperCase()}: ${specs[0].title}` }, kind.toUpperCase()));
  return make("figure", {}, ...heading, canvas,
    make("figcaption", {}, make("details", {}, make("summary", {}, "In words"), words), ...saving));
};
let drawnHues = "";
const drawAll = () => {
  const hues = data.runs.map((_, run) => hue(run)).join();
  if (!window.vegaEmbed || hues === drawnHues) return;
  drawnHues = hues;
  at("chart-list").replaceChildren(...data.charts.map(figure));
  at("theory")?.addEventListener("toggle", () => at("theory-list").replaceChildren(...data.theory.map(figure)), { once: true });
};
// A template has placeholders for the names of the runs and the measure, in characters that no name can contain.
const filled = (spec, names) => {
  if (typeof spec === "string") return Object.entries(names).reduce((text, [name, shown]) => text.split("\0" + name).join(shown), spec);
  if (Array.isArray(spec)) return spec.map((part) => filled(part, names));
  if (spec && typeof spec === "object") return Object.fromEntries(Object.entries(spec).map(([key, part]) => [key, filled(part, names)]));
  return spec;
};
