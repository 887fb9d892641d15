// The page shows one of its views, by its address.

import { notice } from "./elements.js";
import { begin } from "./session.js";
import { VIEWS } from "./views.js";

addEventListener("unhandledrejection", (event) => {
  const hint = event.reason?.hint ? ` ${event.reason.hint}.` : "";
  notice(`${event.reason?.message ?? event.reason}${hint}`, "bad", 0);
});
// A page that the browser kept and shows again may be long out of date.
addEventListener("pageshow", (event) => event.persisted && location.reload());

// The sidebar and the notice keep clear of the head and the dock, however high these are.
const sized = new ResizeObserver((changed) => {
  for (const { target } of changed) document.documentElement.style.setProperty(`--${target.id}`, `${target.getBoundingClientRect().height}px`);
});
for (const name of ["top", "dock"]) sized.observe(document.getElementById(name), { box: "border-box" });

const { script } = VIEWS.find((view) => view.address === location.pathname) ?? VIEWS[0];
const view = await import(`./${script}`);
await view.show(await begin(), document.getElementById("main"));
document.documentElement.dataset.ready = "yes";
