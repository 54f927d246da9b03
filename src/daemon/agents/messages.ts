import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Turns } from "../../keyed.ts";
import type { Message, Run } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { Terminal } from "../../ports/terminal.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project.ts";
import type { DiffOf } from "../prompt-diff.ts";
import { runPrompt, runRecordId } from "./run-order.ts";
import type { RunWatch } from "./watch-run.ts";

export interface DeliverPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly terminal: Terminal;
  /** Checks the run again, now. */
  look(watch: RunWatch): Promise<void>;
  /** Returns when the run has a seat; false if it has ended meanwhile, or the daemon is stopping. */
  takeSeat(watch: RunWatch): Promise<boolean>;
  /** The daemon is stopping: an unconfirmed delivery is settled after the next start. */
  isStopped(): boolean;
  /** Calls a person. */
  raise(watch: RunWatch, reason: string): Promise<void>;
}

/** Milliseconds without a sign of the message before a person is called. A busy agent may have it in its queue. */
const arrivalTimeout = 60_000;
/**
 * Some programs take a key right after a paste for a part of it: the message stays in the box until Enter is pressed
 * again.
 */
const pastePause = 300;
const enterInterval = 3_000;
/** How long to wait for a message that may be in the box after pressing Enter. */
const probeTimeout = 10_000;
const pollInterval = 100;

/**
 * Types a message into an interactive agent and verifies its arrival: the harness itself must report it. The daemon
 * types only while the agent waits for input, and types a message once; only Enter is pressed again. Returns false
 * where the message must wait; the next event of the run retries it.
 */
export async function deliver(ports: DeliverPorts, watch: RunWatch, message: Message): Promise<boolean> {
  const { store, clock } = ports;
  const isMute = watch.harness.can.acknowledges === "no";
  // A daemon that was killed may have left the message in the conversation, left it in the box, or not typed it yet.
  const isInDoubt = message.triedAt !== undefined;
  if (isInDoubt && (await hasArrived(ports, watch, message))) return noteArrival(ports, message, "seen");
  if (!(await isReady(ports, watch))) return false;
  // A message sets the agent to work, so it needs a seat. By the time it has one, it may no longer be listening.
  if (!(await ports.takeSeat(watch)) || !(await isReady(ports, watch))) return false;
  if (isInDoubt && !isMute) {
    await ports.terminal.press(watch.started.name, ["Enter"]);
    if (await arrives(ports, watch, message, { within: probeTimeout, isTyped: false }))
      return noteArrival(ports, message, "seen");
    if (ports.isStopped() || !(await isReady(ports, watch)) || (await screenOf(ports, watch)) === "busy") return false;
  }
  const tried = { ...message, triedAt: clock.now(), promptsBefore: watch.signs.promptCount };
  await store.messages.put(tried);
  if (!isInDoubt || !isMute || !(await isOnScreen(ports, watch, message))) {
    await ports.terminal.paste(watch.started.name, message.text);
    await pause(clock, pastePause);
  }
  await ports.terminal.press(watch.started.name, ["Enter"]);
  if (isMute) return noteArrival(ports, tried, "typed");
  if (await arrives(ports, watch, tried, { within: arrivalTimeout, isTyped: true }))
    return noteArrival(ports, tried, "seen");
  if (!isAlive(watch) || ports.isStopped()) return false;
  const problem = "It was typed, but nothing shows that it has arrived.";
  await store.messages.put({ ...tried, problem });
  await store.addEvents(message.task, [undelivered(message, problem)], clock.now());
  await ports.raise(watch, `A message did not reach it. ${problem}`);
  return true;
}

/** The daemon types neither into a dialog nor while the agent is busy. */
async function isReady(ports: DeliverPorts, watch: RunWatch): Promise<boolean> {
  return isListening(watch) && (await screenOf(ports, watch)) !== "asks";
}

function isListening(watch: RunWatch): boolean {
  return isAlive(watch) && watch.signs.activity === "idle";
}

function isAlive({ pane }: RunWatch): boolean {
  return pane !== undefined && pane.dead === undefined;
}

async function screenOf({ terminal }: DeliverPorts, { harness, started, pane }: RunWatch) {
  return harness.readScreen(await terminal.capture(started.name), pane?.title ?? "");
}

async function isOnScreen({ terminal }: DeliverPorts, { started }: RunWatch, { text }: Message): Promise<boolean> {
  const screen = plain(await terminal.capture(started.name));
  return screen.includes(plain(text).slice(0, 40)) || /pasted/i.test(screen);
}

/** `isTyped`: the message was certainly typed, so a busy agent may have it in its queue. */
async function arrives(
  ports: DeliverPorts,
  watch: RunWatch,
  message: Message,
  { within, isTyped }: { readonly within: number; readonly isTyped: boolean },
): Promise<boolean> {
  const { clock, terminal } = ports;
  let pressedAt = clock.now();
  for (let giveUpAt = clock.now() + within; clock.now() < giveUpAt; await pause(clock, pollInterval)) {
    if (await hasArrived(ports, watch, message)) return true;
    if (!isAlive(watch) || ports.isStopped()) return false;
    if (isTyped && watch.signs.activity === "busy") giveUpAt = clock.now() + within;
    if (clock.now() - pressedAt < enterInterval) continue;
    pressedAt = clock.now();
    // In a dialog Enter would answer the dialog.
    if (["ready", "busy"].includes(await screenOf(ports, watch))) await terminal.press(watch.started.name, ["Enter"]);
  }
  return false;
}

