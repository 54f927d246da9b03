import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunView } from "../api/agents.ts";
import { type Call, createClient, type ErrorBody, faultOf, type Given, pathOf, type Route } from "../api/client.ts";
import type { EventStreamListener } from "../api/event-stream.ts";
import { routes } from "../api/routes.ts";
import { daemonGone, isGone, openStream, readHead, type SocketAnswer } from "../api/socket-request.ts";
import type { EventView } from "../api/tasks.ts";
import { Fault } from "../fault.ts";
import { isOfAgent } from "../home/credential.ts";
import { homePlaces, packageVersion } from "../home/places.ts";
import type { Context } from "./context.ts";
import {
  type Asker,
  askDaemon,
  isNotRunning,
  olderDaemon,
  type Question,
  requestOf,
  warningOf,
} from "./fast/ask-daemon.ts";
import { pause } from "./screen.ts";
import { awaitDaemon, startDaemon } from "./start-daemon.ts";

/** Without `say`, the daemon's warnings are not printed. */
type Caller = Pick<Context, "home" | "process"> & Partial<Pick<Context, "say" | "talkPaint">>;

/**
 * Calls the daemon, and starts it first if it is not running. If it ends before it answers, an idempotent request is
 * sent to the next daemon.
 */
export function createCall(context: Caller): Call {
  const asker = askerOf(context);
  return createClient((question) => ask(context, asker, question));
}

/**
 * Calls the daemon for a command that watches for a while. The first request starts it if it is not running. Later
 * requests wait until it is back: a person may have stopped it on purpose, and the watchdog restarts it after a crash.
 * Requests that change something always start it. When `ending` fires, a waiting request fails.
 */
export function createOnlooker(context: Caller & Pick<Context, "say">, ending?: AbortSignal): Call {
  const asker = askerOf(context);
  const absence = createAbsence(context.say);
  let hasAnswered = false;
  return createClient(async (question) => {
    if (!hasAnswered || question.method !== "GET") {
      const answer = await ask(context, asker, question);
      hasAnswered = true;
      return answer;
    }
    for (;;) {
      try {
        const answer = await askDaemon({ ...asker, version: anyVersion }, question);
        warn(context, answer);
        absence.isOver();
        return answer;
      } catch (error) {
        if (ending?.aborted || !(isNotRunning(error) || isGone(error))) throw error;
        absence.goesOn();
        await pause(lookInterval, ending);
      }
    }
  });
}

/** Reports once whenever the daemon is gone for longer than a restart or a replacement takes. */
export function createAbsence(say: (text: string) => void) {
  let since: number | undefined;
  let isTold = false;
  return {
    goesOn() {
      since ??= performance.now();
      if (isTold || performance.now() - since < replaceTime) return;
      isTold = true;
      say("The daemon was stopped. This continues when it runs again: signalbox up");
    },
    isOver() {
      since = undefined;
      isTold = false;
    },
  };
}

const lookInterval = 200;
const replaceTime = 1_500;

/** The answer of a route that does not return JSON. */
export async function fetchText(context: Caller, route: Route, given: Given<unknown, unknown>): Promise<string> {
  const question = { method: route.method, path: pathOf(route, given), body: undefined };
  const { status, body } = await ask(context, askerOf(context), question);
  if (status >= 400) throw faultOf(JSON.parse(body) as ErrorBody);
  return body;
}

/** Calls the daemon only if it runs, even an older one; undefined if it is not running. */
export async function callRunning<T>(context: Caller, run: (call: Call) => Promise<T>): Promise<T | undefined> {
  const asker = { ...askerOf(context), version: anyVersion };
  try {
    return await run(
      createClient(async (question) => {
        const answer = await send(asker, question);
        warn(context, answer);
        return answer;
      }),
    );
  } catch (error) {
    if (isNotRunning(error)) return undefined;
    throw error;
  }
}

interface StreamListener {
  /** The current state of an agent; only with `live`. */
  onLive?(run: RunView): void;
  onConnected?(): void;
  onLost?(): void;
}

/** Follows the event feed until the signal fires. If the daemon goes away, resumes after the last event. */
export async function followStream(
  context: Caller,
  query: Readonly<Record<string, string>>,
  onEvent: (event: EventView) => void,
  signal: AbortSignal,
  { onLive, onConnected, onLost }: StreamListener = {},
): Promise<void> {
  const asker = askerOf(context);
  let last: string | undefined;
  const listener: EventStreamListener = {
    // Events before the first one that arrives must not be lost if the daemon goes away.
    onBegin: (position) => {
      last = position;
      onConnected?.();
    },
    onEvent: (event) => {
      last = String(event.position);
      onEvent(event);
    },
    ...(onLive === undefined ? {} : { onLive }),
  };
  // Loaded lazily: most commands do not follow events.
  const { createEventReader } = await import("../api/event-stream.ts");
  // A command that only watches does not restart a daemon that a person has stopped.
  await ask(context, asker, { method: "GET", path: pathOf(routes.status, {}), body: undefined });
  while (!signal.aborted) {
    const path = pathOf(routes.streamEvents, { query: last === undefined ? query : { ...query, after: last } });
    await readStream(asker, path, createEventReader(listener), signal);
    if (!signal.aborted) onLost?.();
    await pause(lookInterval, signal);
  }
}

