// The OpenAPI document as a page: what each endpoint takes and gives, with a command to try it.

import { $, make, show } from "./dom.js";

const follow = (document, schema) =>
  schema?.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : schema;

const bodySchema = (document, content) => follow(document, content?.content?.["application/json"]?.schema);

function kind(document, schema) {
  const options = (schema.anyOf ?? [schema]).map((option) => {
    if (option.$ref) return option.$ref.split("/").at(-1);
    return option.type === "array" ? `list of ${kind(document, option.items)}` : option.type;
  });
  const limited = [schema, ...(schema.anyOf ?? [])];
  const limit = (name) => limited.find((option) => option[name] !== undefined)?.[name];
  const told = options.filter((option) => option !== "null").join(" or ");
  const notes = [];
  if (limit("maxLength")) notes.push(`at most ${limit("maxLength")} characters`);
  if (limit("maximum")) notes.push(`${limit("minimum")} to ${limit("maximum")}`);
  if (options.includes("null")) notes.push("may be null");
  if (schema.default !== undefined && schema.default !== null) notes.push(`default ${schema.default}`);
  return notes.length ? `${told}, ${notes.join(", ")}` : told;
}

function fields(document, schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) =>
    make(
      "tr",
      {},
      make("td", {}, make("code", {}, name)),
      make("td", {}, kind(document, property)),
      make("td", {}, property.description ?? ""),
    ),
  );
  return make("table", { class: "fields" }, make("tbody", {}, ...rows));
}

/** The schemas a schema speaks of, itself left out. */
function parts(document, schema, found = new Map()) {
  for (const reference of JSON.stringify(schema ?? {}).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (found.has(reference[1])) continue;
    found.set(reference[1], document.components.schemas[reference[1]]);
    parts(document, found.get(reference[1]), found);
  }
  return found;
}

function example(document, schema) {
  const required = schema.required ?? [];
  return Object.fromEntries(
    required.map((name) => {
      const property = schema.properties[name];
      return [name, property.examples?.[0] ?? property.default ?? ""];
    }),
  );
}

function curl(method, path, body) {
  const address = `${location.origin}${path}`;
  if (!body) return `curl ${address}`;
  return `curl ${address} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}

function operation(document, path, method, told) {
  const request = bodySchema(document, told.requestBody);
  const success = Object.entries(told.responses).find(([status]) => status.startsWith("2"))?.[1];
  const response = bodySchema(document, success);
  return make(
    "section",
    { class: "card" },
    make("h2", { class: "operation" }, make("span", { class: "method" }, method.toUpperCase()), make("code", {}, path)),
    make("p", { class: "muted" }, told.description ?? told.summary ?? ""),
    ...(request ? [make("h3", {}, "Takes"), fields(document, request)] : []),
    ...(response ? [make("h3", {}, "Gives"), fields(document, response)] : []),
    ...[...parts(document, response)].flatMap(([name, schema]) => [make("h3", {}, name), fields(document, schema)]),
    make("h3", {}, "Try it"),
    make("pre", {}, curl(method, path, request && example(document, request))),
  );
}

/** What every endpoint may answer instead. */
function errors(document) {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const found = Object.assign({}, ...operations.map((told) => told.responses));
  const rows = Object.entries(found)
    .filter(([status]) => status >= "400")
    .map(([status, told]) => make("tr", {}, make("td", {}, make("code", {}, status)), make("td", {}, told.description)));
  return make(
    "section",
    { class: "card" },
    make("h2", { class: "operation" }, "Errors"),
    make("p", { class: "muted" }, 'A JSON object with one field: {"error": "what is wrong"}.'),
    make("table", { class: "fields errors" }, make("tbody", {}, ...rows)),
  );
}

async function start() {
  const told = await (await fetch("/openapi.json")).json();
  $("lead").textContent = told.info.description;
  const sections = Object.entries(told.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, details]) => operation(told, path, method, details)),
  );
  $("operations").replaceChildren(...sections, errors(told));
}

start().catch(() => {
  $("problem").textContent = "The API's description could not be loaded.";
  show($("problem"), true);
});
