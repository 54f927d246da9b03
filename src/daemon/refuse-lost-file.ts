import { statSync } from "node:fs";
import { Fault } from "../fault.ts";
import type { Kept } from "../ports/records.ts";
import type { Collection, Store } from "../ports/store.ts";

/**
 * The same store, which refuses to write once its file was deleted or replaced. The system keeps a deleted file for
 * whoever has it open: everything would seem to go well, and be gone with the daemon. What was saved before can still be
 * read, and copied.
 */
export function refuseLostFile(store: Store, file: string): Store {
  const files = [file, `${file}-wal`].map((path) => ({ path, own: numberOf(path) }));
  const check = () => {
    for (const { path, own } of files) if (own !== undefined && numberOf(path) !== own) throw lost(path);
  };
  const guarded =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      check();
      return write(...args);
    };
  const kept = <T extends Kept>(of: Collection<T>): Collection<T> => ({
    ...of,
    put: guarded(of.put),
    remove: guarded(of.remove),
  });
  return {
    ...store,
    addProject: guarded(store.addProject),
    updateProject: guarded(store.updateProject),
    removeProject: guarded(store.removeProject),
    createTask: guarded(store.createTask),
    saveDecision: guarded(store.saveDecision),
    addEvents: guarded(store.addEvents),
    saveDocument: guarded(store.saveDocument),
    deleteTask: guarded(store.deleteTask),
    finishEffect: guarded(store.finishEffect),
    failEffect: guarded(store.failEffect),
    retryEffects: guarded(store.retryEffects),
    saveWorkflow: guarded(store.saveWorkflow),
    addArtifact: guarded(store.addArtifact),
    agents: kept(store.agents),
    workspaces: kept(store.workspaces),
    runs: kept(store.runs),
    credentials: kept(store.credentials),
    findings: kept(store.findings),
    messages: kept(store.messages),
    conversations: kept(store.conversations),
    usage: kept(store.usage),
    merges: kept(store.merges),
    pullRequests: kept(store.pullRequests),
  };
}

/** Names a file for as long as somebody has it open, also when its name is gone. */
function numberOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function lost(path: string): Fault {
  return new Fault("store.lost", `The file ${path} was deleted or replaced while the daemon used it.`, {
    hint: "Nothing new can be saved. What was saved before can still be copied: signalbox backup\nThen signalbox down, put the copy in its place, and signalbox up",
  });
}
