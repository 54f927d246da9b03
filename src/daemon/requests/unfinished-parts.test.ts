import { expect, test } from "vitest";
import { builtIn, load } from "../../../test/language/workflow-texts.ts";
import { unfinishedParts } from "./unfinished-parts.ts";

test.each(["default", "classic", "minimal", "crew"] as const)("%s has no unfinished part", (name) => {
  expect(unfinishedParts(load(builtIn(name)))).toEqual([]);
});

test("team says that its children are not started", () => {
  expect(unfinishedParts(load(builtIn("team")))).toEqual([
    'Child tasks are not started yet: in "SUBTASK_IMPLEMENTING" the task is held, and you can only cancel it.',
  ]);
});

test("pipeline says what becomes of findings, tools, models and its merge", () => {
  expect(unfinishedParts(load(builtIn("pipeline")))).toEqual([
    expect.stringContaining("Findings of a review are not kept yet"),
    expect.stringContaining("Tools that are named one by one"),
    expect.stringContaining('"large" and "small" are not mapped to models yet'),
    expect.stringContaining("Merging needs a forge here"),
  ]);
});
