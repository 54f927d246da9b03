import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { backupFile, listBackups, pruneBackups } from "../home/backups.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import type { Places } from "../home/places.ts";
import { type StoreNote, updateStoreNote, writeStoreNote } from "../home/store-note.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { isoTime } from "./views.ts";

export interface KeeperPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly places: Pick<Places, "backups" | "storeNote">;
}

/** Backs the store up once a day, and notes beside it how far it has come. */
export interface StoreKeeper {
  start(): void;
  /** Something was written: how far the store has come is noted within a second. */
  written(): void;
  /** Saves what can still be read of a store whose file is lost. */
  rescue(): Promise<void>;
  /** The home is not where it was: nothing is written there any more. */
  leave(): void;
  /** Notes durably how far the store has come. The store must still be open. */
  stop(): Promise<void>;
}

const day = 24 * 60 * 60 * 1000;
const lookInterval = 60 * 60 * 1000;
/** After a start there is enough to do. */
const firstLook = 60 * 1000;
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
      log.warn("How far the store has come could not be noted", { error });
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
    // A clock that was put back must not keep backups from being made for ever.
    const isDue = newest === undefined || Math.abs(clock.now() - newest) >= day;
    if (isLost || !isDue || (await store.listProjects()).length === 0) return;
    await copy("daily");
    pruneBackups(places, "daily");
  };
  const look = (time: number) => {
    cancelLook = clock.after(time, () => {
      working = backUp()
        .catch((error) => log.error("The daily backup failed", { error }))
        .then(() => look(lookInterval));
    });
  };
  return {
    start() {
      look(firstLook);
      // A home of an older version has no note yet.
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
      // Where the home was moved, nothing is made where it was.
      if (!existsSync(dirname(places.storeNote))) return;
      try {
        await copy("asked");
      } catch (error) {
        log.error("What was in the store could not be copied", { error });
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
