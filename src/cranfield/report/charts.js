// Charts: specifications that came with the page, drawn one at a time so that nothing else has to wait for them.
const MANY = 1500;  // marks that are painted instead of being elements of their own
const dark = matchMedia("(prefers-color-scheme: dark)");
const waiting = new Map();  // element → what to draw in it

// Colours are those of the light page; the style sheet turns them into the page's own, on screen and on paper. A chart
// that is painted cannot be restyled, and has colours that are read on light and on dark ground.
const fitted = (spec, painted) => {
  const ink = painted ? "#868e96" : "#1b1f24", line = painted ? "rgba(134,142,150,.35)" : "#d0d7de";
  const config = {
    ...spec.config,
    axis: { ...spec.config.axis, labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 11, titleFontSize: 12 },
    legend: { ...spec.config.legend, labelColor: ink, titleColor: ink, labelFontSize: 12, labelLimit: 180 },
    title: { ...spec.config.title, color: ink, fontSize: 14 },
  };
  const rows = typeof spec.height === "object";  // a row for each run, however high that makes it
  const fit = {
    width: "container", height: rows ? spec.height.step * data.runs.length : Math.round(1.15 * spec.height),
    autosize: { type: rows ? "fit-x" : "fit", contains: "padding" },
  };
  // Names become parts of Vega's expressions, where these two signs would end a line inside a string.
  return JSON.parse(JSON.stringify({ ...spec, ...fit, config }).replace(/[\u2028\u2029]/g, "\ufffd"));
};
const drawNow = async (element, spec) => {
  const layers = [spec, ...(spec.layer ?? [])].map((part) => part.data?.values?.length ?? 0);
  const painted = Math.max(...layers) > MANY;
  const settings = {
    renderer: painted ? "canvas" : "svg", logLevel: 1, tooltip: { theme: dark.matches ? "dark" : "light" },
    actions: { export: true, source: false, compiled: false, editor: false }, downloadFileName: "chart",
  };
  try {
    const drawn = await window.vegaEmbed(element, fitted(spec, painted), settings);
    // A mark that stands for a query opens it.
    drawn.view.addEventListener("click", (_, item) => {
      const query = data.queries.indexOf(item?.datum?.query);
      if (query >= 0) go(query);
    });
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
const draw = (element, spec) => {
  if (!window.vegaEmbed) return;
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", `${spec.title}. ${spec.description}`);
  waiting.delete(element);
  waiting.set(element, spec);
  delete document.documentElement.dataset.charts;
  setTimeout(drawWaiting);
};
const drawAll = () => {
  if (!window.vegaEmbed) return;
  const list = at("chart-list");
  list.replaceChildren(...data.charts.map((specs) => {
    const canvas = make("div", { class: "chart" }), words = make("p", {});
    const show = (which) => { words.textContent = specs[which].description; draw(canvas, specs[which]); };
    const pick = make("select", { onchange: (event) => show(Number(event.target.value)) });
    choices(pick, specs.map((spec) => spec.title), 0);
    show(0);
    return make("figure", {}, specs.length > 1 ? make("label", { class: "controls" }, "Chart ", pick) : null, canvas,
      make("figcaption", {}, make("details", {}, make("summary", {}, "In words"), words)));
  }));
};
// The names of runs and of the measure stand in a template as signs that no name can hold.
const filled = (spec, names) => {
  if (typeof spec === "string") return Object.entries(names).reduce((text, [sign, name]) => text.split("\0" + sign).join(name), spec);
  if (Array.isArray(spec)) return spec.map((part) => filled(part, names));
  if (spec && typeof spec === "object") return Object.fromEntries(Object.entries(spec).map(([key, part]) => [key, filled(part, names)]));
  return spec;
};
