// Logical forms as text -> trees -> lines that people can read. A token keeps its number in the form.

const WIDTH = 46; // a list that is longer is broken into lines

/** "( count ( all hut ) )" -> ["(", "count", "(", ...] */
export function tokens(text) {
  return text.replaceAll("(", " ( ").replaceAll(")", " ) ").split(/\s+/).filter(Boolean);
}

/** Tokens -> nested {open, items, close} and {atom, text}, or null where the parentheses do not match. */
export function tree(list) {
  const top = { items: [] };
  const stack = [top];
  for (const [number, text] of list.entries()) {
    const current = stack.at(-1);
    if (text === "(") {
      const node = { open: number, items: [], close: -1 };
      current.items.push(node);
      stack.push(node);
    } else if (text === ")") {
      if (stack.length === 1) return null;
      stack.pop().close = number;
    } else current.items.push({ atom: number, text });
  }
  return stack.length === 1 && top.items.length === 1 ? top.items[0] : null;
}

const width = (node) => ("text" in node ? node.text.length : node.items.reduce((sum, item) => sum + width(item) + 1, 1));

/** Tree -> lines {indent, parts: [{number, text, kind}]}; kind: "paren", "head" or "atom". */
export function lines(node, limit = WIDTH) {
  const result = [];
  let line;
  const begin = (indent) => result.push((line = { indent, parts: [] }));
  const put = (number, text, kind) => line.parts.push({ number, text, kind });
  const place = (item, indent, first) => {
    if ("text" in item) return put(item.atom, item.text, first ? "head" : "atom");
    put(item.open, "(", "paren");
    const broken = width(item) + indent * 2 > limit;
    item.items.forEach((child, i) => {
      // Atoms stay beside what they follow; lists of a broken list get lines of their own.
      const own = broken && i > 0 && (!("text" in child) || !("text" in item.items[i - 1]));
      if (own) begin(indent + 1);
      else if (i > 0) put(-1, " ", "space");
      place(child, own ? indent + 1 : indent, i === 0);
    });
    put(item.close, ")", "paren");
  };
  begin(0);
  place(node, 0, false);
  return result;
}

/** A form as indented text, for the editor; a text that is no form stays as it is. */
export function pretty(text) {
  const node = tree(tokens(text));
  if (!node) return text;
  return lines(node)
    .map(({ indent, parts }) => "  ".repeat(indent) + parts.map((part) => part.text).join(""))
    .join("\n");
}
