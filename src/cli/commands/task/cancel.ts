import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import type { TaskView } from "../../../api/task-wires.ts";
import type { SalvagedView } from "../../../api/workspace-wires.ts";
import type { Context } from "../../context.ts";
import { count, repositories } from "../../count.ts";
import { forEach } from "../../for-each.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { pause } from "../../pause.ts";
import { tellChange } from "../../tell-change.ts";
import { untilInterrupted } from "../../until-interrupted.ts";

const interval = 150;
const mostLooks = 70;

export function cancel(this: Context, { json }: { json: boolean }, ...references: readonly string[]) {
  return forEach(this, references, json, {
    act: async (_, call, reference) => {
      const about = await nameTask(call, reference);
      const begun = Date.now();
      // Nothing comes before it: a brake that has to look at something first can fail.
      const change = await call(routes.cancelTask, { ...about, body: {} });
      if (change.task.workspace === "")
        return { ...change, salvaged: [], waiting: await leftWaiting(call, change.task), hasCommits: false };
      const task = await whenGivenBack(call, change.task);
      const waiting = await leftWaiting(call, task);
      const salvaged = await salvagedSince(call, task, begun);
      return { ...change, task, salvaged, waiting, hasCommits: await hasCommits(call, task) };
    },
    tell: (own, change) => {
      tellChange(own, change);
      if (change.kind === "moved") tellSalvaged(own, change.task, change.salvaged);
      if (change.kind === "moved" && change.hasCommits)
        own.say(`To go on with what it committed, in a new task: signalbox task create --from ${change.task.id}`);
      for (const { name, command } of change.waiting)
        own.say(`${name} waits for the slot, and does not start by itself: ${command}`);
    },
  });
}

/** What the task has left, and how to get it back. */
function tellSalvaged({ say }: Context, task: TaskView, salvaged: readonly SalvagedView[]): void {
  for (const { ref, files, repositories: inside } of salvaged) {
    const left = `${count(files, "file")} that ${files === 1 ? "was" : "were"} not committed`;
    const parts = [
      ...(files === 0 && inside.length > 0 ? [] : [left]),
      ...(inside.length === 0 ? [] : [repositories(inside)]),
    ];
    say(`Salvaged ${parts.join(", and ")}. To get ${files + inside.length === 1 ? "it" : "them"} back:`);
    say(`  signalbox salvage restore ${ref} --to FOLDER`);
  }
  if (salvaged.length === 0 && task.workspace !== "" && task.held === null)
    say("Its workspace is still being given back. To see later what was salvaged: signalbox salvage list");
}

async function hasCommits(call: Call, { id }: TaskView): Promise<boolean> {
  const about = { params: { task: id }, query: { text: "false", committed: "true" } } as const;
  const diff = await call(routes.diffTask, about).catch(() => undefined);
  return diff === undefined || diff.commit !== diff.base;
}

/** A workspace is given back once its agents have ended, which takes a moment. */
async function whenGivenBack(call: Call, cancelled: TaskView): Promise<TaskView> {
  const ending = untilInterrupted();
  let task = cancelled;
  for (let left = mostLooks; left > 0 && !ending.aborted; left--) {
    if (task.held !== null || (task.phase === "over" && task.workspace === "")) return task;
    await pause(interval, ending);
    task = (await call(routes.getTask, { params: { task: cancelled.id }, query: {} })).task;
  }
  return task;
}

async function salvagedSince(call: Call, { id, project }: TaskView, begun: number): Promise<readonly SalvagedView[]> {
  const { salvaged } = await call(routes.listSalvage, { query: { project } }).catch(() => ({ salvaged: [] }));
  return salvaged.filter(({ task, at }) => task === id && Date.parse(at) >= begun - 1_000);
}

/** Who could have the slot now, and is started by nobody: the workflow says itself when the next task starts. */
async function leftWaiting(call: Call, { project }: TaskView) {
  const { tasks } = await call(routes.listTasks, { query: { project, needs: "true" } }).catch(() => ({ tasks: [] }));
  return tasks.flatMap((task) => {
    const { command } = task.needs.find((need) => need.command === `signalbox task spawn ${task.id}`) ?? {};
    return command === undefined ? [] : [{ name: shownTask(task), command }];
  });
}
