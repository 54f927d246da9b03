/**
 * The names of the tables in a TOML text: `tool.pytest.ini_options`. Undefined where it is not TOML. No values are read,
 * but enough is understood that nothing inside a value is taken for a table.
 */
export function tomlTables(text: string): readonly string[] | undefined {
  const tables: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? "";
    if (char === "[") {
      const name = tableName(text.slice(i, lineEnd(text, i)));
      if (name === undefined) return undefined;
      tables.push(name);
    }
    if (char === "[" || char === "#") i = lineEnd(text, i);
    else if (!/[\s\uFEFF]/.test(char)) {
      const end = entryEnd(text, i);
      if (end === undefined) return undefined;
      i = end;
    }
  }
  return tables;
}

function tableName(line: string): string | undefined {
  const [, double, single] = /^(?:\[\[([^[\]]+)\]\]|\[([^[\]]+)\])[ \t]*(?:#.*)?\r?$/.exec(line) ?? [];
  return (double ?? single)
    ?.split(".")
    .map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .join(".");
}

/** Where the line ends that ends `key = value`; undefined where it is something else. */
function entryEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let hasValue = false;
  for (let i = start; i < text.length; i++) {
    const char = text[i] ?? "";
    if (char === "=") hasValue = true;
    else if (char === "[" || char === "{") depth++;
    else if (char === "]" || char === "}") depth--;
    else if (char === "#") i = lineEnd(text, i) - 1;
    else if (char === '"' || char === "'") i = textEnd(text, i, char);
    else if (char === "\n" && depth === 0) return hasValue ? i : undefined;
    if (depth < 0) return undefined;
    if (i === text.length) return undefined;
  }
  return hasValue && depth === 0 ? text.length : undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** The index of the last quote of the text that begins at `start`; the length of everything where it never ends. */
function textEnd(text: string, start: number, quote: string): number {
  const isLong = text.startsWith(quote.repeat(3), start);
  const closing = isLong ? quote.repeat(3) : quote;
  for (let i = start + closing.length; i < text.length; i++) {
    if (text[i] === "\\" && quote === '"') i++;
    else if (text[i] === "\n" && !isLong) return text.length;
    else if (text.startsWith(closing, i)) {
      // """a"""" ends with a quote that belongs to the text.
      while (isLong && text[i + closing.length] === quote) i++;
      return i + closing.length - 1;
    }
  }
  return text.length;
}
