import { clip, filled, safeText, widthOf } from "./cells.ts";
import type { Input } from "./key-reader.ts";

/** A field that a person types into. */
export interface Line {
  readonly text: string;
  /** In UTF-16 units, between whole characters. */
  readonly cursor: number;
}

export const emptyLine: Line = { text: "", cursor: 0 };

export function lineOf(text: string): Line {
  return { text, cursor: text.length };
}

/** The field after a key or a paste; undefined if the input is none of the field's. */
export function edited(line: Line, input: Input): Line | undefined {
  const { text, cursor } = line;
  if (input.kind === "paste") return insert(line, input.text);
  if (input.kind !== "key") return undefined;
  const before = text.slice(0, cursor);
  const after = text.slice(cursor);
  switch (input.key) {
    case "Left":
    case "Ctrl+B":
      return { text, cursor: cursor - lengthBefore(before) };
    case "Right":
    case "Ctrl+F":
      return { text, cursor: cursor + lengthAfter(after) };
    case "Home":
    case "Ctrl+A":
      return { text, cursor: 0 };
    case "End":
    case "Ctrl+E":
      return { text, cursor: text.length };
    case "Backspace":
      return { text: before.slice(0, cursor - lengthBefore(before)) + after, cursor: cursor - lengthBefore(before) };
    case "Delete":
    case "Ctrl+D":
      return { text: before + after.slice(lengthAfter(after)), cursor };
    case "Ctrl+U":
      return { text: after, cursor: 0 };
    case "Ctrl+K":
      return { text: before, cursor };
    case "Ctrl+W": {
      const kept = before.replace(/\S*\s*$/, "");
      return { text: kept + after, cursor: kept.length };
    }
    case "Alt+Enter":
      return insert(line, "\n");
    case "Space":
      return insert(line, " ");
    default:
      return [...input.key].length === 1 ? insert(line, input.key) : undefined;
  }
}

function insert({ text, cursor }: Line, added: string): Line {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

const lengthBefore = (text: string) =>
  /[\uDC00-\uDFFF]$/.test(text.slice(-1)) ? Math.min(2, text.length) : Math.min(1, text.length);
const lengthAfter = (text: string) => (text === "" ? 0 : String.fromCodePoint(text.codePointAt(0) ?? 0).length);

/** What of the field is seen: the part around the cursor, which is shown in reverse. */
export function drawLine({ text, cursor }: Line, width: number): string {
  const room = Math.max(1, width - 1);
  // Of a long text only what can be seen is looked at.
  let before = shown(text.slice(Math.max(0, cursor - 2 * room), cursor));
  while (widthOf(before) > room - 1 && before !== "")
    before = [...before].slice(Math.max(1, widthOf(before) - room)).join("");
  const rest = text.slice(cursor, cursor + 2 * room);
  const [under = " "] = shown(rest);
  const behind = clip(shown([...rest].slice(1).join("")), Math.max(0, width - widthOf(before) - widthOf(under)), "");
  return filled(`${before}\u001b[7m${under}\u001b[27m${behind}`, width);
}

const shown = (text: string) => safeText(text.replaceAll("\n", "⏎"));
