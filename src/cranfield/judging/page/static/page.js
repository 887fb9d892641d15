// The page shows one of its views, by its address.

import { notice } from "./elements.js";
import { begin } from "./session.js";

const VIEWS = { "/queries": "./queries.js", "/judged": "./judged.js", "/adjudicate": "./adjudicate.js" };

addEventListener("unhandledrejection", (event) => {
  const hint = event.reason?.hint ? ` ${event.reason.hint}.` : "";
  notice(`${event.reason?.message ?? event.reason}${hint}`, "bad", 0);
});
// A page that the browser kept and shows again may be long out of date.
addEventListener("pageshow", (event) => event.persisted && location.reload());

const view = await import(VIEWS[location.pathname] ?? "./judge.js");
await view.show(await begin(), document.getElementById("main"));
document.documentElement.dataset.ready = "yes";
