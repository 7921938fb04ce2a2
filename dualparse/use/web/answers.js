// Printed denotations -> values -> a table.

import { make } from "./dom.js";
import { tokens, tree } from "./forms.js";

const pad = (part) => String(Number(part)).padStart(2, "0");

const READ = {
  name: ([id]) => ({ text: id.split(/[.:]/).at(-1 - (id.includes(":") ? 1 : 0)).replaceAll("_", " "), kind: typeOf(id), id }),
  number: ([amount, unit = ""]) => ({ text: String(Number(amount)), unit: unit.split(".").at(-1), kind: "number" }),
  date: (parts) => ({ text: parts.filter((part) => part !== "-1").map(pad).join("-"), kind: "date" }),
  time: (parts) => ({ text: parts.map(pad).join(":"), kind: "time" }),
  boolean: ([truth]) => ({ text: truth === "true" ? "yes" : "no", kind: "" }),
};

const typeOf = (id) => (id.includes(":") ? id.split(":").at(-1) : id.split(".").slice(0, -1).at(-1) ?? "");

/** "(list (name hut.marmot_hut) (number 3 km))" -> [{text, kind, id?, unit?}]; null for a text of another shape. */
export function values(denotation) {
  const node = tree(tokens(denotation));
  if (!node?.items) return null;
  const [head, ...items] = node.items;
  const list = head?.text === "list" ? items : [node];
  const found = list.map((item) => {
    const [kind, ...parts] = (item.items ?? [item]).map((part) => part.text);
    return READ[kind] && parts.length && parts.every((part) => part !== undefined)
      ? READ[kind](parts)
      : { text: parts.filter(Boolean).join(" ") || String(kind), kind: "" };
  });
  return found;
}

const measured = ({ text, unit }) => (unit && unit !== "count" ? `${text} ${unit}` : text);

/** The answer as an element: a table, large where it is a single value. */
export function answerTable(denotation) {
  const found = values(denotation);
  if (!found) return make("p", { class: "plain-answer" }, denotation);
  if (!found.length) return make("p", { class: "nothing" }, "Nothing matches.");
  const kinds = [...new Set(found.map((value) => value.kind))];
  const label = kinds.length === 1 && kinds[0] && kinds[0] !== "number" ? kinds[0].replaceAll("_", " ") : "value";
  const mixed = kinds.length > 1;
  const numbered = found.length > 1;
  const named = found.some((value) => value.id);
  const head = [numbered && "#", label, mixed && "type", named && "id"].filter(Boolean);
  const rows = found.map((value, i) =>
    make(
      "tr",
      {},
      numbered ? make("td", { class: "number" }, String(i + 1)) : null,
      make("td", { class: "value" }, measured(value)),
      mixed ? make("td", { class: "kind" }, value.kind) : null,
      named ? make("td", { class: "id" }, value.id ? make("code", {}, value.id) : "") : null,
    ),
  );
  return make(
    "table",
    { class: numbered ? "values" : "values single" },
    make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col", class: name === "id" ? "id" : null }, name)))),
    make("tbody", {}, ...rows),
  );
}
