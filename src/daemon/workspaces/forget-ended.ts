import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Project, StoredTask } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import { allTasks } from "./all-tasks.ts";
import type { PoolPorts } from "./pool-ports.ts";

type ForgetPorts = Pick<PoolPorts, "store" | "clock" | "places" | "workspacesOf" | "limits">;

/** Deletes the run folders and logs of tasks that have been over for long enough, or are gone. Gives how many. */
export async function forgetFiles(ports: ForgetPorts, signal: AbortSignal): Promise<number> {
  const { store, clock, places, limits } = ports;
  const before = clock.now() - limits().keepEnded;
  let count = 0;
  for (const folder of [places.runs, ...["setup", "teardown", "tests"].map((name) => join(places.logs, name))]) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (signal.aborted) return count;
      // `<task>-<number>`, `<task>-<number>-<part>`, `<task>.log`, `<task>-<number>.log`.
      const [, id = ""] = /^([a-z0-9]+)(?:-\d+)*(?:\.log(?:\.\d+)?)?$/.exec(name) ?? [];
      const path = join(folder, name);
      const stored = id === "" ? undefined : await store.getTask(id);
      const last = stored === undefined ? await changedAt(path) : lastChange(stored);
      if (id === "" || last === undefined || last > before) continue;
      await rm(path, { recursive: true, force: true });
      count += 1;
    }
  }
  return count;
}

function lastChange({ isOpen, updatedAt }: StoredTask): number | undefined {
  return isOpen ? undefined : updatedAt;
}

async function changedAt(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/**
 * Deletes the refs of tasks that have been over for long enough, as far as the branch that their work went into contains
 * them. What is merged nowhere stays for ever, and so does what a pull request or a subtask that is open builds on.
 */
export async function forgetRefs(ports: ForgetPorts, project: Project, signal: AbortSignal): Promise<number> {
  const { store, clock, limits } = ports;
  const before = clock.now() - limits().keepEnded;
  const { control } = await ports.workspacesOf(project);
  const refs = Map.groupBy(await control.listTaskRefs(), ({ task }) => task);
  if (refs.size === 0) return 0;
  const parents = new Set(
    (await allTasks(store, { project: project.name, isOpen: true })).map(({ task }) => task.parent),
  );
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  let count = 0;
  for (const [id, own] of refs) {
    if (signal.aborted) return count;
    const stored = await store.getTask(id);
    if (stored === undefined || stored.isOpen || stored.updatedAt > before || parents.has(id)) continue;
    if ((await store.pullRequests.get(id))?.state === "open") continue;
    const target = (await store.merges.get(id))?.target ?? targetOf(project, stored.task);
    const tips = [...new Set([branches[target], branches[project.defaultBranch]])];
    count += await control.dropContainedRefs(
      own,
      tips.flatMap((tip) => tip ?? []),
    );
  }
  return count;
}
