import { expect, test } from "vitest";
import { builtIn, drive } from "../../test/engine/drive.ts";
import { awaitsChildren } from "./children.ts";

test("a task awaits children only in a fan-out that is neither skipped nor over", () => {
  const team = builtIn("team");
  const { task } = drive(team);
  const at = { ...task, status: "SUBTASK_IMPLEMENTING" };
  expect(awaitsChildren(team, at)).toBe(true);
  expect(awaitsChildren(team, task)).toBe(false);
  expect(awaitsChildren(team, { ...at, wait: { ...at.wait, skipped: true } })).toBe(false);
  expect(awaitsChildren(team, { ...at, wait: { ...at.wait, childrenOver: true } })).toBe(false);
});
