import { expect, test } from "vitest";
import { atWork, builtIn } from "../../../test/engine/drive.ts";
import { notReady } from "./merge-task.ts";

test("a merge of a task that an agent works on is refused in plain words, with the commands that wait and look", () => {
  const { task, facts } = atWork();
  const refusal = (status: string) => notReady(builtIn("default"), { ...task, status }, facts())?.[0];
  expect(refusal("working")).toMatchObject({
    text: 'coffee#12 is not ready to be merged. The task is in "working" and waits for worker.',
    fix: `Wait for it: signalbox task wait ${task.id}\nSee what its agent is doing: signalbox task peek ${task.id}`,
  });
  expect(refusal("pending")?.fix).toBe(`Wait for it: signalbox task wait ${task.id}`);
  expect(refusal("reviewing")).toBeUndefined();
});
