import type { Store } from "../../ports/store.ts";
import { storeClosed } from "./faults.ts";
import { createArtifacts } from "./memory/artifacts.ts";
import { createCollections } from "./memory/collections.ts";
import { createEffects } from "./memory/effects.ts";
import { createEvents } from "./memory/events.ts";
import { createLists } from "./memory/lists.ts";
import { createProjects } from "./memory/projects.ts";
import { createTables, type Run } from "./memory/tables.ts";
import { createTasks } from "./memory/tasks.ts";
import { createUpkeep } from "./memory/upkeep.ts";
import { createWorkflows } from "./memory/workflows.ts";

/**
 * A store that forgets everything with its process, for tests and rehearsals. It does what the others do; what it is given
 * it keeps as text, and what it gives cannot be changed.
 */
export function createMemoryStore(): Store {
  const tables = createTables();
  let isClosed = false;
  const read: Run = async (run) => {
    if (isClosed) throw storeClosed();
    return run();
  };
  // As with a disk, nothing is saved yet when the call returns; one who does not wait for the promise shall notice here.
  const write: Run = async (run) => {
    await undefined;
    return read(run);
  };
  return {
    ...createProjects(tables, read, write),
    ...createWorkflows(tables, read, write),
    ...createTasks(tables, read, write),
    ...createLists(tables, read),
    ...createEvents(tables, read, write),
    ...createEffects(tables, read, write),
    ...createArtifacts(tables, read, write),
    ...createCollections(tables, read, write),
    ...createUpkeep(tables, read),
    close: async () => {
      await undefined;
      isClosed = true;
    },
  };
}
