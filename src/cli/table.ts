import { displayWidth } from "./display-width.ts";
import { longestPiece, wrapMessage } from "./wrap.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** Changes the look of a cell, never its width. */
  readonly paint?: (cell: string, row: number) => string;
  /** Says itself what it is, so that it needs no title where it stands below the others. */
  readonly isText?: boolean;
}

/** Beside other columns, text that has less room than this is harder to read than below them. */
const leastRoom = 24;
const indent = 4;

/**
 * Rows under aligned titles, two spaces apart. What does not fit into the last column goes on below. Where there is no room
 * for all columns, the last ones stand below each row with their titles in front of them; names and paths are never cut.
 */
export function writeTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const widths = columns.map(({ title }, i) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[i] ?? ""))),
  );
  const beside = columnsBeside(widths, width);
  const before = total(widths.slice(0, columns.length - 1));
  const below = columns.slice(beside);
  const labels = Math.max(0, ...below.map(({ title, isText }) => (isText ? 0 : title.length)));
  /** The last cell of some rows may have a piece that is too long for the room beside the others. */
  const stays = (cell: string, i: number) =>
    i < beside && (i < columns.length - 1 || before === 0 || longestPiece(cell) <= width - before);
  const write = (cells: readonly string[], number: number | undefined) =>
    columns
      .slice(0, beside)
      .map(({ align, paint = String }, i) => {
        const cell = stays(cells[i] ?? "", i) ? (cells[i] ?? "") : "";
        const gap = " ".repeat(Math.max(0, (widths[i] ?? 0) - displayWidth(cell)));
        const isLast = i === columns.length - 1;
        const text = isLast ? wrapMessage(cell, width - before, " ".repeat(before)) : cell;
        const painted = number === undefined ? text : paint(text, number);
        return align === "right" ? gap + painted : isLast ? painted : painted + gap;
      })
      .join("  ")
      .trimEnd();
  const writeBelow = (cells: readonly string[], number: number) =>
    columns.flatMap(({ title, isText, paint = String }, i) => {
      const cell = cells[i] ?? "";
      if (cell === "" || cell === "–" || stays(cell, i)) return [];
      const start = " ".repeat(indent) + (isText || i < beside ? "" : `${title.toLowerCase().padEnd(labels)}  `);
      return [start + paint(wrapMessage(cell, width - start.length, " ".repeat(start.length)), number)];
    });
  const titles = columns.map(({ title }) => title);
  return [write(titles, undefined), ...rows.flatMap((row, i) => [write(row, i), ...writeBelow(row, i)])].join("\n");
}

/** How many columns stand beside each other: all, if there is room for text in the last one. */
function columnsBeside(widths: readonly number[], width: number): number {
  const last = widths.at(-1) ?? 0;
  if (width - total(widths.slice(0, -1)) >= Math.min(leastRoom, last)) return widths.length;
  let beside = widths.length - 1;
  while (beside > 1 && total(widths.slice(0, beside)) - 2 > width) beside--;
  return Math.max(1, beside);
}

/** With the space behind each. */
function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + 2, 0);
}
