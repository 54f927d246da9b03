import { Refusal, writeRefusal } from "../../api/client.ts";
import type { ChangeView } from "../../api/tasks.ts";
import { Fault } from "../../fault.ts";
import { replaceHidden } from "../../hidden-characters.ts";
import type { Context } from "../context.ts";

/** The exit codes. Every command's help says what `failed` means for it. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notFound: 3, timeout: 4, person: 5, detached: 6 } as const;

// Copied, because the agents' fast path must not load the library.
const unknownCommand = -5;
const invalidArgument = -4;

/** Translates the library's negative codes into our few documented ones. */
export function exitCodeOf(code: number | string | null | undefined): number {
  const number = Number(code ?? 0);
  if (number >= 0) return number;
  return number === unknownCommand || number === invalidArgument ? exitCodes.usage : exitCodes.failed;
}

/** A missing program is a failure, not something that the person named. */
const programs = new Set(["git.missing", "terminal.missing"]);

export function exitCodeOfError(error: unknown): number {
  if (!(error instanceof Fault)) return exitCodes.failed;
  if (error.code === "usage") return exitCodes.usage;
  const isNotFound = error.code === "not-found" || error.code.endsWith(".missing");
  return isNotFound && !programs.has(error.code) ? exitCodes.notFound : exitCodes.failed;
}

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/**
 * Part of each of our own style sequences until they are printed. It differs in each process, so that the text of an agent
 * cannot contain a style that counts as ours.
 */
const mark = 1_000_000 + Math.floor(Math.random() * 1e9);

/** Colours by name; without colour they return the text unchanged. Their styles are shown by `visible`. */
export type Paint = Readonly<Record<keyof typeof codes, (text: string) => string>>;

export function createPaint(hasColour: boolean): Paint {
  const painted = Object.entries(codes).map(([name, [on, off]]) => [
    name,
    (text: string) => (hasColour ? `\u001b[${mark};${on}m${text}\u001b[${mark};${off}m` : text),
  ]);
  return Object.fromEntries(painted) as Paint;
}

/** Prints what a request did: where the task went, or why nothing happened. */
export function tellChange(
  context: Pick<Context, "paint" | "talkPaint" | "print" | "say">,
  { kind, from, task, why, effects }: ChangeView,
): void {
  const { paint } = context;
  if (kind === "moved") context.print(`${from} → ${paint.cyan(task.status)}`);
  else if (kind === "stayed") {
    context.print(paint.cyan(task.status));
    const what = underWay({ task, effects });
    if (what !== "") context.say(what);
  } else context.say(`Nothing has changed. ${why}`.trimEnd());
  if (task.held !== null) {
    context.say(`${context.talkPaint.yellow("Held for a person:")} ${task.held.reason}`);
    context.say(`To see what can be done: signalbox task explain ${task.id}`);
  }
}

/** What a request has started without moving the task; empty if nothing is known. */
function underWay({ task, effects }: Pick<ChangeView, "task" | "effects">): string {
  if (task.held !== null) return "";
  if (effects.includes("spawn_agent")) return "Its agent is started.";
  return task.phase === "doing" ? "The task stays in this state, whose work is under way." : "";
}

/**
 * A text as it is printed, once: without terminal control sequences and what `replaceHidden` finds. Only line ends, tabs and
 * our own styles are kept. A style that is left open ends with the text.
 */
export function visible(text: string): string {
  const plain = replaceHidden(text, (character) => (character === "\u2800" ? " " : ""));
  const shown = plain.replace(commands, "").replaceAll(`\u001b[${mark};`, "\u001b[");
  return shown.includes("\u001b") ? shown + openStyles(shown) : shown;
}

// Of escape sequences only our own bold, dim, plain colours and their ends.
const commands = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001a\\u001c-\\u001f\\u007f-\\u009f]",
    `\\u001b(?!\\[${mark};(?:[12]|22|3[1-6]|39)m)`,
  ].join("|"),
  "gu",
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is how styles begin.
const styles = /\u001b\[(\d+)m/g;

function openStyles(text: string): string {
  let weight = false;
  let colour = false;
  for (const [, code] of text.matchAll(styles)) {
    if (code === "1" || code === "2" || code === "22") weight = code !== "22";
    else colour = code !== "39";
  }
  return `${weight ? "\u001b[22m" : ""}${colour ? "\u001b[39m" : ""}`;
}

type Teller = Pick<Context, "talkPaint"> & { readonly process: Pick<Context["process"], "env"> };

/** An error as text: what, why, and what to do. */
export function writeFailure({ talkPaint, process }: Teller, error: unknown): string {
  const write = (message: string, hint = "") => writeError({ talkPaint }, message, hint);
  if (error instanceof Refusal) {
    const { message, hint } = writeRefusal(error.reasons);
    return write(message, hint);
  }
  if (error instanceof Fault) {
    const isPerson = error.code === "caller.unknown" && !process.env?.SIGNALBOX_TOKEN;
    return write(inFlagWords(error.message), isPerson ? `${whyNotHere}\n${error.hint ?? ""}`.trimEnd() : error.hint);
  }
  if (isFolderGone(error))
    return write("The current folder no longer exists.", "Go to another folder, and try again: cd ~");
  const trace = process.env?.SIGNALBOX_DEBUG && error instanceof Error ? `\n${error.stack}` : "";
  const message = error instanceof Error ? error.message : String(error);
  return write(
    `Signalbox has a bug: ${message}${trace}`,
    trace === "" ? "To see where, set SIGNALBOX_DEBUG=1 and run it again." : "",
  );
}

/** For people who do not know that commands have credentials. */
const whyNotHere =
  "In a task's workspace, and in what an agent starts, signalbox refuses a person's commands: the caller could be the agent.";

/** The current folder was deleted or moved to the trash, which is not a bug. */
function isFolderGone(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall === "uv_cwd";
}

export function writeError({ talkPaint }: Pick<Context, "talkPaint">, message: string, hint = ""): string {
  return `${talkPaint.red("error:")} ${message}${hint === "" ? "" : `\n${hint}`}`;
}

/** The command line's names of request fields, if they differ from the field's own name as a flag. */
const words: Readonly<Record<string, string>> = {
  agent: "NAME",
  branch: "BRANCH",
  count: "COUNT",
  dependsOn: "--depends-on",
  giveBack: "--no-give-back",
  labels: "--label",
  name: "The name",
  path: "The path",
  pullRequest: "--pr",
  ref: "REF",
  settings: "--set",
  summary: "SUMMARY",
  task: "TASK",
  text: "TEXT",
  to: "--status",
};

/** Replaces the daemon's field names in a message by the command line's flags. */
export function inFlagWords(message: string): string {
  return message.replace(/^The (?:body|query)\.(\w+)(\S*)/gm, (_, field: string) => {
    const known = Object.hasOwn(words, field) ? words[field] : undefined;
    return known ?? `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  });
}
