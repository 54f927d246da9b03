import { setTimeout as sleep } from "node:timers/promises";
import type { RunView } from "../api/agent-wires.ts";
import { type Call, createClient, type Given, pathOf } from "../api/client.ts";
import { type ErrorBody, faultOf } from "../api/error.ts";
import type { Route } from "../api/route.ts";
import { routes } from "../api/routes.ts";
import { openStream, readHead, type SocketAnswer } from "../api/socket-request.ts";
import type { EventView } from "../api/task-wires.ts";
import { Fault } from "../fault.ts";
import { packageVersion } from "../home/package-version.ts";
import { homePlaces } from "../home/places.ts";
import { type Asker, askDaemon, isNotRunning, olderDaemon, type Question, requestOf } from "./ask-daemon.ts";
import type { Context } from "./context.ts";
import { isOfAgent } from "./credential.ts";
import { pause } from "./pause.ts";
import { awaitDaemon, startDaemon } from "./start-daemon.ts";

type Caller = Pick<Context, "home" | "process">;

/** Calls the daemon, which is started first where it does not run. */
export function createCall(context: Caller): Call {
  const asker = askerOf(context);
  return createClient((question) => ask(context, asker, question));
}

/**
 * Calls the daemon for somebody who looks on for a while. The first question starts it where it does not run. Later
 * questions wait until it is back: a person may have stopped it on purpose, and the watchdog revives one that crashed.
 * What changes something starts it as ever. Once `ending` fires, a question that waits fails.
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

/** Tells once, whenever the daemon is away for longer than it takes to revive or to replace it. */
export function createAbsence(say: (text: string) => void) {
  let since: number | undefined;
  let isTold = false;
  return {
    goesOn() {
      since ??= performance.now();
      if (isTold || performance.now() - since < replaceTime) return;
      isTold = true;
      say("The daemon was stopped. This goes on when it runs again: signalbox up");
    },
    isOver() {
      since = undefined;
      isTold = false;
    },
  };
}

const lookInterval = 200;
const replaceTime = 1_500;

/** It went away while it was asked. */
function isGone(error: unknown): boolean {
  return error instanceof Fault && error.code === "daemon.gone";
}

/** The answer of a route that gives no JSON. */
export async function fetchText(context: Caller, route: Route, given: Given<unknown, unknown>): Promise<string> {
  const question = { method: route.method, path: pathOf(route, given), body: undefined };
  const { status, body } = await ask(context, askerOf(context), question);
  if (status >= 400) throw faultOf(JSON.parse(body) as ErrorBody);
  return body;
}

/** Calls the daemon only if it runs, and as it is, be it older; undefined where it does not run. */
export async function callRunning<T>(context: Caller, run: (call: Call) => Promise<T>): Promise<T | undefined> {
  const asker = { ...askerOf(context), version: anyVersion };
  try {
    return await run(createClient((question) => askDaemon(asker, question)));
  } catch (error) {
    if (isNotRunning(error)) return undefined;
    throw error;
  }
}

export interface StreamListener {
  /** How an agent is now; only where `live` is asked for. */
  onLive?(run: RunView): void;
  onConnected?(): void;
  onLost?(): void;
}

/** Follows history until the signal fires. Where the daemon goes away, it is taken up again after the last event. */
export async function followStream(
  context: Caller,
  query: Readonly<Record<string, string>>,
  onEvent: (event: EventView) => void,
  signal: AbortSignal,
  { onLive, onConnected, onLost }: StreamListener = {},
): Promise<void> {
  const asker = askerOf(context);
  let last: string | undefined;
  const take = (block: string) => {
    // Where it begins is said first: what happens before the first event comes must not be lost with the daemon.
    const [, from] = /^: from (\d+)$/m.exec(block) ?? [];
    const [, data] = /^data: (.*)$/m.exec(block) ?? [];
    last = from ?? last;
    if (from !== undefined) onConnected?.();
    if (data === undefined) return;
    if (/^event: live$/m.test(block)) return onLive?.(JSON.parse(data) as RunView);
    const event = JSON.parse(data) as EventView;
    last = String(event.position);
    onEvent(event);
  };
  // Whoever only looks on does not bring a daemon back that somebody has stopped.
  await ask(context, asker, { method: "GET", path: pathOf(routes.status, {}), body: undefined });
  while (!signal.aborted) {
    const path = pathOf(routes.streamEvents, { query: last === undefined ? query : { ...query, after: last } });
    await readStream(asker, path, take, signal);
    if (!signal.aborted) onLost?.();
    await pause(lookInterval, signal);
  }
}

function askerOf({ home, process }: Caller): Asker {
  const env = (process as NodeJS.Process).env;
  return { places: homePlaces(home), env, folder: globalThis.process.cwd(), version: packageVersion };
}

async function ask(context: Caller, asker: Asker, question: Question): Promise<SocketAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await askDaemon(asker, question);
      if (answer.status !== olderDaemon || attempt > mostAttempts) return answer;
      await replaceDaemon(asker);
    } catch (error) {
      if (!isNotRunning(error) || attempt > mostAttempts) throw error;
      await startDaemon(asker.places, context.home, asker.env).catch((problem: unknown) => {
        if (!isOfAgent(asker.places, asker.env) || isToldByDaemon(problem)) throw problem;
        return awaitDaemon(asker.places, problem);
      });
    }
  }
}

/** A daemon was started, and refused to go on: nobody else could start one either. */
function isToldByDaemon(problem: unknown): boolean {
  return problem instanceof Fault && problem.code.startsWith("store.") && problem.code !== "store.read-only";
}

const mostAttempts = 3;
/** Older than every daemon: none refuses it. */
const anyVersion = "0.0.0";

/** An older daemon makes way for ours, which is started by whoever asks next. */
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

/** Reads server-sent events until the connection ends. */
function readStream(asker: Asker, path: string, onBlock: (block: string) => void, signal: AbortSignal) {
  return new Promise<void>((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let isBody = false;
    let status = 200;
    const end = () => {
      if (status < 400) return resolve();
      try {
        reject(faultOf(JSON.parse(bytes.toString("utf8")) as ErrorBody));
      } catch (error) {
        reject(error);
      }
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (!isBody) {
        const head = readHead(bytes);
        if (head === undefined) return;
        isBody = true;
        status = head.status;
        bytes = bytes.subarray(head.end);
      }
      if (status >= 400) return;
      for (let stop = bytes.indexOf("\n\n"); stop >= 0; stop = bytes.indexOf("\n\n")) {
        const block = bytes.toString("utf8", 0, stop);
        bytes = bytes.subarray(stop + 2);
        onBlock(block);
      }
    };
    const hangUp = openStream(requestOf(asker, { method: "GET", path, body: undefined }), take, end, () => resolve());
    signal.addEventListener("abort", () => {
      hangUp();
      resolve();
    });
  });
}
