import { Refusal } from "../../api/error.ts";
import type { Reason } from "../../engine/decision.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { contains } from "../../home/agents-at-work.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Asked } from "../asked.ts";
import type { Caller } from "../caller.ts";
import type { Core } from "../core.ts";
import { refusal } from "../submit.ts";
import { taskOfFolder } from "./find-task.ts";

/**
 * Who asks something of a task. Whoever has no say in it is refused before the engine is asked, and that goes into the
 * task's history like every other refusal.
 */
export async function actorFor(
  core: Core,
  { task }: StoredTask,
  { caller, folder }: Pick<Asked<unknown, unknown>, "caller" | "folder">,
  request: (actor: Actor) => Request,
): Promise<Actor> {
  const actor = claimOf(caller);
  const reason = await whyNot(core, task, caller, folder);
  if (reason === undefined) return actor;
  await core.store.addEvents(task.id, [refusal(request(actor), [reason], actor.role)], core.clock.now());
  if (caller.kind === "nobody") {
    throw new Fault("caller.unknown", reason.text, { hint: reason.fix });
  }
  throw new Refusal([reason]);
}

/** Who somebody claims to be, whether or not that is believed. */
export function claimOf(caller: Caller): Actor {
  if (caller.kind === "human") return { role: "human" };
  if (caller.kind === "nobody") return { role: "nobody" };
  return { role: caller.credential.role, run: caller.credential.run };
}

async function whyNot(core: Core, task: Task, caller: Caller, folder: string): Promise<Reason | undefined> {
  if (caller.kind === "nobody") {
    return {
      code: "no-credential",
      text: `Nobody may ask this without a credential. ${caller.why}`,
      fix: "People: run the command outside of workspaces and agents. Agents: use the token the run was started with.",
    };
  }
  if (caller.kind === "human") {
    const own = await taskOfFolder(core.store, folder);
    if (own === undefined) return undefined;
    const text = `${folder} is inside a workspace, where commands speak for the agent, not for a person.`;
    return { code: "in-workspace", text, fix: "Run the command from your own checkout of the repository." };
  }
  const { credential, isOver } = caller;
  if (credential.task !== task.id) {
    const text = `This credential belongs to another task, ${credential.task}.`;
    return { code: "other-task", text, fix: "Ask only about your own task." };
  }
  // A run that the workflow has ended may not write into the task file either, which the engine is not asked about.
  const isLive = Object.values(task.runs).some(({ key }) => key === credential.run);
  if (isOver || !isLive) {
    const text = `The run ${credential.run} is over; it cannot ask for anything any more.`;
    return { code: "run-over", text, fix: "Stop here." };
  }
  const run = await core.store.runs.get(`${task.id}/${credential.run}`);
  if (run !== undefined && run.folder !== "" && folder !== "" && !contains(run.folder, folder)) {
    const text = `The run ${credential.run} works in ${run.folder}, but this was asked from ${folder}.`;
    return { code: "other-folder", text, fix: `Ask from ${run.folder}.` };
  }
  return undefined;
}
