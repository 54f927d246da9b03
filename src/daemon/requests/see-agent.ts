import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MessageView } from "../../api/agents.ts";
import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { parseJson } from "../../json.ts";
import type { OutputReader } from "../../ports/harness.ts";
import type { ProcessEnd, Processes } from "../../ports/processes.ts";
import type { Message, Run, StartedRun } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import { sentences } from "../../text.ts";
import { lastErrors, toldLines } from "../agents/read-turn.ts";
import { processName, terminalSession } from "../agents/run-order.ts";
import { findTask, mustBeOpen } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { isoTime } from "../views.ts";
import { attend } from "./move-task.ts";
import { agentsOf, runOf, runToCome } from "./tasks.ts";

/** Reads up to `limit` bytes from a position; fewer only at the end. */
type ReadOutput = (from: number, limit: number) => Promise<Uint8Array>;

/** The output from a position on, cut only between characters. */
export async function outputPart(
  read: ReadOutput,
  from: number,
  most: number,
): Promise<{ text: string; next: number }> {
  const bytes = await read(from, most);
  const whole = bytes.length > maxCharacterBytes ? bytes.subarray(0, endOfCharacters(bytes)) : bytes;
  return { text: new TextDecoder().decode(whole), next: from + whole.length };
}

/** Where the last whole lines begin that fit in `most` bytes. If no line fits, a position within the last one. */
async function lastWholeLines(read: ReadOutput, most: number): Promise<number> {
  const from = Math.max(0, (await outputSize(read)) - most);
  const end = from === 0 ? -1 : (await read(from, most)).indexOf(10);
  return end === -1 ? from : from + end + 1;
}

/** The size of the output, found by a binary search for the last byte. */
export async function outputSize(read: ReadOutput): Promise<number> {
  const hasMore = async (at: number) => (await read(at, 1)).length > 0;
  let least = 0;
  let most = 1;
  while (await hasMore(most - 1)) {
    least = most;
    most *= 2;
  }
  while (least < most - 1) {
    const middle = Math.floor((least + most) / 2);
    if (await hasMore(middle - 1)) least = middle;
    else most = middle;
  }
  return least;
}

const maxCharacterBytes = 4;

/** Where the last complete UTF-8 character ends. Bytes that are not UTF-8 count as complete. */
function endOfCharacters(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at > bytes.length - maxCharacterBytes; at--) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return at + length > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

export function attachTask(core: Core): Handler<Routes["attachTask"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const { terminal } = agents.ports;
    const stored = await findTask(core, asked);
    const { role, tmux } = asked.body;
    const coming = await runToCome(core, stored, role);
    if (coming !== undefined) throw new Fault("run.not-started", coming.why, { hint: coming.fix });
    const found = await runOf(core, stored, role === undefined ? {} : { role });
    // A run that is asleep resumes its session.
    const run = (await agents.wakeUp(found.id)) ?? found;
    const panes = await terminal.list();
    const pane = panes.find((each) => each.run === run.started?.name);
    if (pane === undefined) {
      mustBeOpen(stored);
      throw new Fault(
        "run.no-window",
        `${run.key} ${run.endedAt === undefined ? "has no" : "no longer has a"} window.`,
        {
          hint: hintFor(run, stored.task.id),
        },
      );
    }
    await attend(core, asked, stored, "attached");
    const at = { session: terminalSession(stored.task.id), run: pane.run };
    const { argv, env, hint } = terminal.attachCommand(at, tmux === undefined ? {} : { TMUX: tmux });
    const pairs = Object.entries(env);
    const ended = `${endedText(run, stored)}\nThis is its last screen; keys do nothing there.`;
    return {
      run: run.key,
      argv,
      set: pairs.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
      unset: pairs.flatMap(([name, value]) => (value === undefined ? [name] : [])),
      hint: pane.dead === undefined ? `${hint} The agent keeps running.` : `${ended} ${hint}`,
    };
  };
}

function endedText({ key }: Run, { task, isOpen }: StoredTask): string {
  return `${key} has ended.${isOpen ? ` To bring it back: signalbox task respawn ${task.id}` : ""}`;
}

function hintFor({ started, endedAt }: Run, task: string): string {
  if (started?.mode !== "session") return `See its output: signalbox task logs ${task}`;
  return endedAt === undefined ? "It is about to start." : `Bring it back: signalbox task respawn ${task}`;
}