function askerOf({ home, process }: Caller): Asker {
  const env = (process as NodeJS.Process).env;
  return { places: homePlaces(home), env, folder: globalThis.process.cwd(), version: packageVersion };
}

/** Like `askDaemon`, with advice if the answer is lost. */
async function send(asker: Asker, question: Question): Promise<SocketAnswer> {
  try {
    return await askDaemon(asker, question);
  } catch (error) {
    throw isGone(error) ? lostAnswer(question.path, error) : error;
  }
}

/** The error for a lost answer, with what else is known, and the command that shows what happened. */
export function lostAnswer(path: string, cause?: unknown, also = ""): Fault {
  const { code, message, retry } = daemonGone();
  const about = taskOf(path);
  const look = about === undefined ? "signalbox status" : `signalbox task history ${about}`;
  const hint = `See what happened with "${look}", then try again if necessary.`;
  return new Fault(code, `${message} ${also}`.trimEnd(), { retry, hint, cause });
}

/** The task that a request is about, as a person would name it anywhere; undefined if it is about none. */
function taskOf(path: string): string | undefined {
  const [, task] = /^\/v1\/tasks\/([^/?]+)/.exec(path) ?? [];
  if (task === undefined) return undefined;
  const project = new URLSearchParams(path.split("?")[1]).get("project");
  const name = decodeURIComponent(task);
  return project !== null && /^\d+$/.test(name) ? `${project}#${name}` : name;
}

async function ask(context: Caller, asker: Asker, question: Question): Promise<SocketAnswer> {
  const { isIdempotent = question.method === "GET" } = question;
  let lostAnswers = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await send(asker, question);
      if (answer.status !== olderDaemon || attempt > maxAttempts) {
        warn(context, answer);
        return answer;
      }
      await replaceDaemon(asker);
    } catch (error) {
      if (isIdempotent && isGone(error) && ++lostAnswers <= maxAttempts) {
        attempt = 0;
        continue;
      }
      if (!isNotRunning(error) || attempt > maxAttempts) throw error;
      await startDaemon(asker.places, context.home, asker.env).catch((problem: unknown) => {
        if (!isOfAgent(asker.places, asker.env) || isToldByDaemon(problem)) throw problem;
        return awaitDaemon(asker.places, problem);
      });
    }
  }
}

const warned = new WeakSet<object>();

/** Prints the daemon's warning, once for each command, however many requests it makes. */
function warn({ process, say, talkPaint }: Caller, answer: SocketAnswer): void {
  const warning = warningOf(answer);
  if (warning === "" || say === undefined || warned.has(process)) return;
  warned.add(process);
  say(`${talkPaint?.yellow("warning:") ?? "warning:"} ${warning}`);
}

/** The daemon was started and refused to run: another attempt would fail too. */
function isToldByDaemon(problem: unknown): boolean {
  return problem instanceof Fault && problem.code.startsWith("store.") && problem.code !== "store.read-only";
}

const maxAttempts = 3;
/** Older than every daemon, so that none refuses it. */
const anyVersion = "0.0.0";

/** Stops an older daemon; the next request starts ours. */
async function replaceDaemon(person: Asker): Promise<void> {
  const asker = { ...person, version: anyVersion };
  await askDaemon(asker, { method: "POST", path: routes.stop.path, body: "{}" });
  for (let waited = 0; waited < 10_000; waited += 20) {
    try {
      await askDaemon(asker, { method: "GET", path: routes.status.path, body: undefined });
    } catch (error) {
      if (isNotRunning(error)) return;
    }
    await sleep(20);
  }
  throw new Fault("daemon.silent", "The older daemon does not stop.", { hint: "Stop it with signalbox down --force." });
}

/** Passes on the bytes of a stream until the connection ends. */
function readStream(asker: Asker, path: string, onBody: (bytes: Buffer) => void, signal: AbortSignal) {
  return new Promise<void>((resolve, reject) => {
    /** The head, or the body of a refusal. */
    let bytes: Buffer = Buffer.alloc(0);
    let status: number | undefined;
    const end = () => {
      if (status === undefined || status < 400) return resolve();
      try {
        reject(faultOf(JSON.parse(bytes.toString("utf8")) as ErrorBody));
      } catch (error) {
        reject(error);
      }
    };
    const take = (chunk: Buffer) => {
      if (status !== undefined && status < 400) return onBody(chunk);
      bytes = Buffer.concat([bytes, chunk]);
      const head = status === undefined ? readHead(bytes) : undefined;
      if (head === undefined) return;
      status = head.status;
      bytes = bytes.subarray(head.end);
      if (status < 400) onBody(bytes);
    };
    const hangUp = openStream(requestOf(asker, { method: "GET", path, body: undefined }), take, end, () => resolve());
    signal.addEventListener("abort", () => {
      hangUp();
      resolve();
    });
  });
}

/** Whether the process exists. A zombie counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that it exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  try {
    return !/\) Z /.test(readFileSync(join("/proc", String(pid), "stat"), "latin1"));
  } catch {
    return true;
  }
}
