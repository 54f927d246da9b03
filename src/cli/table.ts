import { wrap } from "./wrap.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** Changes the look of a cell, never its width. */
  readonly paint?: (cell: string, row: number) => string;
}

/** Rows under aligned titles, two spaces apart. What does not fit into the last column goes on below. */
export function writeTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  const write = (cells: readonly string[], number: number | undefined) =>
    columns
      .map(({ align, paint }, i) => {
        const cell = cells[i] ?? "";
        const gap = " ".repeat((widths[i] ?? 0) - cell.length);
        const painted = paint === undefined || number === undefined ? cell : paint(cell, number);
        if (align === "right") return gap + painted;
        return i === columns.length - 1 ? wrap(painted, width - before, " ".repeat(before)) : painted + gap;
      })
      .join("  ")
      .trimEnd();
  return [
    write(
      columns.map(({ title }) => title),
      undefined,
    ),
    ...rows.map(write),
  ].join("\n");
}
