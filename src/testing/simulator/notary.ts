import type { Effect } from "../../engine/decision.ts";
import type { Kept } from "../../ports/records.ts";
import type { Collection, Store } from "../../ports/store.ts";
import { checkDecision, checkDone, checkEffect, checkMerge, type Known } from "./promises.ts";
import { checkAgents } from "./simulated-crew.ts";
import type { World } from "./world.ts";

/** The store of a world, at which everything that is written is looked at once it is written. */
export function createNotary(world: World): Store {
  const { store, violate, note } = world;
  const known = new Map<string, Known>();
  const effects = new Map<number, { readonly task: string; readonly effect: Effect }>();
  const learn = <T extends readonly { readonly id: number; readonly task: string; readonly effect: Effect }[]>(
    found: T,
  ): T => {
    for (const { id, task, effect } of found) effects.set(id, { task, effect });
    return found;
  };
  const checked = <T extends Kept>(
    collection: Collection<T>,
    check: (record: T) => Promise<void> | void,
  ): Collection<T> => ({
    ...collection,
    async put(record) {
      await collection.put(record);
      await check(record);
    },
  });

  return {
    ...store,
    async createTask(project, decide) {
      const stored = await store.createTask(project, decide);
      const { authors } = await store.getDocument(stored.task.id);
      known.set(stored.task.id, { task: stored.task, revision: stored.revision, authors, used: new Set() });
      world.tasks.made++;
      world.tasks.open.add(stored.task.id);
      note(`${stored.task.id} is created in ${stored.task.status}`);
      return stored;
    },
    async saveDecision(decision) {
      const stored = await store.saveDecision(decision);
      const { task, events, document } = decision;
      const before = known.get(task.id);
      if (!decision.isOpen) world.tasks.open.delete(task.id);
      for (const { type, by, data } of events)
        note(`${task.id} ${type} by ${by}${type === "task.moved" ? ` ${String(data.from)} → ${String(data.to)}` : ""}`);
      if (before === undefined) return stored;
      checkDecision(world, before, decision);
      checkDone(world, before.task, task, await store.merges.get(task.id));
      const authors = document?.authors ?? before.authors;
      known.set(task.id, { ...before, task: stored.task, revision: stored.revision, authors });
      return stored;
    },
    async saveDocument(task, document, events, at) {
      await store.saveDocument(task, document, events, at);
      const before = known.get(task);
      if (before !== undefined) known.set(task, { ...before, authors: document.authors });
    },
    dueEffects: async (now, limit) => learn(await store.dueEffects(now, limit)),
    listEffects: async (task) => learn(await store.listEffects(task)),
    openEffects: async (task) => learn(await store.openEffects(task)),
    async finishEffect(id, at, failed) {
      const found = effects.get(id);
      const open = found === undefined ? [] : await store.openEffects(found.task);
      await store.finishEffect(id, at, failed);
      if (found === undefined) return;
      note(`${found.task} ${found.effect.action} ${failed === undefined ? "is done" : "failed, and is passed over"}`);
      const first = open.find(({ state }) => state === "owed" || state === "failed");
      if (first !== undefined && first.id < id)
        violate("effects in order", `${found.effect.action} of ${found.task} came before ${first.effect.action}.`);
      const task = (await store.getTask(found.task))?.task;
      if (failed === undefined && task !== undefined) await checkEffect(world, task, found.effect);
    },
    workspaces: checked(store.workspaces, async ({ path, task }) => {
      if (task === "") return;
      const others = (await store.workspaces.list({})).filter((each) => each.path === path && each.task !== "");
      if (others.length > 1) violate("at most one task has a workspace", `${path} is bound ${others.length} times.`);
      const own = await store.workspaces.list({ task });
      if (own.length > 1) violate("at most one task has a workspace", `${task} has ${own.length} workspaces.`);
    }),
    agents: checked(store.agents, () => checkAgents(world)),
    merges: checked(store.merges, (merge) => {
      note(`${merge.task} merge ${merge.state}${merge.endedAt === undefined ? "" : ", ended"}`);
      checkMerge(world, merge);
    }),
  };
}