/** Searches only the prompts after the typing: an earlier one may have the same text, or begin with it. */
async function hasArrived(
  ports: DeliverPorts,
  watch: RunWatch,
  { text, promptsBefore = 0 }: Message,
): Promise<boolean> {
  await ports.look(watch);
  const { prompted, promptCount } = watch.signs;
  const forgotten = promptCount - prompted.length;
  const wanted = plain(text);
  return prompted.slice(Math.max(0, promptsBefore - forgotten)).some((each) => isSame(plain(each), wanted));
}

function isSame(seen: string, wanted: string): boolean {
  return seen === wanted || seen.endsWith(wanted) || seen.startsWith(wanted);
}

/** Terminals and harnesses change white space, and nothing else. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

async function noteArrival(
  { store, clock }: DeliverPorts,
  message: Message,
  evidence: "seen" | "typed",
): Promise<true> {
  const { task, to, id } = message;
  const at = clock.now();
  await store.messages.put({ ...message, triedAt: message.triedAt ?? at, deliveredAt: at, evidence });
  const event: TaskEvent = { type: "message.delivered", by: "engine", data: { message: id, to, evidence }, set: {} };
  await store.addEvents(task, [event], at);
  return true;
}

function undelivered({ id, to }: Message, reason: string): TaskEvent {
  return { type: "message.undelivered", by: "engine", data: { message: id, to, reason }, set: {} };
}

function pause(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => clock.after(milliseconds, resolve));
}

export interface MailPorts extends DeliverPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly inTurn: Turns;
  watchOf(run: string): RunWatch | undefined;
  /** Starts the run's program first if the run is asleep. */
  rouse(run: string): void;
  /** No message is being delivered to the run for now. */
  told(watch: RunWatch): void;
  track(work: Promise<unknown>): void;
}

/** Messages to interactive agents, one at a time for each. */
export interface Mail {
  /**
   * Stores a message for a run, idempotently by key, even before the run is started. It is delivered as soon as the
   * agent listens.
   */
  tell(run: Pick<Run, "id" | "project" | "task" | "key">, text: string, key: string, from?: string): Promise<void>;
  /** Something has changed: the run's next message may be deliverable. */
  wake(watch: RunWatch): void;
  /** The run has ended: marks its open messages as undelivered. */
  giveUp(run: Run): Promise<void>;
  /** Whether a message waits for the run, as far as is known. */
  waits(watch: RunWatch): boolean;
  /** When this daemon last delivered a message to the run; undefined where it has not. */
  toldAt(run: Run): number | undefined;
  /** The messages that were not delivered to the run yet. */
  untold(run: Run): Promise<readonly Message[]>;
  /**
   * When the run was started or last sent a message, from the store: a restart of the daemon gives it no extra quiet
   * time.
   */
  lastTold(run: Run): Promise<number>;
  /** Whether a message is being delivered to the run, or was so recently that the run cannot show yet that it works. */
  isTelling(watch: RunWatch): boolean;
}

/** Milliseconds within which an agent without acknowledgements shows on its screen that it works. */
const answerTime = 5_000;

export function createMail(ports: MailPorts): Mail {
  const { store, clock, inTurn, track } = ports;
  const waiting = new Map<string, number>();

  const pending = async (run: Run): Promise<readonly Message[]> => {
    const all = await store.messages.list({ task: run.task });
    const open = all.filter(
      ({ to, deliveredAt, problem = "" }) => to === run.key && deliveredAt === undefined && problem === "",
    );
    waiting.set(run.id, open.length);
    return open;
  };
  const pump = (watch: RunWatch) =>
    inTurn(`mail ${watch.run.id}`, async () => {
      for (;;) {
        const [first] = await pending(watch.run);
        if (first === undefined || ports.isStopped() || ports.watchOf(watch.run.id) !== watch) return;
        if (!(await deliver(ports, watch, first))) return;
        toldAt.set(watch.run.id, clock.now());
      }
    });
  const pumping = new Set<string>();
  const toldAt = new Map<string, number>();
  // A delivery checks the run, and a check wakes this function: with a full disk that would loop without a pause. The
  // next poll finds what is missed meanwhile.
  const wake = (watch: RunWatch) => {
    const { id } = watch.run;
    if (watch.started.mode !== "session" || pumping.has(id)) return;
    pumping.add(id);
    track(
      pump(watch).finally(() => {
        pumping.delete(id);
        ports.told(watch);
      }),
    );
  };

  return {
    async tell(run, text, key, from = "engine") {
      const id = `${run.id}:${key}`;
      if ((await store.messages.get(id)) !== undefined) return;
      const at = clock.now();
      const { project, task } = run;
      await store.messages.put({ id, project, task, at, from, to: run.key, text, deliveredAt: undefined });
      const event: TaskEvent = { type: "message.sent", by: from, data: { message: id, to: run.key, text }, set: {} };
      await store.addEvents(task, [event], at);
      waiting.set(run.id, (waiting.get(run.id) ?? 0) + 1);
      const watch = ports.watchOf(run.id);
      if (watch === undefined) ports.rouse(run.id);
      else wake(watch);
    },
    wake,
    toldAt: ({ id }) => toldAt.get(id),
    untold: pending,
    async lastTold({ task, key, at, started }) {
      const told = (await store.messages.list({ task })).filter(({ to }) => to === key);
      return Math.max(started?.at ?? at, ...told.map((message) => message.deliveredAt ?? message.at));
    },
    async giveUp(run) {
      for (const message of await pending(run))
        await store.messages.put({ ...message, problem: `${run.key} ended before the message was delivered.` });
      waiting.delete(run.id);
      toldAt.delete(run.id);
    },
    isTelling({ run, harness }) {
      if (pumping.has(run.id)) return true;
      const at = toldAt.get(run.id);
      return harness.can.acknowledges === "no" && at !== undefined && Math.abs(clock.now() - at) < answerTime;
    },
    waits: ({ run }) => (waiting.get(run.id) ?? 0) > 0,
  };
}

