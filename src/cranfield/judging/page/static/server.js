// Requests to the server. Every change has a key, so that it can be sent again if the answer was lost.

import { notice } from "./elements.js";

export class Refused extends Error {
  constructor(status, told) {
    super(told.error);
    this.status = status;
    this.hint = told.hint;
  }
}

export async function ask(name, body) {
  const answer = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  let told = { error: text.length < 300 && text.trim() ? text.trim() : `The server answered ${answer.status}.`, hint: "" };
  try {
    told = JSON.parse(text);
  } catch {
    // Not JSON: the reason is in the text, or in the status.
  }
  if (!answer.ok) throw new Refused(answer.status, told);
  return told;
}

// Ask until the server answers: it may have been restarted in between.
export async function insist(name, body, waiting) {
  for (let pause = 250; ; pause = Math.min(pause * 2, 4000)) {
    try {
      const told = await ask(name, body);
      if (pause > 250) notice("The server is back.", "good");
      return told;
    } catch (error) {
      if (error instanceof Refused && error.status !== 503) throw error; // 503: its database is gone, perhaps for long
      notice(`${waiting} The server is not answering; trying again. Is “cranfield judge” still running?`, "bad", 0);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(16).padStart(8, "0")).join("");
}
