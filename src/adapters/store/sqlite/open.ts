import type { DatabaseSync } from "node:sqlite";
import type { Store } from "../../../ports/store.ts";
import { createArtifacts } from "./artifacts.ts";
import { createCollections } from "./collections.ts";
import { type Connecting, connect } from "./connect.ts";
import { createDocuments } from "./documents.ts";
import { createEffects } from "./effects.ts";
import { createEvents } from "./events.ts";
import { createHistory } from "./history.ts";
import { createLists } from "./lists.ts";
import { createOwing } from "./owing.ts";
import { createProjects } from "./projects.ts";
import { toFault } from "./store-fault.ts";
import { createTasks } from "./tasks.ts";
import { createUpkeep } from "./upkeep.ts";
import { createWorkflows } from "./workflows.ts";
import { createWriter, type Read } from "./writer.ts";

/** Opens the store in a file, creating or upgrading it. One process has it open at a time; the daemon sees to that. */
export function openSqliteStore(path: string, options: Connecting = {}): Store {
  return createSqliteStore(connect(path, options), path);
}

/** The store on a connection that is its own from now on. */
export function createSqliteStore(database: DatabaseSync, path: string): Store {
  const { write, flush } = createWriter(database, path);
  const read: Read = async (run) => {
    try {
      return run();
    } catch (error) {
      throw toFault(error, path);
    }
  };
  const history = createHistory(database);
  const owing = createOwing(database);
  const { put: putDocument, ...documents } = createDocuments(database, read, write, history);
  const { add: addArtifact, ...artifacts } = createArtifacts(database, read, write);
  return {
    ...createProjects(database, read, write, history),
    ...createWorkflows(database, read, write),
    ...createTasks(database, write, { history, owing, putDocument, addArtifact }),
    ...createLists(database, read),
    ...documents,
    ...createEvents(database, read, write, history),
    ...createEffects(database, read, write, owing, history),
    ...artifacts,
    ...createCollections(database, read, write),
    ...createUpkeep(database, path, flush),
  };
}
