import { readFileSync } from "node:fs";
import { type Call, errorBodyOf } from "../api/client.ts";
import { pushOutlook, pushTold } from "../api/merge-answer.ts";
import type { SaidView } from "../api/person.ts";
import type { AnsweredView } from "../api/questions.ts";
import { routes } from "../api/routes.ts";
import type { GivenBackView, MergeView } from "../api/tasks.ts";
import type { TypeOf } from "../api/wire.ts";
import type { DiffPart } from "../api/work.ts";
import { loadWorkflow } from "../engine/language/load.ts";
import { verify } from "../engine/verify/verify.ts";
import { Fault } from "../fault.ts";
import { oneLine } from "../text.ts";
import { createCall } from "./connect.ts";
import type { Context } from "./context.ts";
import { evidenceOf } from "./describe-task.ts";
import { exitCodeOfError, exitCodes, tellChange, writeFailure } from "./fast/tell.ts";
import { type NamedTask, shownTask } from "./find.ts";
import { count, listed, writeJson } from "./text.ts";

/** Prints how a merge ended, and what happens next. */
export function tellMerge(context: Context, answer: MergeView): void {
  const { state, target, task, dryRun } = answer;
  const name = shownTask(task);
  if (dryRun && state === "undone") tellUndoRehearsal(context, answer);
  else if (dryRun) tellRehearsal(context, answer);
  else if (state === "merged") tellMerged(context, answer);
  else if (state === "undone") {
    context.print(`Undid the ${answer.reason === "" ? "merge" : "merges"} of ${name} into ${target}`);
    if (answer.reason !== "") context.print(answer.reason);
    tellPushed(context, answer);
    if (task.phase === "over")
      context.say(`To bring its work back in a new task: signalbox task create --from ${task.id}`);
  } else tellUnmerged(context, answer);
  for (const warning of answer.warnings) context.say(context.talkPaint.yellow(warning));
}

function tellMerged(context: Context, answer: MergeView): void {
  const { print, say, paint, talkPaint } = context;
  const { target, before, after, task, reason, untested, empty } = answer;
  const name = shownTask(task);
  const way = `${short(before)} → ${short(after)}`;
  if (empty) print(`${name} merged nothing into ${target}: its branch has no commits of its own`);
  else print(before === after ? `${name} was already in ${target}` : `Merged ${name} into ${target}: ${way}`);
  tellPushed(context, answer);
  if (reason === "") print(`${task.previousStatus} → ${paint.cyan(task.status)}`);
  else say(talkPaint.yellow(reason));
  if (untested !== null) say(`The result of the merge was not tested${howToTest[untested]}`);
}

/** The rest of the sentence, and what to do about it. */
const howToTest = {
  off: ". To test merges before the branch moves: signalbox config set test_merges true",
  "no-command":
    ": no test command was found. To name one: signalbox config set test_command COMMAND --repository && signalbox trust --config",
} as const satisfies Readonly<Record<NonNullable<MergeView["untested"]>, string>>;

function tellPushed({ print }: Context, { target, pushed }: MergeView): void {
  if (pushed !== null) print(pushTold({ target, pushed }));
}

function tellPush({ print, say }: Context, { target, pushed }: MergeView): void {
  if (pushed === null) return;
  print(pushOutlook({ target, pushed }));
  say("To merge without pushing: signalbox config set push_merges false");
}

function tellUnmerged({ say, talkPaint }: Context, { state, reason, task, givenBack }: MergeView): void {
  const look = `signalbox task explain ${task.id}`;
  if (givenBack !== null) {
    say(`${talkPaint.red("Not merged.")} ${reason}`);
    say(`${task.previousStatus} → ${givenBack.to}. ${whoResolves(givenBack)}`);
    say(`After the agent has resolved it, merge again: signalbox task merge ${task.id}`);
  } else if (state === "waits") {
    say(`${talkPaint.yellow("Not merged yet.")} ${reason}`);
    say(`The merge continues by itself when that is resolved. To see its state: ${look}`);
  } else {
    say(`${talkPaint.red("Not merged.")} ${reason}`);
    say(`${shownTask(task)} is in ${task.status}. To see what can be done: ${look}`);
  }
}

/** Prints how an attempt to stop a merge ended. */
export function tellStopped({ print, say, talkPaint }: Context, answer: MergeView): void {
  const { state, target, task, reason } = answer;
  if (state !== "merged") {
    print(`Stopped the merge of ${shownTask(task)}; nothing was merged into ${target}`);
    say(`${reason} The task is in ${task.status}.`);
    return;
  }
  say(`${talkPaint.red("Too late.")} ${shownTask(task)} was merged into ${target} before the merge could be stopped.`);
  say(reason.includes("--undo") ? reason : `To undo it: signalbox task merge ${task.id} --undo`);
}

/**
 * Waits for a request that may merge. If it takes long, says on a terminal what it waits for. The daemon goes on with the
 * merge after Ctrl-C, so that says how to stop it. `goesOn`: what goes on, in a sentence. `later`: the tasks that the same
 * command would ask for afterwards.
 */
