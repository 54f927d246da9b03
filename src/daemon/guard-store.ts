import { type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";
import type { Kept } from "../ports/records.ts";
import type { Collection, Store } from "../ports/store.ts";

export interface GuardPorts {
  /** The database's file. */
  readonly file: string;
  /** Called once, when the file is found to be lost. What was saved can still be read. */
  onLost(fault: Fault): void;
  onWritten(): void;
  /** Nothing can be saved, and why; or, without a fault, it can again. */
  onUnsaved?(fault: Fault | undefined): void;
}

export interface GuardedStore extends Store {
  /** Looks whether the file is still there, also where nobody writes. */
  look(): void;
  /** Looks, and says why nothing can be saved any more; undefined where it can. */
  loss(): Fault | undefined;
  /** Why nothing can be saved now, which passes once the disk has room, or may be written; undefined where it can. */
  unsaved(): Fault | undefined;
}

/** Faults of the disk below the store. */
const ofTheDisk: ReadonlySet<string> = new Set(["store.full", "store.disk", "store.read-only", "store.unreadable"]);
/** Less than this is not room. */
const leastRoom = 1024 * 1024;

/**
 * The same store, which refuses to write once its file was deleted, replaced or cut short. The system keeps a deleted file
 * for whoever has it open: everything would seem to go well, and be gone with the daemon. What was saved before can still
 * be read, and copied.
 */
export function guardStore(store: Store, { file, onLost, onWritten, onUnsaved }: GuardPorts): GuardedStore {
  const files = [file, `${file}-wal`].map((path) => ({ path, own: fileAt(path)?.ino, size: 0 }));
  let fault: Fault | undefined;
  let failure: Fault | undefined;
  const setFailure = (next: Fault | undefined) => {
    const isNew = failure?.code !== next?.code;
    if (isNew) failure = next;
    if (isNew) onUnsaved?.(next);
  };
  const look = () => {
    if (fault !== undefined) return;
    for (const each of files) {
      const found = fileAt(each.path);
      // The log is made with the first write.
      each.own ??= found?.ino;
      if (each.own === undefined) continue;
      // SQLite never makes one of the two smaller while it has it open.
      const isWhole = found?.ino === each.own && found.size >= each.size;
      if (!isWhole) {
        fault = lost(each.path);
        return onLost(fault);
      }
      each.size = found.size;
    }
  };
  const guarded =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      look();
      if (fault !== undefined) throw fault;
      const result = await write(...args).catch((error: unknown) => {
        if (error instanceof Fault && ofTheDisk.has(error.code)) setFailure(unsavedFault(file, error));
        throw error;
      });
      setFailure(undefined);
      onWritten();
      return result;
    };
  const kept = <T extends Kept>(of: Collection<T>): Collection<T> => ({
    ...of,
    put: guarded(of.put),
    remove: guarded(of.remove),
  });
  return {
    ...store,
    look,
    loss() {
      look();
      return fault;
    },
    unsaved() {
      // Nobody may want to write any more.
      if (failure?.code === "store.full" && roomFor(file) > leastRoom) setFailure(undefined);
      return failure;
    },
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
    calls: kept(store.calls),
    conversations: kept(store.conversations),
    usage: kept(store.usage),
    merges: kept(store.merges),
    pullRequests: kept(store.pullRequests),
  };
}

function fileAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function roomFor(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return 0;
  }
}

function unsavedFault(file: string, { code, message, hint = "", retry }: Fault): Fault {
  if (code !== "store.full") return new Fault(code, `${message} No task goes on.`, { retry, hint });
  return new Fault(code, `The disk of ${dirname(file)} is full: nothing can be saved, and no task goes on.`, {
    ...{ retry, hint: "Make room; nothing is lost, and everything goes on then." },
  });
}

function lost(path: string): Fault {
  return new Fault("store.lost", `The file ${path} was deleted, replaced or cut short while the daemon used it.`, {
    hint: "Nothing new can be saved. The daemon has copied what was saved before, if it could; a copy can also be asked for: signalbox backup\nThen stop it and restore the newest copy: signalbox down, then signalbox restore",
  });
}
