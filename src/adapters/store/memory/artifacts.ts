import type { Artifact, Store } from "../../../ports/store.ts";
import { mustHaveTask, type Run, type Tables } from "./tables.ts";

/** Evidence that passed a gate. */
export function createArtifacts(tables: Tables, read: Run, write: Run): Pick<Store, "addArtifact" | "listArtifacts"> {
  return {
    addArtifact: (artifact) =>
      write(() => {
        mustHaveTask(tables, artifact.task).artifacts.push(JSON.stringify(artifact));
      }),
    listArtifacts: (task) =>
      read(() => (tables.tasks.get(task)?.artifacts ?? []).map((text) => JSON.parse(text) as Artifact)),
  };
}
