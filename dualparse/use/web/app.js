// The page: a question in the address (#q=...&run=...) -> readings, the answer of the chosen one, and the way back.

import { answerTable } from "./answers.js";
import { drawForm, explain, prepare } from "./attention.js";
import { $, make, show } from "./dom.js";
import { pretty, tokens } from "./forms.js";
import * as service from "./service.js";

const TYPES = 10; // of entities, named below the examples
const DELAY = 150; // milliseconds without a key before an edited form is sent
const state = { runs: [], run: null, question: "", parses: [], chosen: 0, form: "", complete: false };
const newest = { parse: service.latest(), detail: service.latest(), execute: service.latest() };

// ---- failures

function tell(error) {
  if (error.name === "AbortError") return;
  if (error.status === 401) return askForToken();
  $("problem").textContent = error instanceof service.Problem ? sentence(error.message) : "Something on this page went wrong.";
  show($("problem"), true);
  if (!(error instanceof service.Problem)) console.error(error);
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
const quiet = () => show($("problem"), false);

function askForToken() {
  if (!$("token-dialog").open) $("token-dialog").showModal();
}

// ---- the runs and their examples

async function start() {
  try {
    state.runs = (await service.domains()).runs;
  } catch (error) {
    return tell(error);
  }
  $("run").replaceChildren(...state.runs.map((run) => make("option", { value: run.name }, run.name)));
  show($("run-label"), state.runs.length > 1);
  const typed = $("question").value; // while the service was being asked
  await follow(typed);
}

function chooseRun(name) {
  const run = state.runs.find((candidate) => candidate.name === name) ?? state.runs[0];
  if (run === state.run) return;
  state.run = run;
  $("run").value = run.name;
  $("title").textContent = run.title;
  $("description").textContent = run.description;
  $("question").placeholder = run.questions[0] ?? "Ask a question";
  $("examples").replaceChildren(
    ...run.questions.map((text) => make("button", { type: "button", class: "chip", onclick: () => go(text) }, text)),
  );
  const types = [...run.types].sort((a, b) => b.count - a.count).map((type) => `${shortName(type.name)} (${type.count})`);
  $("types").textContent = types.length ? `Known by name: ${types.slice(0, TYPES).join(" · ")}` : "";
  show($("back-card"), run.verbalizes);
}

const shortName = (id) => id.split(".").at(-1).replaceAll("_", " ");

// ---- a question

/** Make a question the page's address and answer it. */
function go(question) {
  const hash = new URLSearchParams({ q: question });
  if (state.runs.length > 1) hash.set("run", state.run.name);
  const address = `${location.pathname}#${hash}`;
  if (!location.href.endsWith(address)) history.pushState(null, "", address);
  return follow();
}

/** What the address says. A question sent before this script ran is in its query (?q=...), as of any form. */
const asked = () => new URLSearchParams(location.hash.slice(1) || location.search);

/** Show what the address says. `typed` is left in the field where the address has no question. */
async function follow(typed = "") {
  if (!state.runs.length) return;
  const said = asked();
  chooseRun(said.get("run"));
  const question = (said.get("q") ?? "").trim();
  $("question").value = question || typed;
  document.title = question ? `${question} · dualparse` : "dualparse";
  quiet();
  if (question) await ask(question);
  else show($("result"), false);
}

async function ask(question) {
  state.question = question;
  busy(true);
  try {
    const found = await service.parse(state.run.name, question, newest.parse());
    state.parses = found.parses;
  } catch (error) {
    if (error.name === "AbortError") return; // a newer question took over
    busy(false);
    show($("result"), false);
    return tell(error);
  }
  busy(false);
  show($("result"), true);
  drawReadings();
  drawNotes(state.parses[0]?.notes ?? []);
  choose(0);
}

function busy(yes) {
  document.body.toggleAttribute("aria-busy", yes);
  $("status").textContent = yes ? "Reading the question" : "";
}

const drawNotes = (notes) => $("notes").replaceChildren(...notes.map((note) => make("li", {}, sentence(note))));

// ---- the readings, one of them chosen

function drawReadings() {
  $("others").replaceChildren(...state.parses.map(reading));
}

function reading(parse, i) {
  const likely = Math.exp(parse.score);
  const bar = make("span", { class: "meter", "aria-hidden": "true" }, make("span", {}));
  bar.firstChild.style.width = `${(100 * likely).toFixed(1)}%`;
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", class: "reading", "aria-pressed": "false", onclick: () => choose(i) },
      make("code", {}, compact(parse.form)),
      make(
        "span",
        { class: "facts" },
        bar,
        make("span", { class: "score", title: "how sure the model is of this reading" }, `${(100 * likely).toFixed(1)} %`),
        badge(parse.verdict),
        parse.verdict.ok ? null : make("span", { class: "why" }, parse.verdict.reason),
      ),
    ),
  );
}

const compact = (form) => form.replaceAll("( ", "(").replaceAll(" )", ")");

const badge = (verdict) => make("span", { class: verdict.ok ? "badge good" : "badge bad" }, verdict.ok ? "valid" : "invalid");

