import { expect, test } from "vitest";
import { sampleDecision, sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import { createTurns } from "../keyed.ts";
import { taskBranch } from "./task-branch.ts";

test("a parent that ends after its part was tested, and before it is merged, gets nothing more", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("top", { branch: "team/x" }));
  let tip = "c1";
  const control = {
    commitAt: async () => tip,
    moveRef: async (_: string, commit: string) => {
      tip = commit;
    },
  };
  const order = { branch: "team/x", parent: "top", startOf: async () => tip };
  const place = taskBranch(store, { control } as never, sampleProject(), order);
  const publish = (commit: string) =>
    place.publish(
      { inTurn: createTurns() } as never,
      { user: tip, remote: undefined, base: tip, apart: false },
      commit,
    );
  expect([await publish("c2"), tip]).toEqual([{ kind: "published" }, "c2"]);
  const top = (await store.getTask("top")) ?? expect.fail();
  await store.saveDecision(sampleDecision(top, { phase: "over" }, { isOpen: false }));
  expect(await publish("c3")).toMatchObject({ kind: "refused", reason: expect.stringContaining("has ended") });
  expect(tip).toBe("c2");
});
