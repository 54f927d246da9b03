import type { DatabaseSync } from "node:sqlite";
import type { Artifact, Store } from "../../../ports/store.ts";
import { taskMissing } from "../faults.ts";
import type { Read, Write } from "./writer.ts";

/** Evidence that passed a gate. `add` belongs to the transaction of its caller. */
interface Artifacts extends Pick<Store, "addArtifact" | "listArtifacts"> {
  add(artifact: Artifact): void;
}

export function createArtifacts(database: DatabaseSync, read: Read, write: Write): Artifacts {
  const insert = database.prepare(
    `insert into artifact (task, section, text, hash, role, run, commit_id, at)
     select position, ?, ?, ?, ?, ?, ?, ? from task where id = ?`,
  );
  const byTask = database.prepare(
    "select * from artifact where task = (select position from task where id = ?) order by id",
  );
  const add = ({ task, section, text, hash, role, run, commit, at }: Artifact) => {
    if (insert.run(section, text, hash, role, run, commit, at, task).changes === 0) throw taskMissing(task);
  };
  return {
    add,
    addArtifact: (artifact) => write(() => add(artifact)),
    listArtifacts: (task) => read(() => byTask.all(task).map((row) => toArtifact(task, row))),
  };
}

function toArtifact(task: string, row: Record<string, unknown>): Artifact {
  const { section, text, hash, role, run, commit_id: commit, at } = row;
  return {
    task,
    section: String(section),
    text: String(text),
    hash: String(hash),
    role: String(role),
    run: String(run),
    commit: String(commit),
    at: Number(at),
  };
}
