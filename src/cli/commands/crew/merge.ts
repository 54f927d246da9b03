import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import type { TaskView } from "../../../api/task-wires.ts";
import { createOnlooker } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { findSlot, mustSuit } from "../../find-slot.ts";
import { shownTask } from "../../name-task.ts";
import { pause } from "../../pause.ts";
import { unlessInterrupted, untilInterrupted } from "../../until-interrupted.ts";
import { writeJson } from "../../write-json.ts";
import type { CrewFlags } from "./ps.ts";

/** What is done is on its way already. What is stuck is merged as a person asks for it. */
export async function merge(this: Context, { project, json }: CrewFlags, name: string) {
  const ending = untilInterrupted();
  const call = createOnlooker(this, ending);
  const { slot } = await findSlot(call, project, name);
  mustSuit("merge", slot);
  const params = { task: slot.lastTask };
  let problem = "";
  let told = "";
  if (slot.state === "stuck") {
    const answer = await call(routes.mergeTask, { params, query: {}, body: {} });
    if (answer.state !== "waits") problem = answer.reason;
  } else
    this.say(`The work of ${name} is tested and merged by itself. Ctrl-C stops waiting for that, and nothing else.`);
  const tell = async () => {
    const { reason: now } = (await findSlot(call, project, name)).slot;
    if (now !== "" && now !== told) this.say(now);
    told = now;
  };
  const task = await whenThere(call, slot.lastTask, tell, ending).catch(unlessInterrupted(ending));
  if (task === undefined) return;
  const merged = task.outcome === "done";
  const reason = merged ? "" : problem || (await findSlot(call, project, name)).slot.reason;
  if (!merged) this.process.exitCode = exitCodes.failed;
  if (json) return this.print(writeJson({ merged, reason, task }));
  if (merged) return this.print(`Merged ${shownTask(task)}: ${task.previousStatus} → ${this.paint.cyan(task.status)}`);
  this.say(`${this.talkPaint.red("Not merged.")} ${reason}`.trimEnd());
  this.say(`${shownTask(task)} is in ${task.status}. To see why: signalbox task explain ${task.id}`);
}

/** The task, once the engine has nothing more to do with it for now. What it waits for until then may be the person's to do. */
async function whenThere(call: Call, id: string, tell: () => Promise<void>, ending: AbortSignal): Promise<TaskView> {
  for (;;) {
    const { task } = await call(routes.getTask, { params: { task: id }, query: {} });
    const isOnItsWay = task.phase === "doing" || task.phase === "entering";
    if (!isOnItsWay || task.held !== null || ending.aborted) return task;
    await tell();
    await pause(interval, ending);
  }
}

const interval = 300;
