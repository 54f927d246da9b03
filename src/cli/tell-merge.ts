import type { GivenBackView, MergeView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { count } from "./count.ts";
import { shownTask } from "./name-task.ts";

/** Tells how a merge ended, and what happens next. */
export function tellMerge(context: Context, answer: MergeView): void {
  const { state, target, task, dryRun } = answer;
  const name = shownTask(task);
  if (dryRun) tellRehearsal(context, answer);
  else if (state === "merged") tellMerged(context, answer);
  else if (state === "undone") {
    context.print(`Taken back what ${name} brought into ${target}`);
    if (task.phase === "over")
      context.say(`To bring its work back in a new task: signalbox task create --from ${task.id}`);
  } else tellUnmerged(context, answer);
  for (const warning of answer.warnings) context.say(context.talkPaint.yellow(warning));
}

function tellMerged(
  { print, say, paint, talkPaint }: Context,
  { target, before, after, task, reason, untested }: MergeView,
): void {
  const name = shownTask(task);
  const way = `${short(before)} → ${short(after)}`;
  print(before === after ? `${name} was in ${target} already` : `Merged ${name} into ${target}: ${way}`);
  if (reason === "") print(`${task.previousStatus} → ${paint.cyan(task.status)}`);
  else say(talkPaint.yellow(reason));
  if (untested) say(`What the merge made was not tested. ${testThem}`);
}

const testThem = "To test merges before the branch moves: signalbox config set test_merges true";

function tellUnmerged({ say, talkPaint }: Context, { state, reason, task, givenBack }: MergeView): void {
  const look = `signalbox task explain ${task.id}`;
  if (givenBack !== null) {
    say(`${talkPaint.red("Not merged.")} ${reason}`);
    say(`${task.previousStatus} → ${givenBack.to}. ${whoResolves(givenBack)}`);
    say(`Once it is resolved and handed over, merge again: signalbox task merge ${task.id}`);
  } else if (state === "waits") {
    say(`${talkPaint.yellow("Not merged yet.")} ${reason}`);
    say(`It goes on by itself once that is out of the way. To see how it stands: ${look}`);
  } else {
    say(`${talkPaint.red("Not merged.")} ${reason}`);
    say(`${shownTask(task)} stays in ${task.status}. To see what can be done: ${look}`);
  }
}

/** Which agent gets a conflict to resolve. */
export function whoResolves({ run, how }: GivenBackView): string {
  if (how === "start") return `${run} is started to resolve it.`;
  if (how === "message") return `${run} is told to resolve it, as soon as it listens.`;
  return "What there is to resolve stands in ## Feedback of the task file; no agent is at work now.";
}

function tellRehearsal({ print, say, talkPaint }: Context, answer: MergeView): void {
  const { state, reason, target, before, after, commits, changed, task } = answer;
  const name = shownTask(task);
  if (state !== "merged" && state !== "waits") say(`${name} cannot be merged. ${reason}`);
  else if (before === after) print(`${name} is in ${target} already`);
  else {
    print(
      `${name} would bring ${count(commits, "commit")} into ${target}, and change ${count(changed.length, "file")}:`,
    );
    for (const path of changed.slice(0, mostShown)) print(`  ${path}`);
    if (changed.length > mostShown) print(`  … and ${changed.length - mostShown} more`);
  }
  if (state === "waits") say(`${talkPaint.yellow("It would wait.")} ${reason}`);
  if (answer.untested) say(`What the merge makes would not be tested. ${testThem}`);
}

const mostShown = 30;

function short(commit: string): string {
  return commit.slice(0, 10);
}