const maxOutput = 256 * 1024;
const maxLines = 10_000;

export function getScreen(core: Core): Handler<Routes["getScreen"]> {
  return async (asked) => {
    const { terminal } = agentsOf(core).ports;
    const stored = await findTask(core, asked);
    const { role, run: key, from = "0", lines = "0", styled, end, told, errors } = asked.query;
    const run = await runOf(core, stored, {
      ...(role === undefined ? {} : { role }),
      ...(key === undefined ? {} : { run: key }),
    });
    const about = { run: run.key, role: run.role, harness: run.harness, isOver: run.endedAt !== undefined };
    const { started } = run;
    if (started === undefined) throw new Fault("run.missing", `${run.key} was not started by the daemon.`);
    const isGone = about.isOver && !existsSync(join(core.places.runs, started.name));
    const gone = isGone ? goneText(run.key, whole(from) === 0 && errors !== "true") : undefined;
    if (started.mode === "session") {
      const scrollback = Math.min(whole(lines), maxLines);
      const show = styled === "true" ? terminal.captureStyled : terminal.capture;
      const text = await show(started.name, scrollback).catch(nothingWhereGone);
      const shown = text === "" && gone !== undefined ? gone : text;
      return { ...about, source: "screen", text: shown, next: shown.length };
    }
    if (gone !== undefined) return { ...about, source: "output", text: gone, next: gone.length };
    const channel = errors === "true" ? "errors" : "output";
    const begin = end === "true" ? undefined : whole(from);
    return {
      ...about,
      source: "output",
      ...(await outputOf(core, run, started, { begin, channel, told: told === "true" })),
    };
  };
}

interface OutputAsked {
  /** Undefined: so that it ends with the last lines. */
  readonly begin: number | undefined;
  readonly channel: "output" | "errors";
  readonly told: boolean;
}

/** A part of the output of a run without a terminal. */
export async function outputOf(core: Core, run: Run, started: StartedRun, { begin, channel, told }: OutputAsked) {
  const { processes } = agentsOf(core).ports;
  const read = (at: number, limit: number) => processes.read(processName(started), channel, at, limit);
  const from = begin ?? (await lastWholeLines(read, maxOutput));
  const reader = told && channel === "output" ? readerOf(core, run, started.name) : undefined;
  if (reader === undefined) return outputPart(read, from, maxOutput);
  return toldPart(read, reader, {
    ...{ from, most: maxOutput, isOver: run.endedAt !== undefined },
    ending: await endingOf(processes, processName(started)),
  });
}

/** Told once, to a client that reads from the beginning. */
function goneText(run: string, isFirst: boolean): string {
  if (!isFirst) return "";
  return `The output of ${run} was deleted: its task ended longer ago than keep_ended, or a person cleaned up.\n`;
}

async function endingOf(processes: Processes, name: string) {
  const end = await processes.look(name);
  return end.kind === "ended" ? { end, errors: await lastErrors(processes, name) } : undefined;
}

function readerOf(core: Core, { harness }: Run, run: string): OutputReader | undefined {
  const known = agentsOf(core).ports.harnesses().get(harness);
  return known?.readOutput({ run, runFolder: join(core.places.runs, run) });
}

/** A window may close while it is captured. */
function nothingWhereGone(error: unknown): string {
  if (error instanceof Fault && error.code === "terminal.gone") return "";
  throw error;
}

function whole(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

export function sendMessage(core: Core): Handler<Routes["sendMessage"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const stored = await findTask(core, asked);
    const { text, role } = asked.body;
    const coming = await runToCome(core, stored, role);
    const run = coming ?? (await runningOf(core, stored, role));
    if (text.trim() === "")
      throw new Refusal([{ code: "bad-value", text: "The message is empty.", fix: "Give its text." }]);
    if (run.mode !== "session")
      throw new Refusal([
        {
          code: "not-waiting",
          text: `${run.key} has no terminal, so it takes no messages.`,
          fix: "Wait for its answer.",
        },
      ]);
    await attend(core, asked, stored, "sent a message");
    const key = `person-${core.ids.secret().slice(0, 12)}`;
    await agents.mail.tell(run, text, key, "human");
    const message = await core.store.messages.get(`${run.id}:${key}`);
    if (message === undefined) throw new Error("The message was not stored.");
    return { ...messageView(message), waitsFor: coming === undefined ? "" : sentences([coming.why, coming.fix]) };
  };
}

