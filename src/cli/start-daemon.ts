import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Call, createClient, type ErrorBody, faultOf } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { isGone, silentDaemon, socketRequest } from "../api/socket-request.ts";
import type { TypeOf } from "../api/wire.ts";
import { Fault } from "../fault.ts";
import { findProgram } from "../find-program.ts";
import { isOfAgent } from "../home/credential.ts";
import { personsEnvironment, type Surroundings, startedByAgent, surroundingsForAgent } from "../home/environment.ts";
import { readHumanToken } from "../home/human-token.ts";
import { lockHolder } from "../home/lock.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import { type Places, packageRoot, shownPath, socketToAsk } from "../home/places.ts";
import { shellWord } from "../shell-quote.ts";
import { isNotRunning } from "./fast/ask-daemon.ts";

const startTimeout = 20_000;
/** For a daemon that another process started, that has the lock and does not answer: it may be shutting down. */
const otherTimeout = 10_000;
const answerTimeout = 3_000;
/** The daemon's exit code if another daemon has the lock of the home. */
const alreadyRunning = 75;

/** The daemon's file: the source if we run from sources, otherwise the bundle. */
function daemonFile(): string {
  const isSource = import.meta.filename.endsWith(".ts");
  return join(packageRoot(), isSource ? join("src", "app.ts") : join("dist", "app.cjs"));
}

/**
 * By default Node's young generation grows to 100 MB; a daemon that mostly waits needs 8. And
 * forking git is faster from a small process.
 */
export const daemonFlags = ["--max-semi-space-size=4", "--optimize-for-size"];

export function daemonArguments(...more: readonly string[]): string[] {
  return [...daemonFlags, daemonFile(), ...more];
}

/** The daemon's environment: the person's own or, if an agent starts it, the one that a person last gave it. */
export function daemonSurroundings(places: Places, home: string, env: NodeJS.ProcessEnv): Surroundings {
  if (!isOfAgent(places, env)) {
    const own = { ...personsEnvironment(env), SIGNALBOX_HOME: home };
    return { env: own, umask: process.umask(), nice: getPriority() };
  }
  const given = surroundingsForAgent(places, env);
  return { ...given, env: { ...given.env, SIGNALBOX_HOME: home, [startedByAgent]: "1" } };
}

/** Starts the daemon and waits until it answers. Of several started together, one remains. */
export async function startDaemon(places: Places, home: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const folder of [home, places.run, dirname(places.socket)]) makePrivateFolder(folder);
  const began = performance.now();
  let candidate = spawnDaemon(places, home, env);
  let tried = began;
  while (performance.now() - began < startTimeout) {
    const pid = await answering(places.socket);
    // Our candidate must not become the daemon later, when the one that answers stops.
    if (pid !== undefined) return pid === candidate.pid ? undefined : candidate.withdraw();
    const code = candidate.ended();
    if (code !== undefined && code !== alreadyRunning) throw startFault(places);
    await sleep(15);
    if (code !== alreadyRunning) continue;
    // The daemon with the lock does not answer: it may be shutting down, and then the lock is free.
    if (performance.now() - began > otherTimeout) throw silentFault(lockHolder(places)?.pid);
    if (performance.now() - tried < 300) continue;
    tried = performance.now();
    candidate = spawnDaemon(places, home, env);
  }
  throw new Fault(silentDaemon, "The daemon does not answer.", {
    retry: "later",
    hint: `Read ${places.log} and ${places.startReport}.`,
  });
}

/** How long a run waits for a daemon that it cannot start. */
const runTimeout = 30_000;

/**
 * For a run in a sandbox, which may not write to the home: waits until another process starts the daemon, such as the
 * supervisor of a run outside of the sandbox, or the next command of a person.
 */
export async function awaitDaemon(places: Places, why: unknown): Promise<void> {
  const end = performance.now() + runTimeout;
  while (performance.now() < end) {
    if ((await answering(places.socket)) !== undefined) return;
    await sleep(100);
  }
  const reason = why instanceof Error ? why.message : String(why);
  throw new Fault(
    "daemon.absent",
    `The daemon is not running, and cannot be started from here: ${reason} No other process started it within ${runTimeout / 1000} s.`,
    {
      retry: "later",
      hint: "Nothing has changed. Keep your files, and try again later; a person starts the daemon with signalbox up",
      cause: why,
    },
  );
}

