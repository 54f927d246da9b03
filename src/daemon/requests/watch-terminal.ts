import { Refusal, writeRefusal } from "../../api/client.ts";
import { closeCodes, readWatcherMessage, type TerminalMessage, type WatcherMessage } from "../../api/terminal.ts";
import { Fault } from "../../fault.ts";
import { parseJson } from "../../json.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Screen } from "../../ports/terminal.ts";
import { oneLine } from "../../text.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked } from "../handlers.ts";
import { type LiveSocket, notASocket, type Upgrading } from "../http/upgrade.ts";
import { createRunWatches, type RunWatch, type RunWatches, type Watcher } from "../terminal/run-watches.ts";
import { attend } from "./move-task.ts";
import { outputOf } from "./see-agent.ts";
import { agentsOf, runOf } from "./tasks.ts";

/** Answers a plain request to the route of the WebSocket. */
export function refusePlain() {
  return async (): Promise<never> => {
    throw notASocket();
  };
}

type AskedTerminal = Asked<{ readonly project?: string; readonly run?: string }, unknown>;

/** Lets a person watch a run of a task, and type into its terminal. */
export function watchTerminal(core: Core): Upgrading {
  const watches = createRunWatches({
    ...{ store: core.store, clock: core.clock, eventFeed: core.eventFeed, agents: core.agents, log: core.log },
    readOutput: (run) => (begin) => outputOf(core, run, startedOf(run), { begin, channel: "output", told: true }),
  });
  return async (given) => {
    const asked = given as AskedTerminal;
    agentsOf(core);
    const stored = await findTask(core, asked);
    const run = await wantedRun(core, stored, asked.query.run);
    return (socket) => serveWatcher({ core, watches, asked, socket, task: stored.task.id }, run);
  };
}

type WatchedRun = Run & { readonly started: StartedRun };

async function wantedRun(core: Core, stored: StoredTask, wanted: string | undefined): Promise<WatchedRun> {
  const run = await runOf(core, stored, wanted === undefined ? {} : { role: wanted });
  return { ...run, started: startedOf(run) };
}

function startedOf({ started, key }: Run): StartedRun {
  if (started === undefined) throw new Fault("run.missing", `${key} was not started by the daemon.`);
  return started;
}

interface Serving {
  readonly core: Core;
  readonly watches: RunWatches;
  readonly asked: AskedTerminal;
  readonly socket: LiveSocket;
  readonly task: string;
}

/** Messages that wait: for a watcher who reads slowly, and from one who sends quickly. */
const maxWaiting = 200;
const maxKeys = 1_000;

/** Serves one connection. At most one message is on its way, so that a slow watcher gets the newest screen next. */
function serveWatcher(serving: Serving, first: WatchedRun): void {
  const { core, watches, socket } = serving;
  const waiting: TerminalMessage[] = [];
  const requests: { readonly request: string; readonly message: WatcherMessage }[] = [];
  let isSending = false;
  let isJoining = false;
  let isServing = false;
  let isClosed = false;
  let sent: Screen | null | undefined;
  let position = 0;
  let typed = 0;

  const flush = () => {
    if (isSending || isJoining || isClosed) return;
    const message = waiting.shift() ?? screenMessage() ?? outputMessage();
    if (message === undefined) return;
    isSending = true;
    socket.send(JSON.stringify(message), () => {
      isSending = false;
      flush();
    });
  };
  const screenMessage = () => {
    const screen = watch.screen();
    if (watch.terminal === undefined || screen === undefined || screen === sent) return undefined;
    const before = sent;
    sent = screen;
    return difference(before ?? undefined, screen);
  };
  const outputMessage = (): TerminalMessage | undefined => {
    const part = watch.output?.after(position);
    if (part === undefined || part.text === "") return undefined;
    position = part.next;
    return { type: "output", text: part.text, isCut: part.isCut };
  };
  const watcher: Watcher = {
    changed: () => flush(),
    tell: (message) => {
      if (waiting.length >= maxWaiting) return socket.close(closeCodes.busy, "This watcher does not read.");
      waiting.push(message);
      flush();
    },
  };
  const join = (run: WatchedRun): RunWatch => {
    sent = undefined;
    isJoining = true;
    const joined = watches.join(run, watcher);
    isJoining = false;
    position = joined.output?.begin() ?? 0;
    return joined;
  };
  let watch = join(first);

  const noteTyped = () => {
    if (typed === 0) return;
    note(serving, { run: watch.run().key, typed });
    typed = 0;
  };
  const take = async ({ take: isTaken, force = false, as = "" }: WatcherMessage) => {
    if (isTaken !== true) {
      noteTyped();
      return watch.release(watcher);
    }
    if (watch.terminal === undefined) throw noTerminal(watch.run());
    const stored = await currentTask(serving);
    await actorFor(core, stored, serving.asked, (actor) => ({ kind: "reply", actor, text: "" }));
    // A run that is asleep resumes its session.
    await agentsOf(core).wakeUp(watch.run().id);
    await watch.look();
    if (watch.run().endedAt !== undefined) throw over(watch.run());
    if (isClosed) return;
    watch.take(watcher, { as: oneLine(as) || "A person", force });
    note(serving, { run: watch.run().key, take: true, ...(force ? { force } : {}) });
  };
  const input = async ({ keys, paste }: WatcherMessage) => {
    if (!watch.holds(watcher)) throw notHolder();
    const name = startedOf(watch.run()).name;
    const { terminal } = agentsOf(core).ports;
    await attend(core, serving.asked, await currentTask(serving), "typed into the terminal");
    // Another watcher may have taken over in the meantime.
    if (!watch.holds(watcher)) throw notHolder();
    typed += keys?.length ?? paste?.length ?? 0;
    await (keys === undefined ? terminal.paste(name, paste ?? "") : terminal.press(name, keys));
  };
  const serve = async (request: string, message: WatcherMessage): Promise<void> => {
    if (request === "take") return take(message);
    if (request === "keys" || request === "paste") return input(message);
    if (request === "size") {
      if (!watch.holds(watcher)) throw notHolder();
      return watch.resize(message.size ?? undefined);
    }
    if (request === "watch") {
      const run = await wantedRun(core, await currentTask(serving), message.watch);
      if (isClosed) return;
      noteTyped();
      watch.leave(watcher);
      waiting.length = 0;
      watch = join(run);
      return flush();
    }
    if (watch.terminal === undefined) throw noTerminal(watch.run());
    const { skip = 0, count = 1 } = message.scrollback ?? {};
    watcher.tell({ type: "scrollback", skip, lines: await watch.terminal.readAbove(skip, count) });
  };
  const serveAll = async () => {
    if (isServing) return;
    isServing = true;
    for (let asked = requests.shift(); asked !== undefined && !isClosed; asked = requests.shift()) {
      // Where this cannot be told, as with a broken store, nothing is typed.
      if (!(await socket.isAllowed().catch(() => false))) {
        socket.close(closeCodes.denied, "The credential is no longer valid.");
        break;
      }
      const { request, message } = asked;
      await serve(request, message).catch((error) => watcher.tell(refusal(core, request, error)));
    }
    isServing = false;
  };

  socket.onMessage((text) => {
    const read = readMessage(text);
    if ("problem" in read) return socket.close(closeCodes.malformed, read.problem);
    if (requests.length >= maxWaiting) return socket.close(closeCodes.busy, "Too many messages at once.");
    const last = requests.at(-1);
    const keys = [...(last?.message.keys ?? []), ...(read.message.keys ?? [])];
    // Keys that come while others are being pressed are pressed together.
    if (last?.request === "keys" && read.request === "keys" && keys.length <= maxKeys)
      requests[requests.length - 1] = { request: "keys", message: { keys } };
    else if (keys.length > maxKeys) return socket.close(closeCodes.busy, "Too many keys at once.");
    else requests.push(read);
    void serveAll();
  });
  socket.onClose(() => {
    isClosed = true;
    noteTyped();
    watch.leave(watcher);
  });
  flush();
}

