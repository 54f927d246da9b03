// What `capture-pane -e` writes for cells of the line-drawing set, which it brackets with shift-out and shift-in.
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

/** What tmux has captured, with no control but line ends and those that set colours and styles. */
export function styledText(captured: string): string {
  return captured
    .replace(shifted, (_, cells: string) => drawLines(cells))
    .replace(sequence, (_, kept: string | undefined) => kept ?? "")
    .replace(control, "");
}

/** The same as plain text, without the spaces that fill lines up. */
export function plainText(captured: string): string {
  return styledText(captured).replaceAll(new RegExp(style, "g"), "").replaceAll(esc, "").replace(/[ ]+$/gm, "");
}

/** Styles may stand between the cells; their letters are no cells. */
function drawLines(cells: string): string {
  return cells
    .split(new RegExp(`(${style})`))
    .map((part, index) => (index % 2 === 1 ? part : [...part].map((cell) => drawn[cell] ?? cell).join("")))
    .join("");
}