/** A started daemon process: it becomes the daemon if it gets the lock. */
interface Candidate {
  readonly pid: number | undefined;
  /** The exit code after it has ended. */
  ended(): number | undefined;
  /** Ends it, because another daemon has the lock. */
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

/** The daemon does not inherit an agent's low priority, because it serves all. */
function hurry(pid: number | undefined, nice: number): void {
  try {
    if (pid !== undefined && getPriority(pid) !== nice) setPriority(pid, nice);
  } catch {
    // Only root may raise a priority.
  }
}

function openReport(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${file} cannot be written (${code}).`, {
      hint: "Check SIGNALBOX_HOME, the folder's permissions and the free space.",
      cause: error,
    });
  }
}

/** The process id of the daemon that answers; undefined if none does. */
async function answering(socket: string): Promise<number | undefined> {
  try {
    const request = { socket, method: "GET", path: routes.health.path, headers: {}, timeout: answerTimeout };
    return (JSON.parse((await socketRequest(request)).body) as { pid?: number }).pid ?? 0;
  } catch {
    return undefined;
  }
}

/** Why the daemon did not start, from its own report. */
function startFault(places: Places): Fault {
  const report = readFileSync(places.startReport, "utf8").trim();
  const last = report.split("\n").at(-1) ?? "";
  try {
    return faultOf(JSON.parse(last) as ErrorBody);
  } catch {
    return new Fault("daemon.failed", `The daemon did not start.\n${report.slice(-2_000)}`.trim(), {
      hint: `Read ${places.log}, or run it in the foreground: signalbox up --foreground`,
    });
  }
}

/** The command that runs us: the name if it is on the PATH, otherwise the launcher of the checkout. */
export function ownCommand(path = ""): string {
  const launcher = join(packageRoot(), "bin", "signalbox");
  return findProgram("signalbox", path) !== "" || !existsSync(launcher) ? "signalbox" : shownPath(launcher);
}

/** The state of a home's daemon, as far as it can be found in a few seconds. */
export type FoundDaemon =
  | { readonly kind: "answers"; readonly status: TypeOf<typeof routes.status.answer> }
  /** It has the lock, but does not answer: it is starting, busy, hanging or suspended. */
  | { readonly kind: "silent"; readonly pid: number | undefined }
  /** It answers, but not to us: the person's token is missing, damaged or not the daemon's. */
  | { readonly kind: "closed"; readonly pid: number; readonly version: string; readonly problem: Fault }
  | { readonly kind: "none" };

const findTimeout = 2_500;

/** Calls the daemon with the person's token, as the commands for a person's own checks do; these start no daemon. */
export function personsCall(places: Places, timeout: () => number | undefined = () => undefined): Call {
  const { token } = tokenOf(places);
  const headers: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return createClient((question) => {
    const limit = timeout();
    return socketRequest({
      ...{ ...question, socket: socketToAsk(places), headers },
      ...(limit === undefined ? {} : { timeout: limit }),
    });
  });
}

/** The token itself may be what is wrong. */
function tokenOf(places: Places): { readonly token?: string | undefined; readonly problem?: Fault } {
  try {
    return { token: readHumanToken(places) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { problem: error };
  }
}

function otherToken({ humanToken }: Places): Fault {
  return new Fault("invalid-token", `The daemon does not accept the token in ${humanToken}.`, {
    hint: `Remove the file; the daemon creates another: rm ${shellWord(humanToken)}`,
  });
}

export async function findDaemon(places: Places): Promise<FoundDaemon> {
  const end = performance.now() + findTimeout;
  for (;;) {
    const { token, problem } = tokenOf(places);
    const call = personsCall(places, () => Math.max(200, end - performance.now()));
    try {
      return { kind: "answers", status: await call(routes.status) };
    } catch (error) {
      const holder = lockHolder(places);
      if (error instanceof Fault && error.code === "caller.unknown") {
        // A daemon whose token was deleted creates another within a second or two.
        const isDeleted = token === undefined && problem === undefined && performance.now() < end;
        if (!isDeleted)
          return { kind: "closed", ...(await call(routes.health)), problem: problem ?? otherToken(places) };
        await sleep(50);
        continue;
      }
      if (error instanceof Fault && error.code === silentDaemon) return { kind: "silent", pid: holder?.pid };
      if (!isNotRunning(error) && !isGone(error)) throw error;
      if (holder === undefined) return { kind: "none" };
      // A daemon whose socket was deleted creates it again within a second or two.
      if (performance.now() > end) return { kind: "silent", pid: holder.pid };
      await sleep(50);
    }
  }
}

/** The error for a running daemon that does not answer. */
export function silentFault(pid: number | undefined): Fault {
  const who = pid === undefined ? "The daemon" : `The daemon (process ${pid})`;
  return new Fault(silentDaemon, `${who} runs, but does not answer.`, {
    retry: "later",
    hint: "It may be busy or starting: try again. To kill it, which loses nothing (unfinished effects are done again): signalbox down --force",
  });
}
