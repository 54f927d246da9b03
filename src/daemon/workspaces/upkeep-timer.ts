import { deleteMergedBranches } from "./ended-branches.ts";
import { forgetFiles, forgetRefs } from "./forget-ended.ts";
import type { PoolPorts } from "./pool-ports.ts";
import { isBegun } from "./project-workspaces.ts";
import { trashOrder } from "./upkeep-limits.ts";

export interface UpkeepTimer {
  start(): void;
  /** What is under way stops after the file it is at. */
  stop(): Promise<void>;
}

const pause = 60 * 60 * 1000;
/** After a start there is enough to do. */
const firstPause = 5 * 60 * 1000;

/**
 * Once an hour, one project after the other: deletes what has been in the trash for long enough, and what ended tasks have
 * left for long enough, and brings together what makes git slow.
 */
export function createUpkeepTimer(ports: Omit<PoolPorts, "parking">): UpkeepTimer {
  const { store, clock, log, places, workspacesOf, limits } = ports;
  const stopping = new AbortController();
  let cancel = () => {};
  let sweeping: Promise<void> = Promise.resolve();
  const sweep = async () => {
    const files = await forgetFiles(ports, stopping.signal);
    if (files > 0) log.info("Run folders and logs of ended tasks were deleted", { files });
    for (const project of await store.listProjects()) {
      if (stopping.signal.aborted) return;
      if (!isBegun(places, project)) continue;
      try {
        const { kind, control } = await workspacesOf(project);
        const order = { ...trashOrder(limits(), clock.now()), signal: stopping.signal };
        const { deleted, freed } = await kind.deleteTrash(order);
        if (deleted > 0) log.info("Old trash was deleted", { project: project.name, deleted, freed });
        const branches = await deleteMergedBranches(ports, project);
        const refs = await forgetRefs(ports, project, stopping.signal);
        if (branches + refs > 0) log.info("Merged tasks were tidied away", { project: project.name, branches, refs });
        const isTidied = await control.tidy({ signal: stopping.signal });
        if (isTidied) log.info("A control repository was tidied", { project: project.name });
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn("The upkeep of a project failed", { project: project.name, error });
      }
    }
  };
  const wait = (time: number) => {
    if (stopping.signal.aborted) return;
    cancel = clock.after(time, () => {
      sweeping = sweep()
        .catch((error) => log.warn("Nothing could be kept in order", { error }))
        .then(() => wait(pause));
    });
  };
  return {
    start: () => wait(firstPause),
    async stop() {
      stopping.abort();
      cancel();
      await sweeping;
    },
  };
}
