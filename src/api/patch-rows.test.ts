import { expect, test } from "vitest";
import { belongsTo, isPlain, patchRows } from "./patch-rows.ts";
import type { TaskRow as Row } from "./task-lists.ts";

const row = (id: string, more: Partial<Row> = {}) =>
  ({ id, revision: 1, number: 1, createdAt: `2026-11-1${id}`, updatedAt: "", needs: [], ...more }) as Row;
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);
const rows = [row("3"), row("2"), row("1")];

test("rows that changed are replaced where they are, and the others stay the same objects", () => {
  const next = row("2", { revision: 2 });
  const patched = patchRows(rows, new Set(["2"]), [next], "newest");
  expect(patched[1]).toBe(next);
  expect([patched[0], patched[2]]).toEqual([rows[0], rows[2]]);
  expect(patched[0]).toBe(rows[0]);
});

test("a row is replaced also if its revision is the same: what its agent does and what it costs change without one", () => {
  const next = row("2", { doing: "weighing the beans" });
  expect(patchRows(rows, new Set(["2"]), [next], "newest")[1]).toBe(next);
});

test("a row that was read again and does not belong to the list any more leaves it", () => {
  expect(ids(patchRows(rows, new Set(["2", "9"]), [], "newest"))).toEqual(["3", "1"]);
});

test("a row that has come to belong to the list is put in its place, not at the end", () => {
  expect(ids(patchRows([row("4"), row("1")], new Set(["3"]), [row("3")], "newest"))).toEqual(["4", "3", "1"]);
  const waits = (id: string, since: string) =>
    row(id, { needs: [{ since: "99" }, { since }] as unknown as Row["needs"] });
  const waiting = patchRows([waits("a", "09"), waits("b", "12")], new Set(["c"]), [waits("c", "10")], "waiting");
  expect(ids(waiting)).toEqual(["a", "c", "b"]);
});

test("an answer that was overtaken by a later one changes nothing, and nothing is drawn again", () => {
  const list = [row("1", { revision: 5 })];
  expect(patchRows(list, new Set(["1"]), [row("1", { revision: 4 })], "newest")).toBe(list);
  expect(patchRows(list, new Set(["7"]), [], "newest")).toBe(list);
});

test("whether a task belongs to a list is told by its row, unless the list was searched by words or labels", () => {
  const of = (group: Row["group"]) => ({ project: "coffee", group });
  const open = { open: "true", sort: "newest", limit: "300" } as const;
  expect([open, {}, { group: "needs-me", project: "coffee" } as const].map(isPlain)).toEqual([true, true, true]);
  expect([{ q: "menu" }, { ...open, label: "hot" }, { status: "working" }].map(isPlain)).toEqual([false, false, false]);
  const groups = ["needs-me", "running", "queued", "over"] as const;
  expect(groups.filter((group) => belongsTo(open, of(group)))).toEqual(["needs-me", "running", "queued"]);
  expect(groups.filter((group) => belongsTo({ open: "false" }, of(group)))).toEqual(["over"]);
  expect(groups.filter((group) => belongsTo({ group: "running" }, of(group)))).toEqual(["running"]);
  expect(belongsTo({ project: "tea" }, of("running"))).toBe(false);
});
