import type { TaskEvent } from "../../engine/decision.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Message } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Terminal } from "../../ports/terminal.ts";
import type { RunWatch } from "./watch-run.ts";

export interface DeliverPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly terminal: Terminal;
  /** Looks at the run again, now. */
  look(watch: RunWatch): Promise<void>;
  /** Returns when the run has a seat to work in; false where it has ended meanwhile, or we stop. */
  takeSeat(watch: RunWatch): Promise<boolean>;
  /** Nobody waits for us any more: what is not known by now is found out after the next start. */
  isStopped(): boolean;
  /** A person has to see to it. */
  raise(watch: RunWatch, reason: string): Promise<void>;
}

/** How long nothing may be seen of a message before a person is asked; while the agent is busy it may be in its queue. */
const patience = 60_000;
/** Some take a key that comes soon after a paste for a part of it: then the message stands there, and waits for another. */
const pasteTime = 300;
const submitAgain = 3_000;
/** How long one that may stand in the box has to arrive once the key is pressed, before it is known not to stand there. */
const probeTime = 10_000;
const interval = 100;

/**
 * Types a message into an interactive agent, and makes sure that it has arrived: not that keys were pressed, but that the
 * harness itself says so. Nothing is typed unless the agent waits for input, and a message is typed once: only the key that
 * sends it is pressed again. False where it has to wait; it is tried again when something is learnt about the run.
 */
export async function deliver(ports: DeliverPorts, watch: RunWatch, message: Message): Promise<boolean> {
  const { store, clock } = ports;
  const isMute = watch.harness.can.acknowledges === "no";
  // A daemon that died may have left the message in the conversation, or in the box, or may not have come to typing it.
  const isInDoubt = message.triedAt !== undefined;
  if (isInDoubt && (await hasArrived(ports, watch, message))) return noteArrival(ports, message, "seen");
  if (!(await isReady(ports, watch))) return false;
  // Whoever is told something goes to work. By the time there is a seat for it, it may not listen any more.
  if (!(await ports.takeSeat(watch)) || !(await isReady(ports, watch))) return false;
  if (isInDoubt && !isMute) {
    await ports.terminal.press(watch.started.name, ["Enter"]);
    if (await arrives(ports, watch, message, { within: probeTime, isTyped: false }))
      return noteArrival(ports, message, "seen");
    if (ports.isStopped() || !(await isReady(ports, watch)) || (await screenOf(ports, watch)) === "busy") return false;
  }
  const tried = { ...message, triedAt: clock.now(), promptsBefore: watch.signs.promptCount };
  await store.messages.put(tried);
  if (!isInDoubt || !isMute || !(await isOnScreen(ports, watch, message))) {
    await ports.terminal.paste(watch.started.name, message.text);
    await pause(clock, pasteTime);
  }
  await ports.terminal.press(watch.started.name, ["Enter"]);
  if (isMute) return noteArrival(ports, tried, "typed");
  if (await arrives(ports, watch, tried, { within: patience, isTyped: true })) return noteArrival(ports, tried, "seen");
  if (!isAlive(watch) || ports.isStopped()) return false;
  const problem = "It was typed, but nothing shows that it has arrived.";
  await store.messages.put({ ...tried, problem });
  await store.addEvents(message.task, [undelivered(message, problem)], clock.now());
  await ports.raise(watch, `A message did not reach it. ${problem}`);
  return true;
}

/** Nothing is typed into a dialog, and not while it is busy. */
async function isReady(ports: DeliverPorts, watch: RunWatch): Promise<boolean> {
  return isListening(watch) && (await screenOf(ports, watch)) !== "asks";
}

export function isListening(watch: RunWatch): boolean {
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

/** `isTyped`: it is surely there, and an agent that is busy may have it in its queue. */
async function arrives(
  ports: DeliverPorts,
  watch: RunWatch,
  message: Message,
  { within, isTyped }: { readonly within: number; readonly isTyped: boolean },
): Promise<boolean> {
  const { clock, terminal } = ports;
  let pressedAt = clock.now();
  for (let giveUpAt = clock.now() + within; clock.now() < giveUpAt; await pause(clock, interval)) {
    if (await hasArrived(ports, watch, message)) return true;
    if (!isAlive(watch) || ports.isStopped()) return false;
    if (isTyped && watch.signs.activity === "busy") giveUpAt = clock.now() + within;
    if (clock.now() - pressedAt < submitAgain) continue;
    pressedAt = clock.now();
    // In a dialog the key would decide something.
    if (["ready", "busy"].includes(await screenOf(ports, watch))) await terminal.press(watch.started.name, ["Enter"]);
  }
  return false;
}

/** Looked for only among what came after it was typed: the same may have been said before, or be how something else begins. */
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

/** Terminals and harnesses differ in what they do with white space, and with nothing else. */
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
