import { expect, test } from "vitest";
import { patchRows } from "./patch-rows.ts";
import type { TaskRow as Row } from "./task-lists.ts";

const row = (id: string, more: Partial<Row> = {}) =>
  ({ id, revision: 1, number: 1, createdAt: `2026-11-1${id}`, updatedAt: "", ask: null, ...more }) as Row;
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);
const rows = [row("3"), row("2"), row("1")];

test("rows that changed are replaced where they are, and the others stay the same objects", () => {
  const next = row("2", { revision: 2 });
  const patched = patchRows(rows, new Set(["2"]), [next], "newest");
  expect(patched[1]).toBe(next);
  expect([patched[0], patched[2]]).toEqual([rows[0], rows[2]]);
  expect(patched[0]).toBe(rows[0]);
});

test("a row that was read again and does not belong to the list any more leaves it", () => {
  expect(ids(patchRows(rows, new Set(["2", "9"]), [], "newest"))).toEqual(["3", "1"]);
});

test("a row that has come to belong to the list is put in its place, not at the end", () => {
  expect(ids(patchRows([row("4"), row("1")], new Set(["3"]), [row("3")], "newest"))).toEqual(["4", "3", "1"]);
  const waits = (id: string, since: string) => row(id, { ask: { since } as Row["ask"] });
  const waiting = patchRows([waits("a", "09"), waits("b", "12")], new Set(["c"]), [waits("c", "10")], "waiting");
  expect(ids(waiting)).toEqual(["a", "c", "b"]);
});

test("an answer that was overtaken by a later one changes nothing, and nothing is drawn again", () => {
  const list = [row("1", { revision: 5 })];
  expect(patchRows(list, new Set(["1"]), [row("1", { revision: 4 })], "newest")).toBe(list);
  expect(patchRows(list, new Set(["7"]), [], "newest")).toBe(list);
});
