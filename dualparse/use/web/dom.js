// Elements without markup: whatever comes from a server or a person becomes a text node or a plain attribute.

export const $ = (id) => document.getElementById(id);

/** make("button", {class: "chip", type: "button", onclick: f}, "text", otherElement) */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export function show(element, visible) {
  element.hidden = !visible;
}

/** Keys move between the items of a group, which is one stop for the Tab key. */
export function rove(container, selector) {
  const items = () => [...container.querySelectorAll(selector)];
  container.addEventListener("keydown", (event) => {
    const all = items();
    const here = all.indexOf(document.activeElement);
    const steps = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 };
    const next = all[steps[event.key]];
    if (here < 0 || !(event.key in steps)) return;
    event.preventDefault();
    next?.focus();
  });
  container.addEventListener("focusin", (event) => {
    for (const item of items()) item.tabIndex = item === event.target ? 0 : -1;
  });
}

/** A text as a sentence: a capital, and an end where it has none. */
export const sentence = (text, end = ".") => {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return end && !/[.!?:]$/.test(whole) ? whole + end : whole;
};
