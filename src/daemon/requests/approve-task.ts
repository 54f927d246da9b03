import type { Routes } from "../../api/routes.ts";
import { decide } from "../../engine/decide.ts";
import type { Reason } from "../../engine/decision.ts";
import { whyNothingToApprove } from "../../engine/nobody-asks.ts";
import type { Facts, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { findTask } from "./find-task.ts";
import { doneState, mergeApproved, onceMerged } from "./merge-task.ts";
import { changeView } from "./move-task.ts";
import { mustHave } from "./projects.ts";
import { mustBePerson, refuse } from "./say.ts";

const wake = "A person has said yes: the task is in {status} now. Go on.";

const wish = { kind: "continue" } as const;

/** A person says yes to what is asked, for the work as it is at one commit. */
export function approveTask(core: Core): Handler<Routes["approveTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    await mustBePerson(core, asked, stored, wish);
    const { task } = stored;
    const { workflow, facts } = await core.look(task);
    const nobody = whyNothingToApprove(workflow, task, facts.document);
    if (nobody !== undefined) await refuse(core, stored, wish, nobody);
    const elsewhere = otherBranch(facts);
    if (elsewhere !== undefined) await refuse(core, stored, wish, elsewhere);
    const commit = facts.head || (await collectedOf(core, task));
    const other = isOther(task, commit, asked.body.commit);
    if (other !== undefined) await refuse(core, stored, wish, other);
    const request: Request = {
      ...wish,
      actor: { role: "human" },
      word: { approves: commit, entry: task.entry, wake },
    };
    const isOpen = workflow.states[task.status]?.wait.kind === "open";
    const to = isOpen ? doneState(workflow, task.status) : onlyOnceMerged(workflow, task, request, facts);
    if (to !== undefined) return { commit, change: null, merge: await mergeApproved(core, asked, stored, to, commit) };
    return { commit, change: await changeView(core, await core.submit(task.id, request)), merge: null };
  };
}

function otherBranch({ unreadable }: Facts): Reason | undefined {
  if (unreadable?.otherBranch === undefined) return undefined;
  return { code: "task-file-unreadable", text: unreadable.reason, fix: unreadable.fix };
}

/** Where the task would go if its work were merged; undefined where it goes on without that, or not at all. */
function onlyOnceMerged(workflow: Workflow, task: Task, request: Request, facts: Facts): string | undefined {
  if (decide(workflow, task, request, facts).kind !== "rejected") return undefined;
  const merged = decide(workflow, task, request, onceMerged(facts));
  return merged.kind === "moved" ? merged.task.status : undefined;
}

async function collectedOf(core: Core, { id, project }: Task): Promise<string> {
  if (core.repositories === undefined) return "";
  const { control } = await core.repositories.workspacesOf(await mustHave(core, project));
  return (await control.commitAt(taskRef(id))) ?? "";
}

/** Who says which commit they looked at approves no other. */
function isOther(task: Task, commit: string, given: string | undefined): Reason | undefined {
  if (given === undefined) return undefined;
  const wanted = given.toLowerCase();
  if (!/^[0-9a-f]{7,64}$/.test(wanted)) {
    const text = `"${given}" is no commit: at least 7 characters of its id are needed.`;
    return { code: "bad-value", text, fix: `What the work is at is said by signalbox task diff ${task.id}` };
  }
  if (commit.startsWith(wanted)) return undefined;
  const text =
    commit === "" ? "The task has no commit yet." : `The branch is at ${commit.slice(0, 10)}, not at ${given}.`;
  return { code: "moved-on", text, fix: `Look at what is new: signalbox task diff ${task.id}` };
}
