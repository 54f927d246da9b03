import { expect, test } from "vitest";
import { builtIn, load } from "../../test/language/workflow-texts.ts";
import { unfinishedParts } from "./make-task.ts";

test.each(["default", "classic", "minimal", "crew", "team"] as const)(
  "the workflow %s has no unfinished part",
  (name) => {
    expect(unfinishedParts(load(builtIn(name)))).toEqual([]);
  },
);

test("the workflow pipeline warns about tools, models and its merge", () => {
  expect(unfinishedParts(load(builtIn("pipeline")))).toEqual([
    expect.stringContaining("Tools that are named one by one"),
    expect.stringContaining('"large" and "small" are not mapped to models yet'),
    expect.stringContaining("This workflow merges through pull requests on GitHub"),
  ]);
});
