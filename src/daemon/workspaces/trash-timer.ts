import type { PoolPorts } from "./pool-ports.ts";
import { isBegun } from "./project-workspaces.ts";
import { trashOrder } from "./upkeep-limits.ts";

export interface TrashTimer {
  start(): void;
  /** What is under way stops after the file it is at. */
  stop(): Promise<void>;
}

const pause = 60 * 60 * 1000;
/** After a start there is enough to do. */
const firstPause = 5 * 60 * 1000;

/** Deletes what has been in the trash for long enough, one project after the other, once an hour. */
export function createTrashTimer(ports: Omit<PoolPorts, "inTurn">): TrashTimer {
  const { store, clock, log, places, workspacesOf, limits } = ports;
  const stopping = new AbortController();
  let cancel = () => {};
  let sweeping: Promise<void> = Promise.resolve();
  const sweep = async () => {
    for (const project of await store.listProjects()) {
      if (stopping.signal.aborted) return;
      if (!isBegun(places, project)) continue;
      try {
        const { kind } = await workspacesOf(project);
        const order = { ...trashOrder(limits(), clock.now()), signal: stopping.signal };
        const { deleted, freed } = await kind.deleteTrash(order);
        if (deleted > 0) log.info("Old trash was deleted", { project: project.name, deleted, freed });
      } catch (error) {
        log.warn("The trash of a project could not be deleted", { project: project.name, error });
      }
    }
  };
  const wait = (time: number) => {
    if (stopping.signal.aborted) return;
    cancel = clock.after(time, () => {
      sweeping = sweep()
        .catch((error) => log.warn("The trash could not be looked at", { error }))
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
