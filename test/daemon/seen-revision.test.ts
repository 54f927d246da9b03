import { expect, test } from "vitest";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { coreStage } from "./core-stage.ts";

const text = `
name: brew
version: 1
states:
  taste: { waits_for: human, ask: Taste it, next: served }
  brewing: { waits_for: human, ask: Brew it, next: served }
  served: { terminal: true }
transitions:
  - { from: taste, to: brewing, by: human }
  - { from: brewing, to: taste, by: human }
  - { from: any, to: served, by: human }
`;

test("a task that changes after a request was found to be about its revision, and before it is decided, is not changed by it", async () => {
  const memory = createMemoryStore();
  let meanwhile: (() => Promise<unknown>) | undefined;
  const { core, create, rest, statuses } = await coreStage(text, 1, {
    ...memory,
    async findTask(...asked) {
      const found = await memory.findTask(...asked);
      const change = meanwhile;
      meanwhile = undefined;
      await change?.();
      return found;
    },
  });
  await create("t1");
  await rest(1_000);
  const move = async (to: string, revision: number) => {
    // By its number: the cache of tasks would find an id without the store.
    const asked = {
      params: { task: "coffee#1" },
      query: { revision: String(revision) },
      body: { to },
      folder: "",
      lastEvent: "",
    };
    return createHandlers(core).moveTask?.({ ...asked, caller: { kind: "human" } } as never, {} as never);
  };
  const revision = async () => (await memory.getTask("t1"))?.revision ?? 0;
  const seen = await revision();
  meanwhile = () => core.submit("t1", { kind: "move", to: "brewing", actor: { role: "human" } });
  await expect(move("served", seen)).rejects.toMatchObject({
    code: "task.stale",
    message: expect.stringContaining('it went from "taste" to "brewing"'),
  });
  expect(await statuses("t1")).toEqual(["brewing"]);
  // One that names the present revision is made, with all that it leads to.
  await move("served", await revision());
  await rest(1_000);
  expect(await statuses("t1")).toEqual(["served"]);
  await core.close();
});
