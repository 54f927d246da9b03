import { styledText } from "./typing.ts";

/** A captured line made independent of the lines before it, and the style in which the next one begins. */
export interface Row {
  readonly raw: string;
  readonly begin: string;
  readonly text: string;
  readonly end: string;
}

const esc = "\u001b";
const [shiftOut, shiftIn] = ["\u000e", "\u000f"];

/**
 * Makes rows of captured lines. Tmux writes a style once, and lets the following lines continue in it. Rows that did not
 * change are taken from the earlier ones.
 */
export function rowsOf(captured: readonly string[], earlier: readonly Row[] = []): readonly Row[] {
  let begin = "";
  return captured.map((raw, at) => {
    const known = earlier[at];
    const row = known?.raw === raw && known.begin === begin ? known : rowOf(raw, begin);
    begin = row.end;
    return row;
  });
}

function rowOf(raw: string, begin: string): Row {
  const styled = styledText(begin + raw);
  const slots = new Map<string, string>();
  for (const [, parameters = ""] of styled.matchAll(sgr)) apply(slots, parameters);
  const style = slots.size === 0 ? "" : `${esc}[${[...slots.values()].join(";")}m`;
  const isShifted =
    raw.lastIndexOf(shiftOut) > raw.lastIndexOf(shiftIn) || (begin.endsWith(shiftOut) && !raw.includes(shiftIn));
  // Spaces in the default style look like empty cells.
  const text = slots.size === 0 ? styled.replace(/ +$/, "") : styled;
  return { raw, begin, text, end: style + (isShifted ? shiftOut : "") };
}

const sgr = new RegExp(`${esc}\\[([0-9;:]*)m`, "g");

/** What a parameter sets, and which parameters end it. */
const attributes: Readonly<Record<string, string>> = {
  ...{ 1: "bold", 2: "dim", 3: "italics", 4: "underline", 5: "blink", 6: "blink", 7: "reverse", 8: "hidden" },
  ...{ 9: "strike", 21: "underline", 53: "overline", 38: "text", 48: "background", 58: "line" },
};
const endings: Readonly<Record<string, readonly string[]>> = {
  ...{ 22: ["bold", "dim"], 23: ["italics"], 24: ["underline"], 25: ["blink"], 27: ["reverse"], 28: ["hidden"] },
  ...{ 29: ["strike"], 55: ["overline"], 39: ["text"], 49: ["background"], 59: ["line"] },
};

function apply(slots: Map<string, string>, parameters: string): void {
  const all = parameters.split(";");
  for (let at = 0; at < all.length; at++) {
    const whole = all[at] ?? "";
    const code = Number(whole.split(":")[0]);
    if (code === 0) {
      slots.clear();
      continue;
    }
    const ended = whole === "4:0" ? ["underline"] : endings[code];
    if (ended !== undefined) {
      for (const slot of ended) slots.delete(slot);
      continue;
    }
    const slot = attributes[code] ?? colourSlot(code);
    if (slot === undefined) continue;
    // A colour takes two or four more parameters, unless they are joined by colons.
    const isOpen = (code === 38 || code === 48 || code === 58) && !whole.includes(":");
    const size = isOpen ? (all[at + 1] === "2" ? 5 : 3) : 1;
    slots.set(slot, all.slice(at, at + size).join(";"));
    at += size - 1;
  }
}

function colourSlot(code: number): string | undefined {
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return "text";
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return "background";
  return undefined;
}
