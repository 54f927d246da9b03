import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import type { Part } from "../engine/task.ts";
import { placeNameOf } from "./landing-place.ts";

test("the work of a part goes into its parent's branch, also if that was renamed since the part was made", async () => {
  const store = createMemoryStore();
  const project = sampleProject();
  await store.addProject(project);
  const part: Part = { stay: 1, item: "a", try: 1, title: "A", description: "", files: [], size: "M" };
  await store.createTask("coffee", sampleTask("top", { branch: "team/new" }));
  await store.createTask("coffee", sampleTask("part", { parent: "top", base: "team/old", part }));
  const { task } = (await store.getTask("part")) ?? expect.fail();
  expect(await placeNameOf(store, project, task)).toEqual({ target: "team/new", parent: "top" });
  expect(await placeNameOf(store, project, { ...task, part: undefined })).toEqual({ target: "team/old" });
});