function choose(i) {
  state.chosen = i;
  for (const [n, button] of [...$("others").querySelectorAll(".reading")].entries())
    button.setAttribute("aria-pressed", String(n === i));
  const parse = state.parses[i];
  if (!parse) {
    $("answer").replaceChildren(make("p", { class: "nothing" }, "No reading was found."));
    return;
  }
  closeEditor();
  setForm(parse.form, parse.verdict, parse.answer);
  detail();
}

/** Show a form with its verdict and answer. */
function setForm(form, verdict, answer) {
  state.form = form;
  state.complete = verdict.surface; // only then it can be said in words
  $("verdict").replaceChildren(badge(verdict));
  $("reason").textContent = verdict.ok ? "" : sentence(verdict.reason);
  $("answer").replaceChildren(answerOf(verdict, answer));
  show($("reset"), !sameForm(form, state.parses[state.chosen]?.form));
}

function answerOf(verdict, answer) {
  if (answer !== null) return answerTable(answer);
  if (verdict.ok) return make("p", { class: "nothing" }, "The form is valid; this domain has no data to run it on.");
  return make("p", { class: "nothing" }, "No answer: the form is not valid.");
}

const sameForm = (a, b) => tokens(a ?? "").join(" ") === tokens(b ?? "").join(" ");

/** Attention and the way back, for the form that is shown. */
async function detail() {
  const { run, question, form } = state;
  const signal = newest.detail();
  drawForm(form);
  $("back").replaceChildren();
  await settle(service.explain(run.name, question, form, signal).then(explain), sayBack(form, signal));
}

async function sayBack(form, signal) {
  if (!state.run.verbalizes) return;
  if (state.complete) drawBack(await service.verbalize(state.run.name, form, signal));
  else $("back").replaceChildren(make("li", { class: "muted" }, "Only a complete form can be said in words."));
}

/** Wait for all. A form of one's own may be beyond the models (422): nothing is shown then, and nothing said. */
async function settle(...jobs) {
  for (const { status, reason } of await Promise.allSettled(jobs))
    if (status === "rejected" && reason.status !== 422) tell(reason);
}

function drawBack({ wordings }) {
  $("back").replaceChildren(
    ...wordings.map(({ query }) =>
      make(
        "li",
        {},
        make("span", {}, query),
        sameWords(query, state.question)
          ? make("span", { class: "badge good" }, "as asked")
          : make("button", { type: "button", class: "quiet", "aria-label": `Ask: ${query}`, onclick: () => go(query) }, "Ask this"),
      ),
    ),
  );
}

const sameWords = (a, b) => a.trim() === b.trim().toLowerCase().replace(/[?!.]+$/, "").trim();

// ---- the editor

let timer;

function openEditor() {
  $("form").value = pretty(state.form);
  fit();
  show($("editor"), true);
  show($("reading"), false);
  $("edit").textContent = "Done";
  $("edit").setAttribute("aria-expanded", "true");
  $("form").focus();
}

function closeEditor() {
  clearTimeout(timer);
  show($("editor"), false);
  show($("reading"), true);
  $("edit").textContent = "Edit";
  $("edit").setAttribute("aria-expanded", "false");
}

/** As tall as its text. */
function fit() {
  $("form").rows = Math.min(Math.max($("form").value.split("\n").length + 1, 5), 24);
}

async function runEdited() {
  const form = tokens($("form").value).join(" ");
  if (!form) return $("reason").replaceChildren("The form is empty.");
  try {
    const { verdict, answer } = await service.execute(state.run.name, form, newest.execute());
    quiet();
    setForm(form, verdict, answer);
    $("back").replaceChildren();
    await settle(sayBack(form, newest.detail()));
  } catch (error) {
    tell(error);
  }
}

// ---- wiring

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = $("question").value.trim();
  if (question) go(question);
});
$("run").addEventListener("change", () => {
  const hash = new URLSearchParams({ run: $("run").value });
  history.pushState(null, "", `${location.pathname}#${hash}`);
  follow();
});
$("edit").addEventListener("click", async () => {
  if ($("editor").hidden) return openEditor();
  clearTimeout(timer);
  await runEdited();
  closeEditor();
  detail();
});
$("form").addEventListener("input", () => {
  fit();
  clearTimeout(timer);
  timer = setTimeout(runEdited, DELAY);
});
$("reset").addEventListener("click", () => choose(state.chosen));
$("share").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Copied";
  } catch {
    $("share").textContent = "Copy it from the address bar"; // clipboards need https or this machine
  }
  setTimeout(() => ($("share").textContent = "Copy link"), 2000);
});
$("token-form").addEventListener("submit", () => {
  service.keepToken($("token").value.trim());
  $("token").value = "";
  start();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest?.("input, textarea, select, dialog")) return;
  event.preventDefault();
  $("question").select();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address holds the question
  $("question").focus();
});
window.addEventListener("popstate", () => follow());
window.addEventListener("unhandledrejection", (event) => tell(event.reason));

prepare();
start();
