import type { DiffPart } from "../api/work-routes.ts";
import type { Context } from "./context.ts";
import { count } from "./count.ts";

/** A patch in colours, where somebody sees them. */
export function paintPatch(text: string, { paint }: Pick<Context, "paint">): string {
  const lines = text.split("\n");
  let isHead = false;
  const painted = lines.map((line) => {
    if (line.startsWith("diff --git ")) isHead = true;
    else if (line.startsWith("@@")) isHead = false;
    if (isHead) return paint.bold(line);
    if (line.startsWith("@@")) return paint.cyan(line);
    if (line.startsWith("+")) return paint.green(line);
    return line.startsWith("-") ? paint.red(line) : line;
  });
  return painted.join("\n");
}

/** How many lines of each file have changed, and of all together. */
export function writeStat({ files }: DiffPart, { paint, columns }: Pick<Context, "paint" | "columns">): string {
  if (files.length === 0) return "";
  const shown = files.map(({ path, from, added, deleted }) => ({
    name: from === null ? path : `${from} → ${path}`,
    added: added ?? 0,
    deleted: deleted ?? 0,
    isBinary: added === null,
  }));
  const width = Math.max(...shown.map(({ name }) => name.length));
  const most = Math.max(...shown.map(({ added, deleted }) => added + deleted));
  const room = Math.max(10, Math.min(40, columns - width - 12));
  const scale = most > room ? room / most : 1;
  const signs = (sign: string, number: number) =>
    sign.repeat(number === 0 ? 0 : Math.max(1, Math.round(number * scale)));
  const lines = shown.map(({ name, added, deleted, isBinary }) => {
    const bar = paint.green(signs("+", added)) + paint.red(signs("-", deleted));
    return ` ${name.padEnd(width)} | ${isBinary ? "binary" : `${String(added + deleted).padStart(5)} ${bar}`}`.trimEnd();
  });
  const [added, deleted] = [sum(shown.map((each) => each.added)), sum(shown.map((each) => each.deleted))];
  const all = `${count(files.length, "file")}, ${count(added, "line")} added, ${count(deleted, "line")} deleted`;
  return `${[...lines, ` ${all}`].join("\n")}\n`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
