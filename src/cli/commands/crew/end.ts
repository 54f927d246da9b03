import type { Call } from "../../../api/client.ts";
import type { SlotView } from "../../../api/crew-routes.ts";
import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { findProject } from "../../find-project.ts";
import { findSlot, mustSuit } from "../../find-slot.ts";
import { pause } from "../../pause.ts";
import { tellChange } from "../../tell-change.ts";
import { untilInterrupted } from "../../until-interrupted.ts";
import { writeJson } from "../../write-json.ts";
import type { CrewFlags } from "./ps.ts";

export interface EndFlags extends CrewFlags {
  readonly yes: boolean;
}

export async function kill(this: Context, { project: named, yes, json }: EndFlags, name: string) {
  const call = createCall(this);
  const { project, slot } = await findSlot(call, named, name);
  mustSuit("kill", slot);
  if (!(await confirm(this, `End what ${name} is at, and begin ${slot.task} again?`, yes))) return;
  const change = await call(routes.restartSlot, { params: { project, agent: name }, body: {} });
  if (json) return this.print(writeJson(change));
  tellChange(this, change);
  this.say(`Its task begins again when there is room. To take it from ${name}: signalbox crew cleanup ${name}`);
}

export async function cleanup(this: Context, { project: named, yes, json }: EndFlags, name: string) {
  const call = createCall(this);
  const { slot } = await findSlot(call, named, name);
  if (slot.task !== "" && !(await confirm(this, `Cancel ${slot.task}, which ${name} is at?`, yes))) return;
  const cancelled = await cancelTasks(this, call, [slot]);
  if (json) return this.print(writeJson({ cancelled }));
  if (cancelled.length === 0) return this.say(`${name} has no task. There is nothing to clean up.`);
  this.print(`cancelled ${slot.task}`);
  this.say("What was not committed is salvaged: signalbox salvage list");
}

export async function clean(this: Context, { project: named, yes, json }: EndFlags) {
  const call = createCall(this);
  const { name: project } = await findProject(call, named);
  const { agents, running } = await call(routes.getCrew, { params: { project } });
  if (agents.length === 0 && !running) {
    if (json) return this.print(writeJson({ cancelled: [], done: [] }));
    return this.say("There is nothing to clean up.");
  }
  if (!yes) {
    for (const { name, task, ticket } of agents)
      this.say(`  ${name}  ${task === "" ? "has no task" : `${task}${ticket && ` (${ticket})`} is cancelled`}`);
    if (!(await confirm(this, cleanQuestion(project, agents), false))) return;
  }
  // Agents that got a ticket while the person was asked are among these.
  const now = await call(routes.stopCrew, { params: { project }, body: {} });
  const cancelled = await cancelTasks(this, call, now.agents);
  // Of what other tasks have left nothing is the crew's.
  const { done } = await call(routes.cleanAgents, { body: { project, onlyAgents: true } });
  if (json) return this.print(writeJson({ cancelled, done }));
  for (const task of cancelled) this.print(`cancelled ${task}`);
  for (const each of done) this.print(`took away ${each}`);
  if (cancelled.length > 0) this.say("What was not committed is salvaged: signalbox salvage list");
}

function cleanQuestion(project: string, agents: readonly SlotView[]): string {
  const tasks = agents.filter(({ task }) => task !== "").length;
  const many = count(agents.length, "agent");
  if (agents.length === 0) return `Give out no more tickets of ${project}?`;
  if (tasks === 0) return `Take ${many} of ${project} away?`;
  return `Cancel ${count(tasks, "task")} of ${project}, and take ${many} away?`;
}

/** An agent is idle once everything that its task owes is done: its program is ended, its workspace given back. */
async function cancelTasks(context: Context, call: Call, slots: readonly SlotView[]): Promise<readonly string[]> {
  const busy = slots.filter(({ task }) => task !== "");
  const cancelled: string[] = [];
  for (const { task, lastTask } of busy) if (await cancelOne(call, lastTask)) cancelled.push(task);
  const ending = untilInterrupted();
  for (const { name, lastTask } of busy) {
    for (let left = mostLooks; ; left--) {
      const { task } = await call(routes.getTask, { params: { task: lastTask }, query: {} });
      if (task.phase === "over") break;
      if (task.held !== null || left === 0 || ending.aborted) {
        context.say(`${name} is not idle yet. To see why: signalbox task explain ${lastTask}`);
        break;
      }
      await pause(interval, ending);
    }
  }
  return cancelled;
}

/** False where its task has come to its end meanwhile: then there is nothing to cancel, and that is no reason to stop. */
async function cancelOne(call: Call, id: string): Promise<boolean> {
  try {
    await call(routes.cancelTask, { params: { task: id }, query: {}, body: {} });
    return true;
  } catch (error) {
    const { task } = await call(routes.getTask, { params: { task: id }, query: {} });
    if (task.outcome !== null) return false;
    throw error;
  }
}

const interval = 200;
const mostLooks = 300;
