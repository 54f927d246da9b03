import { existsSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";
import { backupFile, listBackups, pruneBackups } from "../home/backups.ts";
import { type StoreNote, updateStoreNote, writeStoreNote } from "../home/database.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import type { Places } from "../home/places.ts";
import type { Kept } from "../ports/records.ts";
import type { Collection, Store } from "../ports/store.ts";
import type { Clock, Log } from "../ports/system.ts";
import { isoTime } from "./views.ts";

interface GuardPorts {
  /** The database's file. */
  readonly file: string;
  /** Called once, when the file is found to be lost. The saved data can still be read. */
  onLost(fault: Fault): void;
  onWritten(): void;
  /** Nothing can be saved, and why; without a fault, saving works again. */
  onUnsaved?(fault: Fault | undefined): void;
}

interface GuardedStore extends Store {
  /** Checks whether the file still exists, without a write. */
  look(): void;
  /** Checks the file, and says why nothing can be saved any more; undefined where it can. */
  loss(): Fault | undefined;
  /** Why nothing can be saved for now, until the disk has room or is writable; undefined where it can. */
  unsaved(): Fault | undefined;
}

/** Faults of the disk below the store. */
const ofTheDisk: ReadonlySet<string> = new Set(["store.full", "store.disk", "store.read-only", "store.unreadable"]);
/** Bytes; with less, the disk counts as full. */
const minFreeSpace = 1024 * 1024;

/**
 * The same store, but it refuses to write once its file was deleted, replaced or truncated. The operating system keeps
 * a deleted file for the process that has it open: writes would seem to succeed, and be lost with the daemon. Earlier
 * data can still be read and copied.
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
      // SQLite creates the log with the first write.
      each.own ??= found?.ino;
      if (each.own === undefined) continue;
      // SQLite never shrinks either file while it has it open.
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
      // There may be no write that would notice it.
      if (failure?.code === "store.full" && roomFor(file) > minFreeSpace) setFailure(undefined);
      return failure;
    },
    addProject: guarded(store.addProject),
    updateProject: guarded(store.updateProject),
    removeProject: guarded(store.removeProject),
    createTask: guarded(store.createTask),
    saveDecision: guarded(store.saveDecision),
    saveDecisions: guarded(store.saveDecisions),
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
    messages: kept(store.messages),
    calls: kept(store.calls),
    chatQuestions: kept(store.chatQuestions),
    conversations: kept(store.conversations),
    usage: kept(store.usage),
    merges: kept(store.merges),
    pullRequests: kept(store.pullRequests),
    seen: kept(store.seen),
    workSizes: kept(store.workSizes),
    webKeys: { ...store.webKeys, put: guarded(store.webKeys.put), take: guarded(store.webKeys.take) },
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
  if (code !== "store.full") return new Fault(code, `${message} No task continues.`, { retry, hint });
  return new Fault(code, `The disk of ${dirname(file)} is full: nothing can be saved, and no task continues.`, {
    ...{ retry, hint: "Make room; nothing is lost, and all tasks continue then." },
  });
}

function lost(path: string): Fault {
  return new Fault("store.lost", `The file ${path} was deleted, replaced or truncated while the daemon used it.`, {
    hint: "Nothing new can be saved. The daemon has copied the saved data, if it could. To make another copy: signalbox backup\nThen stop it and restore the newest copy: signalbox down, then signalbox restore",
  });
}

interface KeeperPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly places: Pick<Places, "backups" | "storeNote">;
}

/** Backs the store up once a day, and notes the store's position in a file beside it. */
interface StoreKeeper {
  start(): void;
  /** Something was written: the position is noted within a second. */
  written(): void;
  /** Copies what can still be read of a store whose file is lost. */
  rescue(): Promise<void>;
  /** The home was moved: nothing more is written there. */
  leave(): void;
  /** Notes the position durably. The store must still be open. */
  stop(): Promise<void>;
}

const day = 24 * 60 * 60 * 1000;
const checkInterval = 60 * 60 * 1000;
/** The first check waits until the work after a start is done. */
const firstCheck = 60 * 1000;
const noteDelay = 1000;

export function createStoreKeeper(store: Store, { clock, log, places }: KeeperPorts): StoreKeeper {
  let isLost = false;
  let cancelNote: (() => void) | undefined;
  let cancelLook = () => {};
  let working: Promise<unknown> = Promise.resolve();
  const noteOf = async (): Promise<StoreNote> => ({
    number: await store.lastNumber(),
    projects: (await store.listProjects()).length,
    at: isoTime(clock.now()),
  });
  const note = async (write: typeof writeStoreNote) => {
    if (isLost) return;
    try {
      write(places, await noteOf());
    } catch (error) {
      log.warn("The position of the store could not be noted", { error });
    }
  };
  const copy = async (kind: "daily" | "asked") => {
    makePrivateFolder(places.backups);
    const path = backupFile(places, clock.now(), kind);
    await store.backup(path);
    log.info("The store was copied", { path });
  };
  const backUp = async () => {
    const newest = listBackups(places).find(({ kind, at }) => kind === "daily" && at !== undefined)?.at;
    // A clock that was set back must not prevent backups for ever.
    const isDue = newest === undefined || Math.abs(clock.now() - newest) >= day;
    if (isLost || !isDue || (await store.listProjects()).length === 0) return;
    await copy("daily");
    pruneBackups(places, "daily");
  };
  const look = (time: number) => {
    cancelLook = clock.after(time, () => {
      working = backUp()
        .catch((error) => log.error("The daily backup failed", { error }))
        .then(() => look(checkInterval));
    });
  };
  return {
    start() {
      look(firstCheck);
      // The home of an older version has no note yet.
      working = note(updateStoreNote);
    },
    written() {
      cancelNote ??= clock.after(noteDelay, () => {
        cancelNote = undefined;
        working = Promise.all([working, note(updateStoreNote)]);
      });
    },
    async rescue() {
      isLost = true;
      // Nothing is written to the old place of a home that was moved.
      if (!existsSync(dirname(places.storeNote))) return;
      try {
        await copy("asked");
      } catch (error) {
        log.error("The lost store could not be copied", { error });
      }
    },
    leave() {
      isLost = true;
    },
    async stop() {
      cancelLook();
      cancelNote?.();
      await working;
      cancelLook();
      await note(writeStoreNote);
    },
  };
}
