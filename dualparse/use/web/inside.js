// One click behind the answer: its logical form with what the model looked at, an editor, the SQL, the readings and the
// way back. Each part is asked for when the box is open, and only where the run has it.

import { drawForm, explain } from "./attention.js";
import { $, make, sentence, show } from "./dom.js";
import { pretty, tokens } from "./forms.js";
import * as service from "./service.js";

const DELAY = 150; // milliseconds without a key before an edited form is sent
const newest = { detail: service.latest(), readings: service.latest(), edit: service.latest() };
const box = { run: null, asked: null, shown: null, drawn: null, listed: null, pick: null, go: null, tell: null };
let timer;

/** What is shown above; the parts follow when the box is, or comes, open. */
export function inside(told) {
  Object.assign(box, told);
  const { run, asked, shown } = box;
  const form = shown.form || asked.choices[0]?.form || "";
  box.form = form;
  show($("inside"), Boolean(form || run.models));
  show($("form-part"), Boolean(form));
  show($("sql-part"), Boolean(shown.sql));
  $("sql").textContent = shown.sql;
  show($("readings-part"), run.models);
  show($("back-part"), run.verbalizes && Boolean(form));
  show($("looked"), run.models);
  show($("reset"), shown.form !== asked.form && asked.status === "answered");
  if ($("inside").open) look();
}

/** Ask for what the box holds, once for each form and question. */
function look() {
  const { run, asked, form } = box;
  if (form && box.drawn !== `${asked.question}\n${form}`) {
    box.drawn = `${asked.question}\n${form}`;
    lookAt(run, asked.question, form, newest.detail());
  }
  if (run.models && box.listed !== asked) {
    box.listed = asked;
    list(run, asked.question, newest.readings());
  }
  press(form);
}

async function lookAt(run, question, form, signal) {
  drawForm(form);
  $("back").replaceChildren();
  if (!run.models) return;
  const explained = service.explain(run.name, question, form, signal).then(explain, (error) => {
    if (error.status !== 422) throw error;
    $("looked").textContent = sentence(error.message); // a model that shows nothing says so
  });
  const said = run.verbalizes ? service.verbalize(run.name, form, signal).then(drawBack) : null;
  for (const { status, reason } of await Promise.allSettled([explained, said]))
    if (status === "rejected" && reason.status !== 422) box.tell(reason);
}

function drawBack({ wordings }) {
  $("back").replaceChildren(
    ...wordings.map(({ query }) =>
      make(
        "li",
        {},
        make("span", {}, query),
        sameWords(query, box.asked.question)
          ? make("span", { class: "badge good" }, "as asked")
          : make("button", { type: "button", class: "quiet", "aria-label": `Ask: ${query}`, onclick: () => box.go(query) }, "Ask this"),
      ),
    ),
  );
}

const sameWords = (a, b) => a.trim() === b.trim().toLowerCase().replace(/[?!.]+$/, "").trim();

// ---- readings

async function list(run, question, signal) {
  $("readings").replaceChildren();
  try {
    const { parses } = await service.parse(run.name, question, signal);
    const answers = parses.map(({ verdict, answer }) => (verdict.ok ? answer : null));
    const known = answers.map((answer, place) => answer !== null && answers.indexOf(answer) < place);
    $("readings").replaceChildren(...parses.map((each, place) => reading(each, known[place])));
    press(box.form);
  } catch (error) {
    box.tell(error);
  }
}

/** `known`: an earlier reading has the same answer, and its probability is that of both. */
function reading({ form, probability, verdict }, known) {
  const likely = known ? "same answer" : `${(100 * probability).toFixed(0)} %`;
  return make(
    "li",
    {},
    make(
      "button",
      {
        type: "button",
        class: "reading",
        "aria-pressed": "false",
        "data-form": form,
        disabled: !verdict.ok,
        onclick: () => box.pick({ form }),
      },
      make("code", {}, form.replaceAll("( ", "(").replaceAll(" )", ")")),
      verdict.ok
        ? make("span", { class: "score" }, likely)
        : make("span", { class: "why" }, `makes no sense: ${verdict.reason}`),
    ),
  );
}

function press(form) {
  for (const button of $("readings").querySelectorAll(".reading"))
    button.setAttribute("aria-pressed", String(same(button.dataset.form, form)));
}

const same = (a, b) => tokens(a).join(" ") === tokens(b).join(" ");

// ---- the editor

function openEditor() {
  $("form").value = pretty(box.form);
  fit();
  $("reason").textContent = "";
  editing(true);
  $("form").focus();
}

function editing(yes) {
  clearTimeout(timer);
  show($("editor"), yes);
  show($("reading"), !yes);
  $("edit").textContent = yes ? "Done" : "Edit";
  $("edit").setAttribute("aria-expanded", String(yes));
}

/** Back from the editor, without what was typed since. */
export function closeEditor() {
  editing(false);
  $("reason").textContent = "";
}

/** As tall as its text. */
function fit() {
  $("form").rows = Math.min(Math.max($("form").value.split("\n").length + 1, 5), 24);
}

async function runEdited() {
  const form = tokens($("form").value).join(" ");
  if (!form) return $("reason").replaceChildren("The form is empty.");
  if (same(form, box.form)) return $("reason").replaceChildren();
  try {
    const reply = await service.rows(box.run.name, box.asked.question, form, 0, newest.edit());
    $("reason").textContent = reply.status === "answered" ? "" : sentence(reply.reason);
    if (reply.status === "answered") box.edited(reply);
  } catch (error) {
    box.tell(error);
  }
}

export function prepareInside() {
  $("inside").addEventListener("toggle", () => $("inside").open && box.asked && look());
  $("edit").addEventListener("click", async () => {
    if ($("editor").hidden) return openEditor();
    clearTimeout(timer);
    await runEdited();
    if (!$("reason").textContent) closeEditor();
  });
  $("form").addEventListener("input", () => {
    fit();
    clearTimeout(timer);
    timer = setTimeout(runEdited, DELAY);
  });
  $("reset").addEventListener("click", () => {
    closeEditor();
    box.pick(box.asked);
  });
}
