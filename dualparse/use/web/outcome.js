// What became of a question: an answer, readings to choose from, or why there is none. A reply in, the card drawn.

import { $, make, sentence, show } from "./dom.js";
import { answerOf, count, inShort } from "./rows.js";
import * as service from "./service.js";

const TITLES = { answered: "Answer", ambiguous: "Which one do you mean?", refused: "No answer", error: "The data has no answer" };
const LIKELY = 0.05; // below it another reading is not worth a line
const AT_A_GLANCE = 10; // rows that are seen without scrolling; of more it is said how many there are
const percent = (probability) => `${Math.round(100 * probability)} %`;

/** Draw a reply. `chosen`: a person has picked its form, so nothing is to be said of how likely it is. */
export function draw(reply, { chosen = false } = {}) {
  $("outcome").textContent = titleOf(reply, chosen);
  $("result").dataset.status = reply.status;
  drawSure(reply, chosen);
  $("notes").replaceChildren(...reply.notes.map((note) => make("li", {}, sentence(note))));
  if (reply.status === "answered") {
    $("said").textContent = reply.said ? sentence(reply.said, ":") : "";
    $("answer").replaceChildren(answerOf(reply), ...(reply.kind ? [] : [make("pre", { class: "code", tabindex: 0 }, reply.form)]));
  } else {
    $("said").textContent = reply.status === "ambiguous" ? "" : sentence(reply.reason);
    $("answer").replaceChildren();
  }
  drawPages(reply);
  show($("export"), reply.status === "answered" && reply.total > 0);
  $("status").textContent = `${$("outcome").textContent}: ${reply.status === "answered" ? inShort(reply) : $("said").textContent}`;
}

function titleOf({ status, choices }, chosen) {
  if (status === "ambiguous" && choices.length === 1) return "Is this what you mean?";
  return chosen && status === "answered" ? "Answer to your reading" : TITLES[status];
}

function drawSure(reply, chosen) {
  const told = reply.status === "answered" && !chosen;
  $("sure").textContent = told ? `${percent(reply.probability)} sure` : "";
  $("sure").title = told ? "How likely this answer is right" : "";
  $("sure").classList.toggle("unsure", reply.probability < 0.8);
}

function drawPages(reply) {
  const last = reply.offset + reply.rows.length;
  const paged = reply.status === "answered" && (reply.total > reply.rows.length || reply.offset > 0);
  const long = reply.status === "answered" && reply.rows.length > AT_A_GLANCE;
  show($("pages"), paged || long);
  show($("previous"), paged);
  show($("next"), paged);
  $("place").textContent = `${count(reply)} rows`;
  if (!paged) return;
  $("place").textContent = `Rows ${(reply.offset + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${count(reply)}`;
  $("previous").disabled = reply.offset === 0;
  $("next").disabled = last >= reply.total;
}

/** The readings of a question as buttons; `form` is the one that is shown. */
export function drawChoices(asked, form, pick) {
  const focused = $("choice-list").contains(document.activeElement);
  const own = asked.status === "answered" ? [{ form: asked.form, said: asked.said, probability: asked.probability }] : [];
  const others = asked.choices.filter((each) => asked.status === "ambiguous" || each.probability >= LIKELY);
  const choices = others.length ? [...own, ...others] : [];
  show($("choices"), choices.length > 0);
  $("choices-title").textContent = asked.status === "refused" ? "Did you mean" : choices.length > 1 ? "It can mean" : "It may mean";
  $("choice-list").replaceChildren(
    ...choices.map((choice) =>
      make(
        "button",
        { type: "button", class: "choice", "aria-pressed": String(choice.form === form), onclick: () => pick(choice) },
        make("span", {}, sentence(choice.said || choice.form, "")),
        make("span", { class: "muted small" }, percent(choice.probability)),
      ),
    ),
  );
  if (focused) $("choice-list").querySelector("[aria-pressed='true']")?.focus();
}

/** Right, wrong, or meant: what can be said of what is shown. Nothing where the service keeps no feedback. */
export function drawFeedback(run, asked, shown, tell) {
  const can = run.feedback && (shown.form || ["refused", "ambiguous"].includes(asked.status));
  show($("feedback"), Boolean(can));
  if (!can) return;
  const say = (judgement, form, thanks) => async () => {
    try {
      await service.feedback(run.name, asked.question, judgement, form, asked.id);
    } catch (error) {
      return tell(error);
    }
    $("feedback-asks").textContent = thanks;
    $("feedback-buttons").replaceChildren();
    $("status").textContent = thanks;
  };
  const button = (text, ...what) => make("button", { type: "button", class: "secondary", onclick: say(...what) }, text);
  const wrong = $("choices").hidden === false ? "Noted. Is one of the readings meant?" : "Noted, thank you.";
  if (!shown.form && asked.status === "ambiguous") {
    $("feedback-asks").textContent = asked.choices.length > 1 ? "Or is none of them meant?" : "Or is something else meant?";
    const text = asked.choices.length > 1 ? "None of these" : "Something else";
    $("feedback-buttons").replaceChildren(button(text, "wrong", "", "Noted, thank you."));
  } else if (!shown.form) {
    $("feedback-asks").textContent = "Should this have an answer?";
    $("feedback-buttons").replaceChildren(button("Yes, it should", "wrong", "", "Noted, thank you."));
  } else if (shown.form !== asked.form) {
    $("feedback-asks").textContent = "Is this what you meant?";
    $("feedback-buttons").replaceChildren(button("I meant this reading", "meant", shown.form, "Noted: this reading was meant."));
  } else {
    $("feedback-asks").textContent = "Is this right?";
    $("feedback-buttons").replaceChildren(
      button("Right", "right", shown.form, "Noted, thank you."),
      button("Wrong", "wrong", shown.form, wrong),
    );
  }
}
