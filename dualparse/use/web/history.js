// Questions that were asked before, in this browser alone: the newest first, each once.

import { $, make, show } from "./dom.js";

const KEY = "dualparse-history";
const MOST = 20;

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return kept.filter((each) => typeof each.question === "string" && typeof each.run === "string");
  } catch {
    return []; // kept by something else, or storage is off
  }
}

function write(list) {
  try {
    localStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // without storage there is no history
  }
}

export function remember(run, question, outcome) {
  const others = read().filter((each) => each.run !== run || each.question !== question);
  write([{ run, question, outcome }, ...others].slice(0, MOST));
}

export function forget() {
  write([]);
}

/** The questions about one run, but for the one that is shown. */
export function drawHistory(run, shown, ask) {
  const list = read().filter((each) => each.run === run && each.question !== shown);
  show($("history"), list.length > 0);
  $("before").replaceChildren(
    ...list.map(({ question, outcome }) =>
      make(
        "li",
        {},
        make("button", { type: "button", class: "past", onclick: () => ask(question) }, question),
        make("span", { class: "muted small" }, String(outcome ?? "")),
      ),
    ),
  );
}