export async function whileMerging<T>(
  { say }: Context,
  call: Call,
  about: NamedTask,
  { reference, goesOn, later, verb, stop = `To stop the merge: signalbox task merge ${reference} --cancel` }: Leaving,
  asking: Promise<T>,
): Promise<T> {
  const leave = () => {
    say(`\n${goesOn} ${stop}`);
    const [next] = later;
    if (next !== undefined)
      say(
        `${listed(later)} ${later.length === 1 ? "was" : "were"} not asked for: signalbox task ${verb} ${later.join(" ")}`,
      );
    process.exit(interruptedCode);
  };
  const tellStage = async () => {
    const { where } = await call(routes.explainTask, about);
    say(`${where}\nCtrl-C stops only the waiting.`);
  };
  const isAtTerminal = process.stderr.isTTY === true;
  const timer = isAtTerminal ? setTimeout(() => void tellStage().catch(() => {}), noticeTimeout) : undefined;
  process.once("SIGINT", leave);
  try {
    return await asking;
  } finally {
    clearTimeout(timer);
    process.removeListener("SIGINT", leave);
  }
}

interface Leaving {
  readonly reference: string;
  readonly goesOn: string;
  readonly later: readonly string[];
  /** The command that asks for the later ones. */
  readonly verb: string;
  /** How the merge is stopped, in a sentence; with `task merge --cancel` where it is left out. */
  readonly stop?: string;
}

/** What shells report for a program that Ctrl-C has ended. */
const interruptedCode = 130;
/** Merges that are over sooner, in milliseconds, need no notice. */
const noticeTimeout = 1_500;

/** Which agent has to resolve a conflict. */
export function whoResolves({ run, how }: GivenBackView): string {
  if (how === "start") return `${run} is started to resolve it.`;
  if (how === "message") return `${run} is told to resolve it when it is ready for input.`;
  return "The conflicts are listed in ## Feedback of the task file; no agent is working now.";
}

function tellRehearsal(context: Context, answer: MergeView): void {
  const { print, say, talkPaint } = context;
  const { state, reason, target, before, after, commits, changed, task } = answer;
  const name = shownTask(task);
  if (state !== "merged" && state !== "waits") say(`${name} cannot be merged. ${reason}`);
  else if (answer.empty) print(`${name} would merge nothing into ${target}: its branch has no commits of its own`);
  else if (before === after) print(`${name} is already in ${target}`);
  else {
    print(
      `${name} would merge ${count(commits, "commit")} into ${target}, and change ${count(changed.length, "file")}:`,
    );
    printFiles(print, changed);
    for (const line of evidenceOf(task)) say(line);
  }
  tellPush(context, answer);
  if (state === "waits") say(`${talkPaint.yellow("It would wait.")} ${reason}`);
  if (answer.untested !== null) say(`The result of the merge would not be tested${howToTest[answer.untested]}`);
}

function tellUndoRehearsal(context: Context, answer: MergeView): void {
  const { print, say } = context;
  const { target, reason, changed, task } = answer;
  const merges = reason === "" ? "merge" : "merges";
  const brings = changed.length === 0 ? "Nothing would change" : `This would change ${count(changed.length, "file")}`;
  print(`Would undo the ${merges} of ${shownTask(task)} into ${target}. ${brings}${changed.length === 0 ? "." : ":"}`);
  printFiles(print, changed);
  if (reason !== "") print(reason);
  tellPush(context, answer);
  say(`Nothing has changed. To do it: signalbox task merge ${task.id} --undo`);
}

const maxShown = 30;

