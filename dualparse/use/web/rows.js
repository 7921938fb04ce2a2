// Rows of an answer -> a table of bounded height, or one large value.

import { make } from "./dom.js";

const PLAIN = ["", "count", "money"]; // units that are not said
const SMALL = { millisecond: 0.001, second: 1 }; // seconds; from a minute on people write hours, minutes and seconds

/** A unit beside a number, as people write it: 1 hour, 3 hours, 7.4 km, 1 h 28 min 7 s. */
export function withUnit(number, unit) {
  const text = amount(number, unit);
  if (PLAIN.includes(unit) || isClock(number, unit)) return text;
  return `${text} ${number === 1 ? unit : many(unit)}`;
}

const many = (unit) => (unit.length < 3 || unit.endsWith("s") || unit === "percent" ? unit : `${unit}s`);

const isClock = (number, unit) => unit in SMALL && Math.abs(number) * SMALL[unit] >= 60;

/** A number without its unit: at most three decimals, and separators where it has a unit; without one it may be a year. */
function amount(number, unit) {
  if (isClock(number, unit)) return clock(Math.round(number * SMALL[unit]));
  const rounded = Math.round(number * 1000) / 1000;
  return unit ? rounded.toLocaleString("en", { maximumFractionDigits: 3 }) : String(rounded);
}

function clock(seconds) {
  const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
  return parts.filter(([value]) => value).map(([value, name]) => `${value} ${name}`).join(" ");
}

export function cell(value, unit = "") {
  if (value === null) return "not recorded";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return withUnit(value, unit);
  return String(value);
}

/** Whether an answer is one value, which is shown large. */
const single = ({ rows, columns, total }) => total === 1 && rows.length === 1 && columns.length === 1;

/** A reply of the service -> an element. */
export function answerOf(reply) {
  const { kind, rows, columns, units } = reply;
  if (!kind) return make("p", { class: "nothing" }, "This data cannot be searched here: the logical form below is the answer.");
  if (kind === "none" || !rows.length) return make("p", { class: "large" }, "None");
  if (kind === "yes_no") return make("p", { class: "large" }, rows[0][0] ? "Yes" : "No");
  if (single(reply)) return make("p", { class: "large" }, cell(rows[0][0], units[0]));
  return table(reply, units.length ? units : columns.map(() => ""));
}

function table({ columns, rows, offset }, units) {
  const numeric = columns.map((_, i) => rows.every((row) => row[i] === null || typeof row[i] === "number"));
  const head = columns.map((name, i) => {
    const said = PLAIN.includes(units[i]) || units[i] in SMALL || name.split(" ").includes(many(units[i]));
    const unit = said ? "" : ` (${many(units[i])})`;
    return make("th", { scope: "col", class: numeric[i] ? "amount" : null }, `${name}${unit}`);
  });
  const body = rows.map((row, n) =>
    make(
      "tr",
      {},
      make("td", { class: "number" }, String(offset + n + 1)),
      ...row.map((value, i) =>
        make("td", { class: value === null ? "missing" : numeric[i] ? "amount" : null }, typeof value === "number" ? (units[i] in SMALL ? withUnit : amount)(value, units[i]) : cell(value)),
      ),
    ),
  );
  return make(
    "div",
    { class: "scroll", role: "region", "aria-label": "Rows of the answer", tabindex: 0 },
    make(
      "table",
      { class: "values" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "number" }, make("span", { class: "hidden" }, "Row"), "#"), ...head)),
      make("tbody", {}, ...body),
    ),
  );
}

/** "5 rows", "97", "none": an answer in a few words. */
export function inShort(reply) {
  if (reply.status === "ambiguous") return `${reply.choices.length} readings`;
  if (reply.status !== "answered") return "no answer";
  if (!reply.kind) return "a logical form";
  if (reply.kind === "none" || !reply.rows.length) return "none";
  if (reply.kind === "yes_no") return reply.rows[0][0] ? "yes" : "no";
  if (single(reply)) return cell(reply.rows[0][0], reply.units[0]);
  return `${count(reply)} rows`;
}

/** How many rows there are; the database may have been told to stop. */
export function count(reply) {
  const cut = reply.truncated && reply.offset + reply.rows.length >= reply.total;
  return `${cut ? "at least " : ""}${reply.total.toLocaleString("en")}`;
}
