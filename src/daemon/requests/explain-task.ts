import type { Routes } from "../../api/routes.ts";
import { explain } from "../../engine/explain.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { effectView, isoTime, taskView } from "../views.ts";
import { findTask } from "./find-task.ts";

export function explainTask(core: Core): Handler<Routes["explainTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const workflow = await core.workflows.get(task.workflowHash);
    const { where, blocked, moves } = explain(workflow, task, await core.factsOf(task));
    const owed = (await core.store.openEffects(task.id)).map(effectView);
    const waiting = await unfinished(core, task.dependsOn);
    const dependencies = waiting.map((reason) => ({ reason, fix: "" }));
    return {
      task: taskView(stored, workflow),
      where,
      blocked: [...blocked, ...dependencies],
      moves,
      // What comes after something that has failed waits for a person.
      next: [...(owed[0]?.state === "owed" ? owed.map(nextOf) : []), ...(await byItself(core, stored))],
      owed,
    };
  };
}

function nextOf({ action, dueAt, tries }: ReturnType<typeof effectView>) {
  return { what: tries === 0 ? `Carry out ${action}` : `Try ${action} again (failed ${tries} times)`, at: dueAt };
}

/** What happens without anybody's word. */
async function byItself({ deadlines, scheduler }: Core, { task }: StoredTask) {
  const due = deadlines.of(task.id);
  const timed = due === undefined ? [] : [{ what: due.what, at: isoTime(due.at) }];
  const isWaiting = task.held === undefined && task.autostart && scheduler.waits(task.id);
  if (!isWaiting) return timed;
  const isFull = await scheduler.isFull(task.project, task.id);
  return [...timed, { what: isFull ? "Start when a slot is free" : "Start now", at: null }];
}

async function unfinished({ store }: Core, dependsOn: readonly string[]): Promise<readonly string[]> {
  const all = await Promise.all(dependsOn.map((id) => store.getTask(id)));
  return all.flatMap((stored) =>
    stored === undefined || !stored.isOpen
      ? []
      : [`It depends on ${stored.task.project}#${stored.task.number}, which is in "${stored.task.status}".`],
  );
}
