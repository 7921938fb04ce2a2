// The service's endpoints as functions. Failures are `Problem`s with a text for people.

export class Problem extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const KEY = "dualparse-token";
const token = () => sessionStorage.getItem(KEY);
export const keepToken = (text) => sessionStorage.setItem(KEY, text);

async function send(path, body, signal) {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token()) headers.Authorization = `Bearer ${token()}`;
  let response;
  try {
    response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The service cannot be reached.");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Problem(told.error ?? `The service answered ${response.status}.`, response.status);
}

const call = async (...given) => (await send(...given)).json();

export const domains = () => call("/domains");
export const ask = (run, question, signal) => call("/ask", { run, question }, signal);
export const rows = (run, question, form, offset, signal) => call("/run", { run, question, form, offset }, signal);
export const csv = async (run, question, form) => (await send("/export", { run, question, form })).blob();
export const feedback = (run, question, judgement, form, of) => call("/feedback", { run, question, judgement, form, of });
export const parse = (run, question, signal) => call("/parse", { run, question, k: 5 }, signal);
export const explain = (run, question, form, signal) => call("/explain", { run, question, form }, signal);
export const verbalize = (run, form, signal) => call("/verbalize", { run, form, k: 3 }, signal);

/** Only the newest of a kind of request counts: starting one ends the one before. */
export function latest() {
  let controller = new AbortController();
  return () => {
    controller.abort();
    controller = new AbortController();
    return controller.signal;
  };
}
