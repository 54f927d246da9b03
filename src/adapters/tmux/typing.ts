import { Fault } from "../../fault.ts";
import { type Ask, asArgument, type TmuxEnd, windowName } from "./run-tmux.ts";

const form =
  /^(?:[CMS]-)*(?:Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PPage|NPage|PageUp|PageDown|DC|IC|F(?:[1-9]|1[0-2])|[!-~])$|^[^\p{C}\p{Z}]$/u;

/** Checks the names of keys: tmux would type an unknown name letter by letter. */
export function checkKeys(keys: readonly string[]): readonly string[] {
  const wrong = keys.find((key) => !form.test(key));
  if (wrong === undefined) return keys;
  throw new Fault("terminal.key", `${JSON.stringify(wrong.slice(0, 40))} is not the name of a key.`, {
    hint: 'Names of keys are "Enter", "Escape", "C-u", … and single characters; paste longer texts.',
  });
}

// The letters that `capture-pane -e` writes for line-drawing cells, between shift-out and shift-in.
const drawn: Readonly<Record<string, string>> = {
  "`": "◆",
  a: "▒",
  f: "°",
  g: "±",
  j: "┘",
  k: "┐",
  l: "┌",
  m: "└",
  n: "┼",
  o: "⎺",
  p: "⎻",
  q: "─",
  r: "⎼",
  s: "⎽",
  t: "├",
  u: "┤",
  v: "┴",
  w: "┬",
  x: "│",
  y: "≤",
  z: "≥",
  "{": "π",
  "|": "≠",
  "}": "£",
  "~": "·",
};

const esc = "\u001b";
const [shiftOut, shiftIn, bell] = ["\u000e", "\u000f", "\u0007"];
const shifted = new RegExp(`${shiftOut}([^${shiftIn}]*)(?:${shiftIn}|$)`, "g");
const style = `${esc}\\[[0-9;:]*m`;
const otherSequences = [
  `${esc}\\[[0-?]*[ -/]*[@-~]`,
  `${esc}[\\]P_^X][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?`,
  `${esc}[ -/]*[0-~]?`,
];
const sequence = new RegExp(`(${style})|${otherSequences.join("|")}`, "g");
const control = new RegExp(`[^\\P{Cc}\\n${esc}]`, "gu");

/** Captured text without control characters, except line ends and sequences for colours and styles. */
export function styledText(captured: string): string {
  return captured
    .replace(shifted, (_, cells: string) => drawLines(cells))
    .replace(sequence, (_, kept: string | undefined) => kept ?? "")
    .replace(control, "");
}

/** The same as plain text, without trailing spaces. */
export function plainText(captured: string): string {
  return styledText(captured).replaceAll(new RegExp(style, "g"), "").replaceAll(esc, "").replace(/[ ]+$/gm, "");
}

/** Style sequences may be between the cells; their letters are not cells. */
function drawLines(cells: string): string {
  return cells
    .split(new RegExp(`(${style})`))
    .map((part, index) => (index % 2 === 1 ? part : [...part].map((cell) => drawn[cell] ?? cell).join("")))
    .join("");
}

interface Typed {
  readonly end: TmuxEnd;
  /** Whether the program has ended in the meantime. */
  readonly isDead: boolean;
}

/** Pastes a text from `typedText` into a program's input; a bracketed paste if the program supports it. */
export async function pasteInto(ask: Ask, target: string, run: string, text: string): Promise<Typed> {
  const buffer = windowName(run);
  // Checked in the same command: some tmux servers crash on a paste into a dead pane.
  const guard = ["if-shell", "-F", "-t", target, "#{pane_dead}"];
  const choice = [
    `delete-buffer -b ${buffer} ; display-message -p dead`,
    `paste-buffer -p -r -d -b ${buffer} -t ${target}`,
  ];
  const end = await ask(["load-buffer", "-b", buffer, "-", ";", ...leaveView(target), ...guard, ...choice], text);
  if (end.code !== 0) await ask(["delete-buffer", "-b", buffer]);
  return { end, isDead: end.stdout.trim() === "dead" };
}

export function pressInto(ask: Ask, target: string, keys: readonly string[]): Promise<TmuxEnd> {
  return ask([...leaveView(target), "send-keys", "-t", target, "--", ...keys.map(asArgument)]);
}

/**
 * Leaves the scrollback view. If a person has it open, keys would go to the view, and tmux would paste without
 * brackets, so that the program would submit each line.
 */
function leaveView(target: string): readonly string[] {
  return ["copy-mode", "-q", "-t", target, ";"];
}

/**
 * Makes a text safe to paste. An escape character could end the paste, and the program would take the rest for keys, so
 * all control characters except line ends and tabs are removed.
 */
export function typedText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");
}
