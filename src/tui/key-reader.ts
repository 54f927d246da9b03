import { StringDecoder } from "node:string_decoder";

/** Something that a person did at the terminal, or that the terminal answered. */
export type Input =
  /** Names: a character, or Enter, Escape, Tab, Backtab, Backspace, Delete, Up, PageUp, Home …; Ctrl+C, Alt+x. */
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "paste"; readonly text: string }
  /** Columns and rows count from 0. */
  | {
      readonly kind: "mouse";
      readonly what: "press" | "wheel-up" | "wheel-down";
      readonly x: number;
      readonly y: number;
    }
  /** The terminal's background. */
  | { readonly kind: "background"; readonly isLight: boolean };

export interface KeyReader {
  feed(bytes: Uint8Array): readonly Input[];
  /** Whether a sequence has begun that is not complete. */
  isWaiting(): boolean;
  /** Nothing more has come: a lone ESC is the key Escape; the beginning of another sequence is forgotten. */
  flush(): readonly Input[];
}

/** Reads keys out of the bytes of a terminal in raw mode, in pieces of any size. */
export function createKeyReader(): KeyReader {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  /** The text of a paste that has begun. */
  let pasted: string[] | undefined;

  const read = (): readonly Input[] => {
    const inputs: Input[] = [];
    while (rest !== "") {
      if (pasted !== undefined) {
        const end = rest.indexOf(pasteEnd);
        if (end < 0) {
          // The end itself may be split.
          const kept = Math.min(rest.length, pasteEnd.length - 1);
          pasted.push(rest.slice(0, rest.length - kept));
          rest = rest.slice(rest.length - kept);
          break;
        }
        pasted.push(rest.slice(0, end));
        rest = rest.slice(end + pasteEnd.length);
        inputs.push({ kind: "paste", text: pasted.join("").replace(/\r\n?/g, "\n") });
        pasted = undefined;
        continue;
      }
      const found = next(rest);
      if (found === undefined) break;
      rest = rest.slice(found.length);
      if (found.isPaste) pasted = [];
      else if (found.input !== undefined) inputs.push(found.input);
    }
    return inputs;
  };
  return {
    feed(bytes) {
      rest += decoder.write(Buffer.from(bytes));
      return read();
    },
    isWaiting: () => rest !== "" && pasted === undefined,
    flush() {
      if (pasted !== undefined || rest === "") return [];
      const isEscape = rest === "\u001b";
      rest = "";
      return isEscape ? [key("Escape")] : [];
    },
  };
}

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
const key = (name: string): Input => ({ kind: "key", key: name });

interface Found {
  readonly length: number;
  /** Undefined for what means nothing here. */
  readonly input?: Input | undefined;
  readonly isPaste?: true;
}

/** The first input of a text; undefined if the text may be only its beginning. */
function next(text: string): Found | undefined {
  const [first = ""] = text;
  if (first !== "\u001b") return { length: first.length, input: key(plainKey(first)) };
  if (text.length === 1) return undefined;
  const second = text[1] ?? "";
  if (second === "[") return sequence(text);
  if (second === "O") {
    if (text.length === 2) return undefined;
    const name = finals[text[2] ?? ""];
    return { length: 3, input: name === undefined ? undefined : key(name) };
  }
  if (second === "]" || second === "P") return stringOf(text);
  if (second === "\u001b") return { length: 1, input: key("Escape") };
  return { length: 1 + second.length, input: key(`Alt+${plainKey(second)}`) };
}

function sequence(text: string): Found | undefined {
  if (text.startsWith(pasteStart)) return { length: pasteStart.length, isPaste: true };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is how sequences begin.
  const match = /^\u001b\[([0-?]*)[ -/]*([@-~])/.exec(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the same, without its end.
  if (match === null) return /^\u001b\[[0-?]*[ -/]*$/.test(text) && text.length < 64 ? undefined : { length: 2 };
  const [whole, codes = "", final = ""] = match;
  const mouse = /^<(\d+);(\d+);(\d+)$/.exec(codes);
  if (mouse !== null) return { length: whole.length, input: mouseInput(mouse, final) };
  const [number = "", modifier = "1"] = codes.split(";");
  const name = final === "~" ? tildes[number] : final === "Z" ? "Backtab" : finals[final];
  return { length: whole.length, input: name === undefined ? undefined : key(withModifier(name, Number(modifier))) };
}

function mouseInput([, button, x, y]: RegExpExecArray, final: string): Input | undefined {
  const what = button === "64" ? "wheel-up" : button === "65" ? "wheel-down" : button === "0" ? "press" : undefined;
  return what === undefined || final === "m" ? undefined : { kind: "mouse", what, x: Number(x) - 1, y: Number(y) - 1 };
}

/** An answer of the terminal: of these only the background counts. */
function stringOf(text: string): Found | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is how such answers end.
  const match = /^\u001b[\]P]([^\u0007\u001b]*)(\u0007|\u001b\\)/.exec(text);
  if (match === null) return text.length < maxAnswer ? undefined : { length: 2 };
  const [whole, said = ""] = match;
  const [, ...colours] = /^11;rgba?:([\da-f]+)\/([\da-f]+)\/([\da-f]+)/i.exec(said) ?? [];
  if (colours.length < 3) return { length: whole.length };
  const [red = 0, green = 0, blue = 0] = colours.map((each) => Number.parseInt(each, 16) / (16 ** each.length - 1));
  return { length: whole.length, input: { kind: "background", isLight: 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 } };
}

const maxAnswer = 200;

function withModifier(name: string, modifier: number): string {
  const bits = modifier - 1;
  return `${bits & 4 ? "Ctrl+" : ""}${bits & 2 ? "Alt+" : ""}${bits & 1 ? "Shift+" : ""}${name}`;
}

function plainKey(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const named = controls[code];
  if (named !== undefined) return named;
  return code < 0x20 ? `Ctrl+${String.fromCharCode(code + 0x40)}` : character;
}

const controls: Readonly<Record<number, string>> = {
  8: "Backspace",
  9: "Tab",
  10: "Enter",
  13: "Enter",
  27: "Escape",
  32: "Space",
  127: "Backspace",
};
const finals: Readonly<Record<string, string>> = {
  A: "Up",
  B: "Down",
  C: "Right",
  D: "Left",
  F: "End",
  H: "Home",
  M: "Enter",
};
const tildes: Readonly<Record<string, string>> = {
  1: "Home",
  3: "Delete",
  4: "End",
  5: "PageUp",
  6: "PageDown",
  7: "Home",
  8: "End",
};
