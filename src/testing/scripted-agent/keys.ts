import { StringDecoder } from "node:string_decoder";

/** What a person or a program did at the terminal. */
export type Key =
  /** Typed, character by character as far as we can tell. */
  | { readonly kind: "text"; readonly text: string }
  /** Came between the marks of a bracketed paste. */
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "enter" | "newline" | "escape" | "interrupt" | "end" | "clear" | "backspace" };

// How long an escape may be the beginning of something longer.
const patience = 50;
const pasteBegin = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const controls: Readonly<Record<string, Key>> = {
  "\r": { kind: "enter" },
  "\n": { kind: "newline" },
  "\x03": { kind: "interrupt" },
  "\x04": { kind: "end" },
  "\x15": { kind: "clear" },
  "\x7f": { kind: "backspace" },
  "\b": { kind: "backspace" },
};

/** Reads keys from bytes that come in pieces of any size. */
export function createKeyReader(onKey: (key: Key) => void): (chunk: Uint8Array) => void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let pasted: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const takePaste = (): boolean => {
    // The mark may be cut in two.
    const end = rest.indexOf(pasteEnd);
    const kept = end === -1 ? Math.max(0, rest.length - pasteEnd.length + 1) : end;
    pasted = (pasted ?? "") + rest.slice(0, kept);
    rest = end === -1 ? rest.slice(kept) : rest.slice(end + pasteEnd.length);
    if (end === -1) return false;
    const text = pasted.replace(/\r\n?/g, "\n");
    pasted = undefined;
    onKey({ kind: "paste", text });
    return true;
  };

  /** False where more must come before anything can be said. */
  const takeEscape = (isLate: boolean): boolean => {
    if (rest.startsWith(pasteBegin)) {
      rest = rest.slice(pasteBegin.length);
      pasted = "";
      return true;
    }
    const tail = rest.slice(1);
    const [sequence] = /^(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/.exec(tail) ?? [];
    if (sequence !== undefined) {
      rest = tail.slice(sequence.length);
      return true;
    }
    if (rest.startsWith("\x1b\r")) {
      rest = rest.slice(2);
      onKey({ kind: "newline" });
      return true;
    }
    if (!isLate && /^(?:\[[0-?]*[ -/]*|O)?$/.test(tail)) return false;
    rest = tail;
    onKey({ kind: "escape" });
    return true;
  };

  const takePlain = (): void => {
    const [text] = /^(?:\P{Cc}|\t)+/u.exec(rest) ?? [];
    rest = rest.slice(text?.length ?? 1);
    if (text !== undefined) onKey({ kind: "text", text });
  };

  const take = (isLate: boolean): void => {
    while (rest !== "") {
      const control = pasted === undefined ? controls[rest[0] ?? ""] : undefined;
      if (control !== undefined) {
        rest = rest.slice(1);
        onKey(control);
      } else if (pasted !== undefined) {
        if (!takePaste()) return;
      } else if (rest.startsWith("\x1b")) {
        if (!takeEscape(isLate)) return;
      } else takePlain();
    }
  };

  return (chunk) => {
    clearTimeout(timer);
    rest += decoder.write(Buffer.from(chunk));
    take(false);
    if (rest.startsWith("\x1b") && pasted === undefined) timer = setTimeout(() => take(true), patience);
  };
}
