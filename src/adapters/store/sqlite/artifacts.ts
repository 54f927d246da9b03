import type { DatabaseSync } from "node:sqlite";
import type { Artifact, Store } from "../../../ports/store.ts";
import type { Write } from "./writer.ts";

/** Evidence that passed a gate. `add` belongs to the transaction of its caller. */
export interface Artifacts extends Pick<Store, "addArtifact" | "listArtifacts"> {
  add(artifact: Artifact): void;
}

export function createArtifacts(database: DatabaseSync, write: Write): Artifacts {
  const insert = database.prepare(
    "insert into artifact (task, section, text, hash, role, run, commit_id, at) values (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const byTask = database.prepare("select * from artifact where task = ? order by id");
  const add = (each: Artifact) => {
    insert.run(each.task, each.section, each.text, each.hash, each.role, each.run, each.commit, each.at);
  };
  return {
    add,
    addArtifact: (artifact) => write(() => add(artifact)),
    listArtifacts: async (task) => byTask.all(task).map(read),
  };
}

function read(row: Record<string, unknown>): Artifact {
  const { task, section, text, hash, role, run, commit_id: commit, at } = row;
  return {
    task: String(task),
    section: String(section),
    text: String(text),
    hash: String(hash),
    role: String(role),
    run: String(run),
    commit: String(commit),
    at: Number(at),
  };
}
