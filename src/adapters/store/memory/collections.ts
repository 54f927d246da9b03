import type { Kept } from "../../../ports/records.ts";
import type { Collection, Store } from "../../../ports/store.ts";
import { projectMissing } from "../faults.ts";
import { snapshot } from "./snapshot.ts";
import { type KeptRow, type Kind, mustHaveTask, type Run, type Tables } from "./tables.ts";

/** What is kept beside tasks: the same for every kind. */
export function createCollections(tables: Tables, read: Run, write: Run): Pick<Store, Kind | "liveRuns"> {
  const of = <T extends Kept>(kind: Kind): Collection<T> => createCollection(tables, kind, read, write);
  const runs: Store["runs"] = of("runs");
  return {
    runs,
    liveRuns: async () => (await runs.list({})).filter(({ endedAt }) => endedAt === undefined),
    agents: of("agents"),
    workspaces: of("workspaces"),
    credentials: of("credentials"),
    findings: of("findings"),
    messages: of("messages"),
    conversations: of("conversations"),
    usage: of("usage"),
    merges: of("merges"),
    pullRequests: of("pullRequests"),
    calls: of("calls"),
  };
}

function createCollection<T extends Kept>(tables: Tables, kind: Kind, read: Run, write: Run): Collection<T> {
  const records = tables.kept[kind];
  const toRecord = ({ data }: KeptRow) => data.read() as T;
  return {
    put: (record) =>
      write(() => {
        const { id, project, task, at } = record;
        if (!tables.projects.has(project)) throw projectMissing(project);
        if (task !== "") mustHaveTask(tables, task);
        records.set(id, { project, task, at, data: snapshot(record) });
      }),
    get: (id) =>
      read(() => {
        const row = records.get(id);
        return row && toRecord(row);
      }),
    list: ({ project, task }) =>
      read(() =>
        [...records.values()]
          .filter((row) => row.project === (project ?? row.project) && row.task === (task ?? row.task))
          .sort((one, other) => one.at - other.at)
          .map(toRecord),
      ),
    remove: (id) => write(() => void records.delete(id)),
  };
}
