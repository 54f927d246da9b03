import { expect, test } from "vitest";
import type { ActionView } from "../../api/tasks.ts";
import type { Row } from "../data/queries.ts";
import { cardBeside, columnBeside, columnsOf, dangerOfDrop, dropOn, workflowsOf } from "./columns.ts";

const row = (id: string, status: string) => ({ id, status }) as Row;
const action = (name: string, to: string, why = "") => ({ name, to, why, allowed: why === "" }) as ActionView;

const columns = columnsOf(["a", "b", "c"], [row("1", "a"), row("2", "a"), row("3", "c"), row("4", "old")]);

test("every state has a column in the workflow's order, and states of older versions come last", () => {
  expect(columns.map(({ name, rows }) => [name, rows.length])).toEqual([
    ["a", 2],
    ["b", 0],
    ["c", 1],
    ["old", 1],
  ]);
});

test("the keyboard goes past empty columns and stops at the edges", () => {
  expect(cardBeside(columns, undefined, "down")).toBe("1");
  expect(cardBeside(columns, "2", "right")).toBe("3");
  expect(cardBeside(columns, "2", "down")).toBe("2");
  expect(cardBeside(columns, "1", "left")).toBe("1");
});

test("a card goes where an action leads: a merge rather than a plain move, and never past a field that asks for words", () => {
  const actions = [
    action("request-changes", "b"),
    action("move", "b"),
    action("merge", "c"),
    action("move", "c", "Not merged."),
  ];
  expect(dropOn(actions, [], "a", "b")).toMatchObject({ action: { name: "move" } });
  expect(dropOn(actions, [], "a", "c")).toMatchObject({ action: { name: "merge" } });
});

test("a card that cannot go somewhere says why: what the action says, what is missing, who may, or that there is no way", () => {
  const moves = [{ to: "c", by: ["reviewer"], open: false, command: "", missing: [] }];
  expect(dropOn([action("move", "b", "The gate is closed.")], [], "a", "b")).toEqual({ why: "The gate is closed." });
  expect(dropOn([], moves, "a", "c")).toEqual({ why: "Only reviewer can move it to c." });
  expect(
    dropOn(
      [],
      [{ ...moves[0], to: "c", by: [], open: false, command: "", missing: ["## Plan is missing."] }],
      "a",
      "c",
    ),
  ).toEqual({
    why: "## Plan is missing.",
  });
  expect(dropOn([action("move", "b")], [], "a", "d")).toEqual({
    why: "No way leads from a to d. A person can move it to: b.",
  });
});

test("a card that is put on an end is moved only once the person has confirmed it, and so is one whose move does more", () => {
  expect(dangerOfDrop({ name: "cancel", consequence: "none" }, "It is over.", true)).toBe("It is over.");
  expect(dangerOfDrop({ name: "move", consequence: "none" }, "By your word.", true)).toBe("By your word.");
  expect(dangerOfDrop({ name: "approve", consequence: "none" }, undefined, true)).toBe("The task ends.");
  expect(dangerOfDrop({ name: "merge", consequence: "none" }, "It is merged.", false)).toBe("It is merged.");
  expect(dangerOfDrop({ name: "move", consequence: "none" }, "By your word.", false)).toBeUndefined();
  expect(dangerOfDrop({ name: "move", consequence: "merge" }, "It is merged.", false)).toBe("It is merged.");
});

test("an arrow chooses the column beside, and stays at the last one", () => {
  expect(columnBeside(columns, "a", 1)).toBe("b");
  expect(columnBeside(columns, "b", -1)).toBe("a");
  expect(columnBeside(columns, "a", -1)).toBe("a");
});

test("the workflow with the most tasks is offered first", () => {
  const of = (workflow: string) => ({ workflow }) as Row;
  expect(workflowsOf([of("team"), of("default"), of("default"), of("classic")])).toEqual([
    "default",
    "classic",
    "team",
  ]);
});
