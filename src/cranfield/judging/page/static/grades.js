// The grades to choose from, and how each is shown. Blues grow with the grade; the lowest is of another hue.

import { make } from "./elements.js";

const KEYS = [..."0123456789", "t"]; // the last for ten

// The grade itself, where each is a digit; otherwise its place.
export function keyOf(scale, index) {
  const digits = scale.every((each) => Number.isInteger(each.grade) && each.grade <= 9);
  return KEYS[digits ? scale[index].grade : index];
}

export function chip(grade, scale) {
  if (grade === undefined) return make("span", { class: "grade none", title: "not judged yet" }, "?");
  if (grade === null) return make("span", { class: "grade none", title: "cannot be judged" }, "–");
  const index = scale.findIndex((each) => each.grade === grade);
  const step = index < 0 ? 3 : index === 0 ? 0 : Math.max(1, Math.round((index / (scale.length - 1)) * 3));
  return make("span", { class: `grade g${step}`, title: scale[index]?.name ?? "" }, String(grade));
}

export function gradeButtons(scale, chosen, choose) {
  return make(
    "div",
    { class: `grades ${scale.length > 6 ? "many" : scale.length > 4 ? "several" : ""}`, role: "group", "aria-label": "Grade" },
    scale.map((each, index) =>
      make(
        "button",
        {
          type: "button",
          class: each.grade === chosen ? "chosen" : "",
          title: each.meaning || null,
          "aria-pressed": String(each.grade === chosen),
          "aria-keyshortcuts": keyOf(scale, index),
          on: { click: () => choose(each.grade) },
        },
        chip(each.grade, scale),
        make("b", {}, each.name),
        // A key that is the grade itself needs no second digit.
        keyOf(scale, index) !== String(each.grade) && make("kbd", {}, keyOf(scale, index).toUpperCase()),
        make("span", { class: "meaning" }, each.meaning),
      ),
    ),
  );
}

export function gradeOfKey(scale, key) {
  const index = scale.findIndex((_, each) => keyOf(scale, each) === key);
  return index < 0 ? undefined : scale[index].grade;
}
