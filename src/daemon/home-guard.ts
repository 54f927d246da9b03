import { existsSync, readFileSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureHumanToken } from "../home/human-token.ts";
import { type Lock, takeLock } from "../home/lock.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import type { Places } from "../home/places.ts";
import { publishFile } from "../home/publish-file.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

export interface HomeGuardPorts {
  readonly home: string;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly lock: Lock;
  readonly pid: number;
  /** Whether the file at the socket's path is the one that is listened on. */
  isListening(): boolean;
  /** Listens again at the socket's path. */
  listen(): Promise<void>;
  /** Looks whether the database's files are still there. */
  lookAtStore(): void;
  /** Puts there what agents call. */
  placePrograms(): void;
  /** The person's token is another one now. */
  useToken(token: string): void;
  /** The home is not where it was: nothing can be saved or found there any more. */
  onHomeGone(): void;
}

export interface HomeGuard {
  start(): void;
  stop(): Promise<void>;
  release(): void;
}

const interval = 1_000;

/**
 * Once a second, makes again what was deleted of the daemon's own files while it runs: folders, lock, number, socket, the
 * person's token, what must outlive the daemon. A home that was moved or deleted ends the daemon.
 */
export function createHomeGuard(ports: HomeGuardPorts): HomeGuard {
  const { home, places, clock, log, pid } = ports;
  const own = fileAt(home);
  const kept = ["agents.json", "paused.json", "crew.json"].map((name) => ({
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
  const tell = (what: string) => log.warn(`${what} was deleted or replaced while the daemon ran; it is made again`);

  /** What is at the path may be somebody's who took the place of a deleted file: it is tried again until it is ours. */
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
  /** Deleting the token is how a person gets a new one; the old one is worth nothing from then on. */
  const keepToken = () => {
    const found = fileAt(places.humanToken);
    if (found !== undefined && found === token) return;
    ports.useToken(ensureHumanToken(places));
    token = fileAt(places.humanToken);
    log.warn("The person's token was deleted or replaced; another one counts from now on");
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
  /** What could not be done, by the step: it is logged once. */
  const troubles = new Map<() => void | Promise<void>, string>();
  const look = async () => {
    if (fileAt(home) !== own) {
      // A folder that is renamed and renamed back again is no reason to end.
      if (++missed < 2) return;
      log.error(`The home ${home} was moved or deleted; the daemon stops`);
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
      // What cannot be made again, on a full disk say, must not keep the rest from it.
      try {
        await step();
        troubles.delete(step);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (troubles.get(step) !== message) log.error("A file of the daemon's could not be made again", { error });
        troubles.set(step, message);
      }
    }
  };
  const wait = () => {
    if (isStopped) return;
    cancel = clock.after(interval, () => {
      looking = look()
        .catch((error) => log.error("The daemon's own files could not be looked after", { error }))
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

/** Device and number of what is at a path. */
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