/** The live run that the message is for. */
async function runningOf(core: Core, stored: StoredTask, role: string | undefined) {
  const run = await runOf(core, stored, role === undefined ? {} : { role });
  if (run.endedAt === undefined) return { ...run, mode: run.started?.mode };
  mustBeOpen(stored);
  const { id, wait } = stored.task;
  if (wait.turn === "reply" || wait.turn === "confirm") {
    const text = `${run.key} waits for your answer, not for a message.`;
    throw new Refusal([{ code: "not-waiting", text, fix: `Reply to it: signalbox task reply ${id} "Your answer"` }]);
  }
  const isSession = run.started?.mode === "session";
  const fix = isSession
    ? `Bring it back: signalbox task respawn ${id}`
    : `It has no terminal that could take a message. To see what you can do: signalbox task actions ${id}`;
  throw new Refusal([{ code: "run-over", text: `${run.key} has ended (${run.word}).`, fix }]);
}

export function listMessages(core: Core): Handler<Routes["listMessages"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    return { messages: (await core.store.messages.list({ task: task.id })).map(messageView) };
  };
}

function messageView({ id, from, to, text, at, deliveredAt, evidence, problem = "" }: Message): MessageView {
  const delivered = evidence === "typed" ? "typed" : "delivered";
  const state = deliveredAt !== undefined ? delivered : problem === "" ? "waiting" : "undelivered";
  return { id, from, to, text, at: isoTime(at), state, problem };
}

/** Bytes that a reader is given before the position, because a harness may print a message word by word. */
const context = 1024 * 1024;

interface Asked {
  readonly from: number;
  /** How many bytes are read together; more only if a line is longer. */
  readonly most: number;
  /** The run has ended, so no more output follows. */
  readonly isOver: boolean;
  /** How the run's program ended and the end of its error output, if known. */
  readonly ending?: { readonly end: ProcessEnd; readonly errors: string } | undefined;
}

/**
 * The output of a run without a terminal from a position on, for people: the events that the harness reads from it, and
 * lines that are not JSON unchanged. Only whole lines while the run is alive.
 */
export async function toldPart(
  read: ReadOutput,
  reader: OutputReader,
  { from, most, isOver, ending }: Asked,
): Promise<{ text: string; next: number }> {
  const begin = Math.max(0, from - context);
  for (const line of linesOf(await read(begin, from - begin), begin > 0).lines) reader.push(line);
  let bytes = await read(from, most);
  let limit = most;
  while (bytes.length === limit && !bytes.includes(newline)) {
    limit *= 4;
    bytes = await read(from, limit);
  }
  const { lines, rest } = linesOf(bytes, false);
  const isLast = isOver && bytes.length < limit;
  const all = isLast && rest.length > 0 ? [...lines, Buffer.concat([rest, Buffer.from("\n")])] : lines;
  const text = all.map((line) => toldIn(reader, line)).join("");
  // A client that has read everything does not get the failure again.
  const failure = isLast && bytes.length > 0 ? failureOf(reader, ending) : "";
  return {
    text: text.endsWith(failure) ? text : text + failure,
    next: from + bytes.length - (isLast ? 0 : rest.length),
  };
}

/** Whether the run failed is known only from its end. */
function failureOf(reader: OutputReader, ending: Asked["ending"]): string {
  const error = ending === undefined ? undefined : reader.end(ending.end, ending.errors).error;
  return error === undefined ? "" : `${toldLines([{ kind: "failed", error }])}\n`;
}

function toldIn(reader: OutputReader, line: Uint8Array): string {
  const events = reader.push(line);
  const text = new TextDecoder().decode(line);
  if (events.length === 0 && !isData(text)) return text;
  const told = toldLines(events);
  return told === "" ? "" : `${told}\n`;
}

/** Whole lines with their newlines, and the rest. `isCut`: the first line is incomplete and dropped. */
function linesOf(bytes: Uint8Array, isCut: boolean): { lines: readonly Uint8Array[]; rest: Uint8Array } {
  const lines: Uint8Array[] = [];
  let at = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, at)) {
    lines.push(bytes.subarray(at, end + 1));
    at = end + 1;
  }
  return { lines: isCut ? lines.slice(1) : lines, rest: bytes.subarray(at) };
}

function isData(line: string): boolean {
  try {
    const read = parseJson(line);
    return typeof read === "object" && read !== null;
  } catch {
    return false;
  }
}

const newline = 10;
