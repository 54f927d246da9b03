import xterm, { type IBufferCell } from "@xterm/headless";
import type { Row, Run } from "./animation.ts";

export const back = "#16181d";
export const front = "#d5d9e0";
/** The sixteen colours that each terminal has its own values for. */
const sixteen = [
  ...["#3b4048", "#e06c75", "#8cc570", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d5d9e0"],
  ...["#6b7280", "#ff7a85", "#a5e075", "#ffd68a", "#7cc4ff", "#dd92f2", "#6fd3df", "#ffffff"],
];

/** The rows of a screen from its lines with their colours, as `tmux capture-pane -e` prints them. */
export async function rowsOf(lines: readonly string[], columns: number): Promise<readonly Row[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows: lines.length, allowProposedApi: true });
  const text = lines.map((line, row) => `\u001b[${row + 1};1H${line}`).join("");
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const { active } = terminal.buffer;
  const rows = lines.map((_, y) => {
    const runs: Run[] = [];
    for (let x = 0; x < columns; x++) {
      const cell = active.getLine(y)?.getCell(x);
      // The second half of a wide character.
      if (cell === undefined || cell.getWidth() === 0) continue;
      const next = runOf(cell, x);
      const last = runs.at(-1);
      if (last !== undefined && isAlike(last, next))
        runs[runs.length - 1] = { ...last, text: last.text + next.text, width: last.width + next.width };
      else runs.push(next);
    }
    return runs.filter((run) => run.text.trim() !== "" || run.back !== undefined);
  });
  terminal.dispose();
  return rows;
}

function runOf(cell: IBufferCell, at: number): Run {
  const colour = cell.isFgDefault() ? front : hexOf(cell.getFgColor(), cell.isFgRGB());
  const behind = cell.isBgDefault() ? back : hexOf(cell.getBgColor(), cell.isBgRGB());
  const [above, below] = cell.isInverse() ? [behind, colour] : [colour, behind];
  return {
    ...{ at, text: cell.getChars() || " ", width: cell.getWidth(), isBold: cell.isBold() !== 0 },
    // Six tenths as strong.
    colour: cell.isDim() ? `${above}99` : above,
    ...(below === back ? {} : { back: below }),
  };
}

function isAlike(one: Run, other: Run): boolean {
  const isPlain = [one, other].every(({ text, width }) => text.length === width);
  return isPlain && one.colour === other.colour && one.back === other.back && one.isBold === other.isBold;
}

function hexOf(colour: number, isWhole: boolean): string {
  const own = isWhole ? undefined : sixteen[colour];
  return own ?? `#${(isWhole ? colour : ofPalette(colour)).toString(16).padStart(6, "0")}`;
}

/** The colours from 16 on, which all terminals share: a cube with six steps in each direction, and then greys. */
function ofPalette(index: number): number {
  if (index >= 232) return (8 + (index - 232) * 10) * 0x010101;
  const step = (each: number) => (each === 0 ? 0 : 55 + each * 40);
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6];
  return (step(red) << 16) | (step(green) << 8) | step(blue);
}
