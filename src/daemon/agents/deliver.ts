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
  /** A person has to see to it. */
  raise(watch: RunWatch, reason: string): Promise<void>;
}

/** How often a message is typed before a person is asked, and how long its arrival is waited for each time. */
const mostTries = 3;
const patience = 15_000;
const interval = 100;
/** How long the program has to take a paste in before Enter is pressed; some take an Enter that comes at once for a line. */
const pasteTime = 150;

/**
 * Types a message into an interactive agent, and makes sure that it has arrived: not that keys were pressed, but that the
 * harness itself says so. Nothing is typed unless the agent waits for input. False where it has to wait; it is tried again
 * when something is learnt about the run.
 */
export async function deliver(ports: DeliverPorts, watch: RunWatch, message: Message): Promise<boolean> {
  const { store, clock } = ports;
  // A daemon that died after typing has left the message in the conversation: it is not typed again.
  if (message.triedAt !== undefined && (await hasArrived(ports, watch, message)))
    return noteArrival(ports, message, "seen");
  if (!isListening(watch)) return false;
  if ((await screenOf(ports, watch)) === "asks") return false;
  for (let attempt = 1; attempt <= mostTries; attempt++) {
    await store.messages.put({ ...message, triedAt: clock.now() });
    await type(ports, watch, message.text, attempt);
    if (watch.harness.can.acknowledges === "no") return noteArrival(ports, message, "typed");
    if (await arrives(ports, watch, message)) return noteArrival(ports, message, "seen");
    if (!isAlive(watch)) return false;
    const screen = await screenOf(ports, watch);
    if (screen === "asks") break;
  }
  const problem = "It was typed, but nothing shows that it has arrived.";
  await store.messages.put({ ...message, triedAt: clock.now(), problem });
  await store.addEvents(message.task, [undelivered(message, problem)], clock.now());
  await ports.raise(watch, `A message did not reach it. ${problem}`);
  return true;
}

/** Ready for input: nothing is typed into a dialog, and not while it is busy. */
export function isListening(watch: RunWatch): boolean {
  return isAlive(watch) && watch.signs.activity === "idle";
}

function isAlive({ pane }: RunWatch): boolean {
  return pane !== undefined && pane.dead === undefined;
}

async function screenOf({ terminal }: DeliverPorts, { harness, started, pane }: RunWatch) {
  return harness.readScreen(await terminal.capture(started.name), pane?.title ?? "");
}

async function type({ terminal, clock }: DeliverPorts, { started }: RunWatch, text: string, attempt: number) {
  if (attempt > 1) {
    // What was typed may still be there, only not sent: an Enter is enough. If it is not there, an Enter does nothing.
    const screen = (await terminal.capture(started.name)).replace(/\s+/g, " ");
    const [firstLine = ""] = text.trim().split("\n");
    if (screen.includes(firstLine.slice(0, 40)) || /pasted/i.test(screen))
      return terminal.press(started.name, ["Enter"]);
    await terminal.press(started.name, ["C-u"]);
  }
  await terminal.paste(started.name, text);
  await pause(clock, pasteTime);
  await terminal.press(started.name, ["Enter"]);
}

async function arrives(ports: DeliverPorts, watch: RunWatch, message: Message): Promise<boolean> {
  for (let waited = 0; waited < patience; waited += interval) {
    if (await hasArrived(ports, watch, message)) return true;
    if (!isAlive(watch)) return false;
    await pause(ports.clock, interval);
  }
  return false;
}

/** Each message is looked for behind those that were delivered before it: the same text may be sent twice. */
async function hasArrived(ports: DeliverPorts, watch: RunWatch, { id, to, text, task }: Message): Promise<boolean> {
  await ports.look(watch);
  const wanted = plain(text);
  const earlier = (await ports.store.messages.list({ task })).filter(
    (each) => each.id !== id && each.to === to && each.evidence === "seen" && plain(each.text) === wanted,
  );
  return watch.signs.prompted.filter((each) => isSame(plain(each), wanted)).length > earlier.length;
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
