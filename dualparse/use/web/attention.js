// The question's words above the form's tokens: pointing at one shows what the model looked at, and what it copied.

import { $, make, rove } from "./dom.js";
import { lines, tokens, tree } from "./forms.js";

const HINT = matchMedia("(hover: none)").matches
  ? "Touch a word or a token to see what the model looked at."
  : "Point at a word or a token, or move with the arrow keys, to see what the model looked at.";
const SHOWN = 0.04; // smaller weights are not worth a colour
const percent = (weight) => `${Math.round(100 * weight)} %`;
const quoted = (text) => `“${text}”`;

let explanation = null;

export function prepare() {
  for (const [box, kind] of [[$("words"), "word"], [$("tree"), "token"]]) {
    const look = (event) => {
      const item = event.target.closest(`.${kind}[data-number]`);
      if (item) highlight(kind, Number(item.dataset.number));
    };
    box.addEventListener("pointerover", look);
    box.addEventListener("focusin", look);
    box.addEventListener("click", look);
    box.addEventListener("pointerleave", () => box.contains(document.activeElement) || clear());
    box.addEventListener("focusout", clear);
    rove(box, `.${kind}`);
  }
}

/** Draw a form; words and weights follow with `explain`. */
export function drawForm(form) {
  explanation = null;
  const list = tokens(form);
  const node = tree(list);
  const drawn = node ? lines(node) : [{ indent: 0, parts: list.map((text, number) => ({ number, text: `${text} `, kind: "atom" })) }];
  $("tree").replaceChildren(
    ...drawn.flatMap(({ indent, parts }, i) => [i ? "\n" : "", "  ".repeat(indent), ...parts.map(token)]),
  );
  $("tree").querySelector(".token")?.setAttribute("tabindex", "0");
  $("words").replaceChildren();
  clear();
}

function token({ number, text, kind }) {
  if (kind === "space") return text;
  if (kind === "paren") return make("span", { class: "paren" }, text);
  return make("button", { type: "button", class: `token ${kind}`, tabindex: -1, "data-number": number }, text);
}

/** Add what the model says about the form that is drawn. */
export function explain(told) {
  explanation = told;
  const copiedWords = new Set(told.copies.flatMap((copy) => copy.words));
  const copiedTokens = new Set(told.copies.map((copy) => copy.token));
  $("words").replaceChildren(
    ...told.words.flatMap((word, number) => [
      make(
        "button",
        {
          type: "button",
          class: copiedWords.has(number) ? "word copied" : "word",
          tabindex: number ? -1 : 0,
          "data-number": number,
          title: told.said[number] && told.said[number] !== word ? `typed: ${told.said[number]}` : null,
        },
        word,
      ),
      " ",
    ]),
  );
  for (const item of $("tree").querySelectorAll(".token"))
    item.classList.toggle("copied", copiedTokens.has(Number(item.dataset.number)));
  clear();
}

function clear() {
  for (const item of document.querySelectorAll(".word, .token")) mark(item, 0, false);
  $("looked").textContent = explanation ? HINT : "";
}

function mark(item, weight, chosen) {
  item.classList.toggle("lit", weight > SHOWN);
  item.classList.toggle("chosen", chosen);
  item.style.setProperty("--weight", weight.toFixed(3));
}

function highlight(kind, number) {
  if (!explanation) return;
  const { attention } = explanation;
  for (const item of $("words").querySelectorAll(".word")) {
    const word = Number(item.dataset.number);
    mark(item, kind === "token" ? (attention[number]?.[word] ?? 0) : 0, kind === "word" && word === number);
  }
  for (const item of $("tree").querySelectorAll(".token")) {
    const row = Number(item.dataset.number);
    mark(item, kind === "word" ? (attention[row]?.[number] ?? 0) : 0, kind === "token" && row === number);
  }
  $("looked").textContent = kind === "token" ? aboutToken(number) : aboutWord(number);
}

function aboutToken(number) {
  const { words, tokens: list, attention, gate, copies } = explanation;
  const weights = (attention[number] ?? []).map((weight, word) => [weight, words[word]]).sort((a, b) => b[0] - a[0]);
  const looked = weights.slice(0, 3).filter(([weight]) => weight > SHOWN);
  const copy = copies.find((found) => found.token === number);
  const start = `${list[number]}: looked at ${looked.map(([weight, word]) => `${quoted(word)} ${percent(weight)}`).join(", ")}`;
  if (!copy) return start;
  return `${start}; copied (${percent(gate[number] ?? 0)}) from ${quoted(copy.words.map((word) => words[word]).join(" "))}`;
}

function aboutWord(number) {
  const { words, said, tokens: list, attention, copies } = explanation;
  const rows = attention.map((row, i) => [row[number], list[i]]).filter(([, text]) => text !== "(" && text !== ")");
  const most = rows.sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([weight]) => weight > SHOWN);
  const typed = said[number] && said[number] !== words[number] ? ` (typed ${quoted(said[number])})` : "";
  const copied = copies.filter((copy) => copy.words.includes(number)).map((copy) => list[copy.token]);
  const parts = [`${quoted(words[number])}${typed}: `];
  parts.push(most.length ? `looked at for ${most.map(([weight, text]) => `${text} ${percent(weight)}`).join(", ")}` : "hardly looked at");
  if (copied.length) parts.push(`; copied as ${[...new Set(copied)].join(", ")}`);
  return parts.join("");
}
