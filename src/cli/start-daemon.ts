import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorBody, faultOf } from "../api/error.ts";
import { silentDaemon, socketRequest } from "../api/socket-request.ts";
import { Fault } from "../fault.ts";
import {
  personsEnvironment,
  type Surroundings,
  startedByAgent,
  surroundingsForAgent,
} from "../home/daemon-environment.ts";
import { lockHolder } from "../home/lock-holder.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import { packageRoot } from "../home/package-root.ts";
import type { Places } from "../home/places.ts";
import { isOfAgent } from "./credential.ts";
import { silentFault } from "./find-daemon.ts";

const patience = 20_000;
/** For one that another process has started, has its lock, and does not answer: it may be on its way out. */
const otherPatience = 10_000;
const answerPatience = 3_000;
/** The daemon's own way to say that another one has the home; that one will answer. */
const alreadyRunning = 75;

/** The file that is the daemon: a source beside sources, a bundle beside bundles. */
function daemonFile(): string {
  const isSource = import.meta.filename.endsWith(".ts");
  return join(packageRoot(), isSource ? join("src", "app.ts") : join("dist", "app.cjs"));
}

/**
 * Node would let the youngest objects take 100 MB before it looks for garbage; a daemon that mostly waits needs 8. And
 * whenever git is started, a small process is copied faster than a large one.
 */
export function daemonArguments(...more: readonly string[]): string[] {
  return ["--max-semi-space-size=4", "--optimize-for-size", daemonFile(), ...more];
}

/** What the daemon is started with: a person's own environment, or what a person last gave it where an agent asks. */
export function daemonSurroundings(places: Places, home: string, env: NodeJS.ProcessEnv): Surroundings {
  if (!isOfAgent(places, env)) {
    const own = { ...personsEnvironment(env), SIGNALBOX_HOME: home };
    return { env: own, umask: process.umask(), nice: getPriority() };
  }
  const given = surroundingsForAgent(places, env);
  return { ...given, env: { ...given.env, SIGNALBOX_HOME: home, [startedByAgent]: "1" } };
}

/** Starts the daemon and comes back when it answers. Of several that are started at once, one stays. */
export async function startDaemon(places: Places, home: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const folder of [home, places.run, dirname(places.socket)]) makePrivateFolder(folder);
  const began = performance.now();
  let candidate = spawnDaemon(places, home, env);
  let tried = began;
  while (performance.now() - began < patience) {
    const pid = await answering(places.socket);
    // One that is too late must not become the daemon after all, when the one that answers is stopped.
    if (pid !== undefined) return pid === candidate.pid ? undefined : candidate.withdraw();
    const code = candidate.ended();
    if (code !== undefined && code !== alreadyRunning) throw startFault(places);
    await sleep(15);
    if (code !== alreadyRunning) continue;
    // The one that has the home does not answer: it may be on its way out, and then the place is free.
    if (performance.now() - began > otherPatience) throw silentFault(lockHolder(places)?.pid);
    if (performance.now() - tried < 300) continue;
    tried = performance.now();
    candidate = spawnDaemon(places, home, env);
  }
  throw new Fault(silentDaemon, "The daemon does not answer.", {
    retry: "later",
    hint: `Look into ${places.log} and ${places.startReport}.`,
  });
}

/** How long a run waits for a daemon that it cannot start itself. */
const runPatience = 30_000;

/**
 * For a run in a sandbox, which may not write to the home: waits for a daemon that somebody else starts, such as the
 * supervisor of a run outside of the sandbox, or the next command of a person.
 */
export async function awaitDaemon(places: Places, why: unknown): Promise<void> {
  const end = performance.now() + runPatience;
  while (performance.now() < end) {
    if ((await answering(places.socket)) !== undefined) return;
    await sleep(100);
  }
  const reason = why instanceof Error ? why.message : String(why);
  throw new Fault(
    "daemon.absent",
    `The daemon does not run, and cannot be started from here: ${reason} Nobody else started it within ${runPatience / 1000} s.`,
    {
      retry: "later",
      hint: "Nothing was changed. Keep what you have written, and try again later; a person starts the daemon with signalbox up",
      cause: why,
    },
  );
}

/** A daemon that was started: it stays if it gets the lock. */
interface Candidate {
  readonly pid: number | undefined;
  /** The exit code, once there is one. */
  ended(): number | undefined;
  /** Ends it: another one has the lock. */
  withdraw(): void;
}

function spawnDaemon(places: Places, home: string, env: NodeJS.ProcessEnv): Candidate {
  const report = openReport(places.startReport);
  const surroundings = daemonSurroundings(places, home, env);
  const own = process.umask(surroundings.umask);
  const child = spawn(process.execPath, daemonArguments("--revived=0"), {
    cwd: home,
    detached: true,
    stdio: ["ignore", report, report],
    env: surroundings.env,
  });
  process.umask(own);
  hurry(child.pid, surroundings.nice);
  closeSync(report);
  let ended: number | undefined;
  child.on("exit", (code) => {
    ended = code ?? 1;
  });
  child.on("error", () => {
    ended = 1;
  });
  child.unref();
  return { pid: child.pid, ended: () => ended, withdraw: () => void child.kill("SIGKILL") };
}

/** An agent may be made to work slowly; the daemon works for everybody. */
function hurry(pid: number | undefined, nice: number): void {
  try {
    if (pid !== undefined && getPriority(pid) !== nice) setPriority(pid, nice);
  } catch {
    // The system lets nobody but root be less nice than before.
  }
}

function openReport(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${file} cannot be written (${code}).`, {
      hint: "Look at SIGNALBOX_HOME, at the folder's permissions and at the free space.",
      cause: error,
    });
  }
}

/** The process of the daemon that answers; undefined where none does. */
async function answering(socket: string): Promise<number | undefined> {
  try {
    const request = { socket, method: "GET", path: "/v1/status", headers: {}, patience: answerPatience };
    return (JSON.parse((await socketRequest(request)).body) as { pid?: number }).pid ?? 0;
  } catch {
    return undefined;
  }
}

/** Why the daemon did not start, in its own words. */
function startFault(places: Places): Fault {
  const report = readFileSync(places.startReport, "utf8").trim();
  const last = report.split("\n").at(-1) ?? "";
  try {
    return faultOf(JSON.parse(last) as ErrorBody);
  } catch {
    return new Fault("daemon.failed", `The daemon did not start.\n${report.slice(-2_000)}`.trim(), {
      hint: `Look into ${places.log}, or run it before your eyes: signalbox up --foreground`,
    });
  }
}
