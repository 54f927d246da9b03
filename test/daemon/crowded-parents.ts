import { expect } from "vitest";
import { childrenStage, parentWorkflow } from "./children-stage.ts";

export const policies = ["retry", "continue", "stop"] as const;

/** Parents that fail where their parts do. */
const workflow = parentWorkflow.replace(
  "next: counted\n",
  "outcomes: [{ on: failed, then: failed }]\n    next: counted\n",
);
export const parents = ["p1", "p2", "p3"];
const items = [{ id: "a" }, { id: "b" }, { id: "c", needs: ["b"] }, { id: "d", needs: ["a"] }];
/** How the parents and the newest tries of their parts end under each policy, where "b" always fails. */
const ends = {
  retry: { status: "done", parts: ["a done", "b failed", "c dropped", "d done"] },
  continue: { status: "done", parts: ["a done", "b failed", "c dropped", "d done"] },
  stop: { status: "failed", parts: ["a done", "b failed", "c dropped", "d dropped"] },
};

/**
 * Three parents share one workspace. After this many steps a person cancels this one of them, wherever it is. Everything must
 * end, and leave nothing behind. Returns the states in which the parent and its parts were when it was cancelled; empty
 * where the life has fewer steps.
 */
export async function shareOneWorkspace(policy: (typeof policies)[number], cancelled: string, cancelAt: number) {
  const stage = await childrenStage({ poolSize: 1, parent: workflow });
  let seen = "";
  for (const id of parents) await stage.create(id, { settings: { policy } });
  await stage.rest();
  for (let step = 0; ; step++) {
    if (step > 100) throw new Error("The tasks do not end.");
    const open = await stage.store.listTasks({ isOpen: true }, { limit: 100 });
    if (step === cancelAt && open.some(({ task }) => task.id === cancelled)) {
      const own = open.filter(({ task }) => task.id === cancelled || task.parent === cancelled);
      seen = [...new Set(own.map(({ task }) => task.status))].sort().join(" ");
      await stage.core.submit(cancelled, { kind: "move", to: "dropped", actor: { role: "human" } }, undefined, "brake");
      await stage.rest();
      continue;
    }
    if (open.length === 0) break;
    const holding = open.filter(({ task }) => task.workspace !== "");
    expect({ policy, cancelAt, step, holding: holding.length }).toMatchObject({ holding: 1 });
    const { id, part, parent } = (holding[0] ?? expect.fail()).task;
    if (part === undefined) await stage.answer(id, items);
    else await stage.finish(parent, part.item, part.item === "b" ? "error" : "ok");
  }
  const all = await stage.store.listTasks({}, { limit: 100 });
  expect(all.filter(({ task }) => task.workspace !== "" || Object.keys(task.runs).length > 0)).toEqual([]);
  expect((await Promise.all(all.map(({ task }) => stage.store.openEffects(task.id)))).flat()).toEqual([]);
  for (const id of parents) {
    const status = (await stage.store.getTask(id))?.task.status;
    if (seen !== "" && id === cancelled) expect(status).toBe("dropped");
    else {
      const parts = (await stage.newest(id)).map(({ task }) => `${task.part.item} ${task.status}`);
      expect({ policy, cancelAt, id, status, parts }).toMatchObject(ends[policy]);
    }
  }
  expect(stage.errors).toEqual([]);
  return seen;
}
