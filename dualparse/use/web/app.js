// The page: a question in the address (#q=...&run=...) -> what was understood and the answer, or a question back.

import { prepare } from "./attention.js";
import { $, make, sentence, show } from "./dom.js";
import { drawHistory, forget, remember } from "./history.js";
import { closeEditor, inside, prepareInside } from "./inside.js";
import { draw, drawChoices, drawFeedback } from "./outcome.js";
import { inShort } from "./rows.js";
import * as service from "./service.js";

const TYPES = 10; // of entities, named below the examples
const PAGE = 100; // rows, as the service has it
const PATIENCE = 200; // milliseconds after which waiting is shown
// asked: the reply to the question; shown: the reply that is on the screen, of a reading that was chosen or a later page
const state = { runs: [], run: null, asked: null, shown: null };
const newest = { ask: service.latest(), rows: service.latest() };
let waiting;

// ---- failures

function tell(error) {
  if (error.name === "AbortError") return;
  if (error.status === 401) return askForToken();
  const known = error instanceof service.Problem;
  $("problem").textContent = known ? sentence(error.message) : "Something on this page went wrong.";
  show($("problem"), true);
  if (!known) console.error(error);
}

const quiet = () => show($("problem"), false);

function askForToken() {
  if (!$("token-dialog").open) $("token-dialog").showModal();
}

function busy(yes) {
  clearTimeout(waiting);
  document.body.toggleAttribute("aria-busy", yes);
  if (yes) {
    $("status").textContent = "Reading the question";
    waiting = setTimeout(() => show($("waiting"), $("result").hidden), PATIENCE);
  } else show($("waiting"), false);
}

// ---- what is served, and examples

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
  const types = [...run.types].sort((a, b) => b.count - a.count).map(({ name, count }) => `${shortName(name)}${count ? ` (${count})` : ""}`);
  $("types").textContent = types.length ? `Known here: ${types.slice(0, TYPES).join(" · ")}` : "";
}

const shortName = (id) => id.split(".").at(-1).replaceAll("_", " ");

// ---- a question

/** Make a question the page's address and answer it. */
function go(question) {
  const hash = new URLSearchParams({ q: question });
  if (state.runs.length > 1) hash.set("run", state.run.name);
  const address = `${location.pathname}#${hash}`;
  if (!location.href.endsWith(address)) history.pushState(null, "", address);
  window.scrollTo({ top: 0 });
  return follow();
}

/** What the address says. A question sent before this script ran is in its query (?q=...), as of any form. */
const addressed = () => new URLSearchParams(location.hash.slice(1) || location.search);

/** Show what the address says. `typed` is left in the field where the address has no question. */
async function follow(typed = "") {
  if (!state.runs.length) return;
  const said = addressed();
  chooseRun(said.get("run"));
  const question = (said.get("q") ?? "").trim();
  $("question").value = question || typed;
  document.title = question ? `${question} · dualparse` : "dualparse";
  quiet();
  drawHistory(state.run.name, question, go);
  if (question) await ask(question);
  else clear();
}

function clear() {
  document.body.classList.remove("asked");
  show($("result"), false);
  show($("inside"), false);
}

async function ask(question) {
  busy(true);
  try {
    state.asked = await service.ask(state.run.name, question, newest.ask());
  } catch (error) {
    if (error.name === "AbortError") return; // a newer question took over
    busy(false);
    clear();
    return tell(error);
  }
  busy(false);
  remember(state.run.name, question, inShort(state.asked));
  drawHistory(state.run.name, question, go);
  closeEditor();
  present(state.asked);
}

/** Show a reply: that to the question, or that of a reading somebody chose. */
function present(reply) {
  const { run, asked } = state;
  const chosen = reply !== asked && reply.form !== asked.form;
  state.shown = reply;
  document.body.classList.add("asked");
  show($("result"), true);
  draw(reply, { chosen });
  drawChoices(asked, reply.form, pick);
  drawFeedback(run, asked, reply, tell);
  inside({ run, asked, shown: reply, pick, go, tell, edited: present });
}

/** The answer of a reading that was chosen. */
async function pick({ form }) {
  const { run, asked } = state;
  closeEditor();
  if (form === asked.form) return present(asked);
  const reply = await rows(run.name, asked.question, form, 0);
  if (reply) present({ ...reply, form }); // as it was chosen: the service may write it in another way
}

async function turn(offset) {
  const { run, asked, shown } = state;
  const reply = await rows(run.name, asked.question, shown.form, offset);
  if (!reply) return;
  state.shown = { ...shown, rows: reply.rows, offset: reply.offset, total: reply.total, truncated: reply.truncated };
  draw(state.shown, { chosen: shown.form !== asked.form });
  $("answer").querySelector(".scroll")?.focus();
}

async function rows(...given) {
  quiet();
  document.body.toggleAttribute("aria-busy", true);
  try {
    return await service.rows(...given, newest.rows());
  } catch (error) {
    tell(error);
    return null;
  } finally {
    document.body.toggleAttribute("aria-busy", false);
  }
}

async function save() {
  const { run, asked, shown } = state;
  try {
    const address = URL.createObjectURL(await service.csv(run.name, asked.question, shown.form));
    make("a", { href: address, download: "answer.csv" }).click();
    URL.revokeObjectURL(address);
  } catch (error) {
    tell(error);
  }
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Copied";
  } catch {
    $("share").textContent = "Copy it from the address bar"; // clipboards need https or this machine
  }
  setTimeout(() => ($("share").textContent = "Copy link"), 2000);
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
$("previous").addEventListener("click", () => turn(Math.max(state.shown.offset - PAGE, 0)));
$("next").addEventListener("click", () => turn(state.shown.offset + state.shown.rows.length));
$("export").addEventListener("click", save);
$("share").addEventListener("click", share);
$("forget").addEventListener("click", () => {
  forget();
  drawHistory(state.run.name, "", go);
  $("question").focus();
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
prepareInside();
start();
