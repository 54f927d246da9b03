import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import type { ChangeView, TaskView } from "../api/tasks.ts";
import { allEvents } from "./commands/events.ts";
import type { Context } from "./context.ts";
import { shownTask } from "./find.ts";
import { pause } from "./screen.ts";

/** How the work of a state ended that a person's word has started. */
export interface StateWork {
  /** `ok`, `waits` where it waits for the person, or the word of the failure. */
  readonly word: string;
  readonly reason: string;
  /** The merge is made, however the work ended after it. */
  readonly isMerged: boolean;
  /** The task afterwards. */
  readonly task: TaskView;
}

const pollInterval = 200;

/** Waits until the work of the task's state has ended, or waits for the person. */
export async function awaitWork(call: Call, { entry, task: { id } }: ChangeView): Promise<StateWork> {
  for (let waited = 0; ; ) {
    const now = await call(routes.getTask, { params: { task: id }, query: {} });
    const { task } = now;
    const isUnderWay =
      now.entry === entry && task.held === null && (task.phase === "entering" || task.phase === "doing");
    const waits = task.needs.find(({ reason }) => reason === "merge");
    // A merge that has just failed is seen for a moment before its task is held.
    waited = waits === undefined ? 0 : waited + 1;
    if (isUnderWay && waits !== undefined && waited > 1)
      return { word: "waits", reason: waits.text, isMerged: false, task };
    if (!isUnderWay) return { ...(await ending(call, task)), task };
    await pause(pollInterval);
  }
}

/** The history says how the work ended that began with the last approval: a rule may have moved the task since. */
async function ending(call: Call, { id, held }: TaskView): Promise<Omit<StateWork, "task">> {
  const events = await allEvents(call, { task: id }, 0);
  const since = events.slice(events.findLastIndex(({ type }) => type === "task.approved") + 1);
  const worked = since.findLast(({ type }) => type === "task.worked");
  const word = held?.word ?? String(worked?.data.word ?? "error");
  const isMerged = since.some(({ type }) => type === "merge.landed");
  return { word, isMerged, reason: held?.reason ?? (word === "ok" ? "" : String(worked?.data.reason ?? "")) };
}

/** Prints where the task is after the workflow's merge, or why it was not merged. */
export function tellWork(
  { print, say, paint, talkPaint }: Context,
  from: string,
  { word, reason, isMerged, task }: StateWork,
): void {
  const look = `To see what can be done: signalbox task explain ${task.id}`;
  if (word === "ok") {
    print(`${from} → ${paint.cyan(task.status)}`);
    return;
  }
  const what = word === "waits" ? talkPaint.yellow("Not merged yet.") : talkPaint.red("Not merged.");
  say(`${isMerged ? talkPaint.yellow("Merged, but the task has not moved on.") : what} ${reason}`);
  say(`${shownTask(task)} is in ${task.status}. ${look}`);
}
