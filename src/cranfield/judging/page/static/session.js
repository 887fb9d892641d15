// Who is judging, and the head of the page.

import { fill, make } from "./elements.js";
import { flagButton, flagLines } from "./flagging.js";
import { ask, insist } from "./server.js";
import { VIEWS } from "./views.js";

// A chosen name stays until the server is started for someone else. It is asked for, and never taken from a link: whoever
// follows one would judge under the name that another chose.
const NAME = "cranfield.assessor";
let given = "";

export async function begin() {
  const session = await insist("start", {}, "");
  given = session.assessor;
  session.assessor = remembered() || session.assessor;
  if (!session.assessor) remember((session.assessor = await askName(session)));
  return session;
}

function remembered() {
  try {
    return localStorage.getItem(`${NAME} ${given}`) ?? "";
  } catch {
    return ""; // the browser stores nothing
  }
}

function remember(name) {
  try {
    localStorage.setItem(`${NAME} ${given}`, name);
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
    fill(document.getElementById("dock"));
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

// The head: the query, and the progress of all. `told` has title, narrative, place, progress, state, flags and flag, which
// asks for one; without a title, it is the name of the view.
export function head(session, told) {
  const title = told.title ?? (VIEWS.find((view) => view.address === location.pathname) ?? VIEWS[0]).name;
  document.title = title ? `${title} · Judge` : "Judge";
  const change = async () => {
    ask("leave", { assessor: session.assessor }).catch(() => {}); // not awaited: nothing depends on it
    remember(await askName(session));
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
        make("div", {}, make("p", { class: "place" }, told.place, told.flag && flagButton(told.flag)), make("h1", { dir: "auto" }, title)),
        make(
          "div",
          { class: "far" },
          make("div", { class: "progress" }),
          make("p", { id: "state", class: "soft" }, told.state ?? ""),
        ),
      ),
      told.narrative && make("p", { class: "narrative", dir: "auto" }, told.narrative),
      told.flags && flagLines(told.flags),
      told.progress && make("progress", { "aria-label": "Documents judged" }),
    ),
  );
  if (told.progress) showProgress(told.progress);
}

// The progress alone, when it is known better.
export function showProgress({ done, of, lines, badge }) {
  const bar = document.querySelector("#top progress");
  if (!bar) return;
  fill(
    document.querySelector("#top .progress"),
    badge && make("p", { class: `pill ${badge.kind}` }, badge.told),
    lines.filter(Boolean).map((each) => make("p", {}, each)),
  );
  bar.max = Math.max(of, 1);
  bar.value = done;
  bar.className = badge?.kind ?? "";
}