interface TellPorts {
  readonly store: Store;
  readonly places: Places;
  readonly mail: Mail;
  workflowOf(task: Task): Promise<Workflow>;
  portOf(task: Task): Promise<number | undefined>;
  placeFiles(task: Task, role: string): Promise<string>;
  readonly diffOf?: DiffOf;
  testCommandOf(project: Project): readonly string[];
}

/** Sends a message to a live agent. It is stored first, so that it is delivered exactly once, whatever happens. */
export function tellAgent(ports: TellPorts): Perform {
  return async ({ agent: order }, { task, key }) => {
    if (order === undefined) throw new Fault("agents.order", "The effect names no run to notify.");
    const run = await ports.store.runs.get(runRecordId(task.id, order.run));
    // A dead run has no one to notify; its successor is started with the message.
    if (run === undefined || run.endedAt !== undefined) return;
    if (run.started === undefined)
      throw new Fault("agents.foreign", `${order.run} was not started by this daemon, so it cannot be sent a message.`);
    const workflow = await ports.workflowOf(task);
    const project = await projectOf(ports.store, task.project);
    const taskFile = task.workspace === "" ? "" : await ports.placeFiles(task, order.role).catch(inLostWorkspace);
    const port = await ports.portOf(task);
    const text = await runPrompt(ports, { workflow, task, project, order, taskFile, port });
    if (text.trim() !== "") await ports.mail.tell(run, text.trim(), key);
  };
}

/**
 * Where the workspace is gone the message is stored all the same: the run that is started in a new workspace gets it.
 */
function inLostWorkspace(error: unknown): string {
  if (error instanceof Fault && error.code.startsWith("workspace.")) return "TASK.md";
  throw error;
}

/** The end of the key of a message that is a run's first prompt; its successor has a prompt of its own. */
export const promptKey = ":prompt";

/** The messages for the last run of the same role that, as far as anything shows, were never delivered. */
export async function missedMessages(
  store: Pick<Store, "messages" | "runs">,
  task: string,
  { run }: { readonly run: string },
): Promise<readonly Message[]> {
  const [name, number] = partsOf(run);
  const numbers = (await store.runs.list({ task })).flatMap(({ key }) => {
    const [other, earlier] = partsOf(key);
    return other === name && earlier < number ? [earlier] : [];
  });
  const last = `${name}#${Math.max(...numbers)}`;
  return (await store.messages.list({ task })).filter(
    ({ id, to, deliveredAt }) => to === last && deliveredAt === undefined && !id.endsWith(promptKey),
  );
}

function partsOf(run: string): readonly [name: string, number: number] {
  const at = run.lastIndexOf("#");
  return [run.slice(0, at), Number(run.slice(at + 1))];
}

/** A prompt with the messages that the previous run missed. */
export function withMissed(prompt: string, missed: readonly Message[]): string {
  if (missed.length === 0) return prompt;
  const texts = missed.map(({ text }) => text.trim());
  return [prompt.trimEnd(), "", "Your predecessor ended, and may not have been told this:", ...texts].join("\n");
}

/** Marks the messages that the new run was started with as delivered, so that none is delivered twice. */
export async function noteMissed(
  { store, clock }: Pick<DeliverPorts, "store" | "clock">,
  missed: readonly Message[],
  run: string,
): Promise<void> {
  const at = clock.now();
  for (const message of missed) {
    const { problem: _, ...rest } = message;
    await store.messages.put({ ...rest, deliveredAt: at, evidence: "typed" });
    const data = { message: message.id, to: run, evidence: "typed" } as const;
    await store.addEvents(message.task, [{ type: "message.delivered", by: "engine", data, set: {} }], at);
  }
}