function readMessage(text: string): ReturnType<typeof readWatcherMessage> {
  try {
    return readWatcherMessage(parseJson(text));
  } catch {
    return { problem: "The message is not JSON." };
  }
}

function currentTask({ core, asked, task }: Serving): Promise<StoredTask> {
  return findTask(core, { ...asked, params: { task } });
}

/** What a person does in a terminal is history, like a granted request. The text itself may be a password. */
function note({ core, asked, task }: Serving, given: Readonly<Record<string, unknown>>): void {
  const project = asked.query.project;
  const data = { request: "watchTerminal", ...(project === undefined ? {} : { project }), given: { task, ...given } };
  core.store
    .addEvents(task, [{ type: "request.granted", by: "human", data, set: {} }], core.clock.now())
    .catch((error) => core.log.error("Typing in a terminal could not be recorded", { task, error }));
}

/** The new screen, or only what has changed; undefined if nothing has. */
function difference(before: Screen | undefined, screen: Screen | null): TerminalMessage | undefined {
  if (screen === null) return { type: "gone" };
  const { columns, lines, cursor = null, title, above } = screen;
  if (before?.columns !== columns || before.lines.length !== lines.length)
    return { type: "screen", columns, lines, cursor, title, above };
  const rows = Object.fromEntries(lines.flatMap((line, at) => (before.lines[at] === line ? [] : [[at, line]])));
  const isMoved = before.cursor?.x !== cursor?.x || before.cursor?.y !== cursor?.y;
  const isSame = Object.keys(rows).length === 0 && before.title === title && before.above === above;
  if (isSame && !isMoved) return undefined;
  return {
    ...{ type: "change", rows },
    ...(isMoved ? { cursor } : {}),
    ...(before.title === title ? {} : { title }),
    ...(before.above === above ? {} : { above }),
  };
}

function refusal({ log }: Core, request: string, error: unknown): TerminalMessage {
  if (error instanceof Refusal)
    return { type: "refused", request, code: error.code, ...writeRefusal(error.reasons, "Nothing was typed.") };
  if (error instanceof Fault)
    return { type: "refused", request, code: error.code, message: error.message, hint: error.hint ?? "" };
  log.error("A request of a watcher failed with an unforeseen error", { request, error });
  return { type: "refused", request, code: "daemon.error", message: "The daemon failed.", hint: "Read its log." };
}

function notHolder(): Fault {
  return new Fault("terminal.not-held", "Only the watcher that has control can type and size the window.", {
    hint: "Take control first.",
  });
}

function noTerminal({ key }: Run): Fault {
  return new Fault("terminal.none", `${key} has no terminal: its output is shown.`, {
    hint: "Wait for its answer, or read older output: signalbox task logs",
  });
}

function over({ key, task }: Run): Fault {
  return new Fault("run.over", `${key} has ended.`, { hint: `Bring it back: signalbox task respawn ${task}` });
}