function printFiles(print: Context["print"], paths: readonly string[]): void {
  for (const path of paths.slice(0, maxShown)) print(`  ${path}`);
  if (paths.length > maxShown) print(`  … and ${paths.length - maxShown} more`);
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

/** Prints where the task went after a person's text, and which agent gets it. */
export function tellSaid(context: Context, answer: SaidView, json: boolean): void {
  if (json) {
    context.print(writeJson(answer));
    return;
  }
  const { change, section, told } = answer;
  tellChange(context, change);
  const { id } = change.task;
  context.say(`Your text is in "## ${section}" of the task file. ${whoLearns(told, id)}`);
}

/** Prints what was asked, after the answer was passed on. */
export function tellAsked({ say }: Context, question: AnsweredView["question"]): void {
  if (question !== null) say(`You have answered ${question.id}: ${oneLine(question.text, maxAsked)}`);
}

const maxAsked = 300;

function whoLearns(told: SaidView["told"], id: string): string {
  if (told === null) return "No agent is working now; the next one reads it there.";
  if (told.how === "start") return `${told.run} is started with it.`;
  return `${told.run} is told when it is ready for input. To see what it is doing: signalbox task peek ${id}`;
}

/** Prints which sections of a task file were stored. */
export function tellWritten({ say }: Context, { changed, ignored }: TypeOf<typeof routes.putDocument.answer>): void {
  const named = (sections: readonly string[]) => listed(sections.map((section) => `"## ${section}"`));
  if (changed.length > 0) say(`Changed in the task file: ${named(changed)}.`);
  else say("No section of the task file has changed.");
  if (ignored.length > 0) say(`Not stored, because other roles own it: ${named(ignored)}.`);
}

/** An unproved workflow may run, so this warns that tasks can get stuck in it. */
export function warnUnproved({ say, talkPaint }: Context, { from, file }: { from: string; file: string }): void {
  // Our own tests prove the built-in workflows.
  if (from === "built-in") return;
  const { workflow } = loadWorkflow(readFileSync(file, "utf8"), file);
  const { findings, unexplored } = workflow === undefined ? { findings: [], unexplored: [] } : verify(workflow);
  const first = findings.find(({ level }) => level === "error") ?? unexplored[0];
  if (first === undefined) return;
  say(`${talkPaint.yellow("warning:")} This workflow is not proved: ${first.message}`);
  say(`To see how: signalbox workflow verify ${file}`);
}

/** A patch in colours, on a terminal. */
export function paintPatch(text: string, { paint }: Pick<Context, "paint">): string {
  const lines = text.split("\n");
  let isHead = false;
  const painted = lines.map((line) => {
    if (line.startsWith("diff --git ")) isHead = true;
    else if (line.startsWith("@@")) isHead = false;
    if (isHead) return paint.bold(line);
    if (line.startsWith("@@")) return paint.cyan(line);
    if (line.startsWith("+")) return paint.green(line);
    return line.startsWith("-") ? paint.red(line) : line;
  });
  return painted.join("\n");
}

/** How many lines of each file have changed, and the total. */
export function writeStat({ files }: DiffPart, { paint, columns }: Pick<Context, "paint" | "columns">): string {
  if (files.length === 0) return "";
  const shown = files.map(({ path, from, added, deleted }) => ({
    name: from === null ? path : `${from} → ${path}`,
    added: added ?? 0,
    deleted: deleted ?? 0,
    isBinary: added === null,
  }));
  const width = Math.max(...shown.map(({ name }) => name.length));
  const most = Math.max(...shown.map(({ added, deleted }) => added + deleted));
  const room = Math.max(10, Math.min(40, columns - width - 12));
  const scale = most > room ? room / most : 1;
  const signs = (sign: string, number: number) =>
    sign.repeat(number === 0 ? 0 : Math.max(1, Math.round(number * scale)));
  const lines = shown.map(({ name, added, deleted, isBinary }) => {
    const bar = paint.green(signs("+", added)) + paint.red(signs("-", deleted));
    return ` ${name.padEnd(width)} | ${isBinary ? "binary" : `${String(added + deleted).padStart(5)} ${bar}`}`.trimEnd();
  });
  const [added, deleted] = [sum(shown.map((each) => each.added)), sum(shown.map((each) => each.deleted))];
  const all = `${count(files.length, "file")}, ${count(added, "line")} added, ${count(deleted, "line")} deleted`;
  return `${[...lines, ` ${all}`].join("\n")}\n`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** What a command does with each of its arguments. */
interface Verb<Answer> {
  /** Undefined if the person said no. `later`: the arguments that follow. */
  act(context: Context, call: Call, reference: string, later: readonly string[]): Promise<Answer>;
  tell(context: Context, answer: Answer, reference: string): void;
  /** Whether an answer counts as a failure. */
  isFailed?(answer: Answer): boolean;
}

/**
 * Does the same for each of several tasks, agents or projects, one after the other. A failure does not stop the
 * others; the exit code is that of the first failure. The output for a single argument has no prefix.
 */
export async function forEach<Answer>(
  context: Context,
  references: readonly string[],
  json: boolean,
  { act, tell, isFailed = () => false }: Verb<Answer>,
): Promise<void> {
  const call = createCall(context);
  const fail = (code: number) => {
    context.process.exitCode ||= code;
  };
  const [only = "", ...others] = [...new Set(references)];
  if (others.length === 0) {
    const answer = await act(context, call, only, []);
    if (isFailed(answer)) fail(exitCodes.failed);
    return json ? context.print(writeJson(answer)) : tell(context, answer, only);
  }
  const results: unknown[] = [];
  for (const [index, reference] of [only, ...others].entries()) {
    const own = json ? context : named(context, reference);
    try {
      const answer = await act(own, call, reference, others.slice(index));
      if (isFailed(answer)) fail(exitCodes.failed);
      if (json) results.push({ reference, answer, error: null });
      else tell(own, answer, reference);
    } catch (error) {
      fail(exitCodeOfError(error));
      if (json && error instanceof Fault) results.push({ reference, answer: null, ...errorBodyOf(error) });
      else own.say(writeFailure(context, error));
    }
  }
  if (json) context.print(writeJson({ results }));
}

/** A context that puts the reference in front of all output. */
function named(context: Context, reference: string): Context {
  const about = (text: string) => `${reference}: ${text.replaceAll("\n", `\n${" ".repeat(reference.length + 2)}`)}`;
  return { ...context, print: (text) => context.print(about(text)), say: (text) => context.say(about(text)) };
}
