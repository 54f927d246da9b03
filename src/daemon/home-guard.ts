import { existsSync, readFileSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { publishFile } from "../durable-file.ts";
import { ensureHumanToken } from "../home/human-token.ts";
import { type Lock, takeLock } from "../home/lock.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import type { Places } from "../home/places.ts";
import type { Clock, Log } from "../ports/system.ts";

interface HomeGuardPorts {
  readonly home: string;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly lock: Lock;
  readonly pid: number;
  /** Whether the file at the socket's path is this daemon's socket. */
  isListening(): boolean;
  /** Listens again at the socket's path. */
  listen(): Promise<void>;
  /** Checks whether the database's files still exist. */
  lookAtStore(): void;
  /** Writes the programs that agents call. */
  placePrograms(): void;
  /** The person's token has changed. */
  useToken(token: string): void;
  /** The home was moved or deleted: nothing can be saved or found there. */
  onHomeGone(): void;
}

export interface HomeGuard {
  start(): void;
  stop(): Promise<void>;
  release(): void;
}

const checkInterval = 1_000;

/**
 * Once a second, restores the daemon's own files that were deleted: folders, lock, pid file, socket, the person's
 * token, and the files that must survive a restart. If the home was moved or deleted, the daemon stops.
 */
export function createHomeGuard(ports: HomeGuardPorts): HomeGuard {
  const { home, places, clock, log, pid } = ports;
  const own = fileAt(home);
  const kept = ["agents.json", "paused.json", "crew.json", "web.json"].map((name) => ({
    file: join(places.run, name),
    seen: undefined as Stats | undefined,
    text: "",
  }));
  let lock = ports.lock;
  let token = fileAt(places.humanToken);
  let missed = 0;
  let cancel = () => {};
  let looking: Promise<void> = Promise.resolve();
  let isStopped = false;
  const tell = (what: string) => log.warn(`${what} was deleted or replaced while the daemon ran; it is restored`);

  /** Another process may hold the file at the path: retried until this daemon holds it. */
  const keepLock = () => {
    if (lock.isInPlace()) return;
    tell(places.lock);
    const next = takeLock(places.lock);
    if (next === undefined) return;
    lock.release();
    lock = next;
  };
  const keepNumber = () => {
    if (textOf(places.pid) === `${pid}\n`) return;
    writeFileSync(places.pid, `${pid}\n`, { mode: 0o600 });
  };
  /** A person deletes the token to get a new one; the old one is invalid from then on. */
  const keepToken = () => {
    const found = fileAt(places.humanToken);
    if (found !== undefined && found === token) return;
    ports.useToken(ensureHumanToken(places));
    token = fileAt(places.humanToken);
    log.warn("The person's token was deleted or replaced; it is replaced by a new one");
  };
  const keepFiles = () => {
    for (const each of kept) {
      const found = statSync(each.file, { throwIfNoEntry: false });
      if (found === undefined) {
        if (each.seen === undefined) continue;
        tell(each.file);
        publishFile(each.file, each.text, { mode: 0o600 });
        each.seen = statSync(each.file, { throwIfNoEntry: false });
      } else if (found.mtimeMs !== each.seen?.mtimeMs || found.ino !== each.seen.ino) {
        each.text = readFileSync(each.file, "utf8");
        each.seen = found;
      }
    }
  };
  const keepFolders = () => {
    for (const folder of [places.run, dirname(places.socket), dirname(places.terminal)]) makePrivateFolder(folder);
  };
  const keepSocket = async () => {
    if (ports.isListening()) return;
    tell(places.socket);
    await ports.listen();
  };
  const keepPrograms = () => {
    if (existsSync(join(places.bin, "signalbox"))) return;
    tell(places.bin);
    ports.placePrograms();
  };
  /** The failure of each step; it is logged once. */
  const troubles = new Map<() => void | Promise<void>, string>();
  const look = async () => {
    if (fileAt(home) !== own) {
      // A folder that is renamed and renamed back is no reason to stop.
      if (++missed < 2) return;
      log.error(`The home ${home} was moved or deleted; the daemon is stopping`);
      return ports.onHomeGone();
    }
    missed = 0;
    const steps = [
      keepFolders,
      keepLock,
      keepNumber,
      keepSocket,
      keepToken,
      keepFiles,
      keepPrograms,
      ports.lookAtStore,
    ];
    for (const step of steps) {
      // A file that cannot be restored, for example on a full disk, must not stop the others from being restored.
      try {
        await step();
        troubles.delete(step);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (troubles.get(step) !== message) log.error("A file of the daemon could not be restored", { error });
        troubles.set(step, message);
      }
    }
  };
  const wait = () => {
    if (isStopped) return;
    cancel = clock.after(checkInterval, () => {
      looking = look()
        .catch((error) => log.error("The daemon's own files could not be checked", { error }))
        .then(wait);
    });
  };
  return {
    start: wait,
    async stop() {
      isStopped = true;
      cancel();
      await looking;
    },
    release() {
      if (textOf(places.pid) === `${pid}\n`) rmSync(places.pid, { force: true });
      lock.release();
    },
  };
}

/** The device and inode number of the file at a path. */
function fileAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
