import { expect } from "vitest";
import type { Performers } from "../../src/daemon/perform.ts";
import { childrenStage } from "../daemon/children-stage.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { createMortal, type Death } from "./dying-store.ts";

type Stage = Awaited<ReturnType<typeof childrenStage>>;

const items = [{ id: "a" }, { id: "b", needs: ["a"] }];

/** Ends every live run, and cancels the parent in its fan-out if asked to, until no task is open. */
async function play(stage: Stage, cancels: boolean): Promise<void> {
  for (let round = 0; round < 30; round++) {
    await stage.rest(1_000);
    const open = await stage.store.listTasks({ isOpen: true }, { limit: 100 });
    if (open.length === 0) return;
    const parent = open.find(({ task }) => task.id === "p1")?.task;
    if (cancels && parent?.status === "building" && parent.phase === "waiting") {
      await stage.core.submit("p1", { kind: "move", to: "dropped", actor: { role: "human" } });
      continue;
    }
    for (const { task } of open) {
      const { planner, builder } = task.runs;
      if (planner !== undefined && task.phase === "waiting") await stage.answer(task.id, items);
      if (builder === undefined || task.phase !== "waiting" || cancels) continue;
      // The first try at "a" fails.
      const word = task.part?.item === "a" && task.part.try === 1 ? "error" : "ok";
      await stage.core.submit(task.id, { kind: "ended", run: builder.key, word, reason: "" });
    }
  }
  throw new Error("The tasks do not end.");
}

/** One life of a parent. The first process dies at the given call after the task was created; the second lives. */
async function live(cancels: boolean, death: Death | undefined) {
  const whole = createMemoryStore();
  /** The effects that started an agent. One that is performed again after a death has the same key. */
  const spawned = new Map<string, string>();
  const performers: Performers = {
    spawn_agent: async ({ agent }, { task, key }) =>
      void spawned.set(key, `${task.part?.item ?? "plan"} ${task.part?.try ?? 1} ${agent?.run}`),
  };
  const prepared = await childrenStage({ store: whole, performers });
  await prepared.create("p1");
  await prepared.rest();
  await prepared.core.close();
  const mortal = createMortal(whole, death);
  const going = childrenStage({ store: mortal.store, seen: whole, performers }).then((stage) => play(stage, cancels));
  let hasGone = false;
  going.then(
    () => {
      hasGone = true;
    },
    () => {
      hasGone = true;
    },
  );
  while (!hasGone && !mortal.isDead()) await new Promise((resolve) => setImmediate(resolve));
  if (!mortal.isDead()) await going;
  else await play(await childrenStage({ store: whole, performers }), cancels);
  const all = await whole.listTasks({}, { limit: 100 });
  const children = all.filter(({ task }) => task.part !== undefined).map(({ task }) => task);
  const owed = await Promise.all(all.map(({ task }) => whole.openEffects(task.id)));
  return {
    hasDied: mortal.isDead(),
    calls: mortal.calls(),
    end: {
      parent: all.find(({ task }) => task.id === "p1")?.task.status,
      children: children.map(({ part, status }) => `${part?.item} ${part?.try} ${status}`).sort(),
      open: all.filter(({ isOpen }) => isOpen).length,
      workspaces: all.filter(({ task }) => task.workspace !== "").length,
      owed: owed.flat().length,
      runs: [...spawned.values()].sort(),
    },
  };
}

export const lives = [
  {
    ...{ cancels: false, parent: "done", children: ["a 1 failed", "a 2 done", "b 1 done"] },
    runs: ["a 1 builder#1", "a 2 builder#1", "b 1 builder#1", "plan 1 planner#1"],
  },
  {
    ...{ cancels: true, parent: "dropped", children: ["a 1 dropped", "b 1 dropped"] },
    runs: ["a 1 builder#1", "plan 1 planner#1"],
  },
];

/** A process dies at every n-th call of the store, before or after it; the next one must come to the same end. */
export async function dieInLife({ cancels, ...wanted }: (typeof lives)[number], first: number, every: number) {
  const end = { ...wanted, open: 0, workspaces: 0, owed: 0 };
  const whole = await live(cancels, undefined);
  expect(whole.end).toEqual(end);
  let died = 0;
  for (let at = first; at <= whole.calls; at += every) {
    const death: Death = { at, when: at % 2 === 0 ? "before" : "after" };
    const { hasDied, end: reached } = await live(cancels, death);
    expect({ death, ...reached }).toEqual({ death, ...end });
    if (hasDied) died++;
  }
  return { died, calls: whole.calls };
}
