// Who is judging, and the head of the page.

import { counted, fill, make } from "./elements.js";
import { ask, insist } from "./server.js";
import { VIEWS } from "./views.js";

// A chosen name stays until the server is started for someone else; one that a link asks for, as long as the tab does.
const NAME = "cranfield.assessor";
let given = "";

export async function begin() {
  const session = await insist("start", {}, "");
  given = session.assessor;
  const asked = new URLSearchParams(location.search).get("assessor")?.trim();
  if (asked) remember(asked, "sessionStorage");
  session.assessor = remembered("sessionStorage") || asked || remembered() || session.assessor;
  if (!session.assessor) remember((session.assessor = await askName(session)));
  return session;
}

function remembered(storage = "localStorage") {
  try {
    return window[storage].getItem(`${NAME} ${given}`) ?? "";
  } catch {
    return ""; // the browser stores nothing
  }
}

function remember(name, storage = "localStorage") {
  try {
    window[storage].setItem(`${NAME} ${given}`, name);
  } catch {
    // It will be asked for again.
  }
}

function askName(session) {
  return new Promise((resolve) => {
    const field = make("input", { name: "name", required: true, maxlength: "100", autocomplete: "name" });
    const submit = (event) => {
      event.preventDefault();
      if (field.value.trim()) resolve(field.value.trim());
    };
    fill(
      document.getElementById("main"),
      make(
        "form",
        { class: "card asking", on: { submit } },
        make("h1", {}, "Who is judging?"),
        make("p", { class: "soft" }, "Grades are saved under this name. Use the same name when you come back."),
        make("label", {}, "Your name ", field),
        session.assessors.length > 0 &&
          make(
            "p",
            { class: "chips" },
            session.assessors.map((name) =>
              make("button", { type: "button", class: "chip", on: { click: () => resolve(name) } }, name),
            ),
          ),
        make("button", { class: "first" }, "Start"),
      ),
    );
    field.focus();
  });
}

// The head: the query, and the progress of all. `told` has title, narrative, place, progress, state; without a title,
// it is the name of the view.
export function head(session, told) {
  const title = told.title ?? (VIEWS.find((view) => view.address === location.pathname) ?? VIEWS[0]).name;
  document.title = title ? `${title} · Judge` : "Judge";
  const change = async () => {
    await ask("leave", { assessor: session.assessor }).catch(() => {});
    remember(await askName(session));
    remember("", "sessionStorage");
    location.assign(location.pathname);
  };
  const links = VIEWS.map(({ address, name }) =>
    make("a", { href: address, "aria-current": address === location.pathname ? "page" : null }, name),
  );
  fill(
    document.getElementById("top"),
    make(
      "div",
      { class: "inside" },
      make(
        "nav",
        { "aria-label": "Pages" },
        links,
        make("button", { type: "button", class: "who", title: "Change who is judging", on: { click: change } }, session.assessor),
      ),
      make(
        "div",
        { class: "line" },
        make("div", {}, told.place && make("p", { class: "soft" }, told.place), make("h1", { dir: "auto" }, title)),
        make(
          "div",
          { class: "far" },
          told.progress && make("p", {}, progressText(told.progress)),
          make("p", { id: "state", class: "soft" }, told.state ?? ""),
        ),
      ),
      told.narrative && make("p", { class: "narrative", dir: "auto" }, told.narrative),
      told.progress &&
        make("progress", {
          max: String(Math.max(told.progress.documents, 1)),
          value: String(told.progress.documents - told.progress.left),
          "aria-label": "Documents judged",
        }),
    ),
  );
}

export function progressText(progress) {
  const done = progress.documents - progress.left;
  const count = `${done.toLocaleString("en")} of ${progress.documents.toLocaleString("en")} judged`;
  if (!progress.pace || !progress.left) return count;
  return `${count} · ${duration(progress.pace * progress.left)} left at your pace`;
}

function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "less than a minute";
  if (minutes < 90) return `about ${counted(minutes, "minute")}`;
  return `about ${counted(Math.round(minutes / 60), "hour")}`;
}
