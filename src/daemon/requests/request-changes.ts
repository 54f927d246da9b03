import type { Routes } from "../../api/routes.ts";
import type { Reason } from "../../engine/decision.ts";
import { stateOf } from "../../engine/enter.ts";
import type { Task } from "../../engine/task.ts";
import { waysBack } from "../../engine/ways-back.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { findTask } from "./find-task.ts";
import { mustBePerson, refuse, say, type Wish } from "./say.ts";

const tell = "The person asks for changes: read ## Feedback in {task_file}, the newest comes last. Then go on.";

/** What a person wants to be different goes into the task file, and the task to where an agent works on it again. */
export function requestChanges(core: Core): Handler<Routes["requestChanges"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { text, to } = asked.body;
    const back = theWayBack(await core.workflows.get(stored.task.workflowHash), stored.task, to);
    const wish: Wish = { kind: "move", to: typeof back === "string" ? back : "" };
    await mustBePerson(core, asked, stored, wish);
    if (typeof back !== "string") return refuse(core, stored, wish, back);
    return say(core, stored, wish, { tell }, { section: "Feedback", text });
  };
}

/** The state that a person can send the task back to: the one they want, else the only one. Otherwise what to do. */
export function theWayBack(workflow: Workflow, task: Task, wanted?: string): string | Reason {
  const state = stateOf(workflow, task.status);
  const { id } = task;
  if (state.terminal) {
    const fix = `Continue its branch in a new task: signalbox task create --from ${id}`;
    return { code: "terminal", text: `The task is in "${state.name}", which is the end.`, fix };
  }
  const { all, toAgents } = waysBack(workflow, state);
  const [only, ...others] = toAgents;
  if (wanted !== undefined && all.includes(wanted)) return wanted;
  if (wanted === undefined && only !== undefined && others.length === 0) return only;
  const named = wanted !== undefined || only === undefined ? all : toAgents;
  if (named.length > 0) {
    const text = `From "${state.name}" a person can send the task to ${named.join(", ")}.`;
    return { code: "bad-value", text, fix: `Say which: --status ${named.join(" or --status ")}` };
  }
  const text = `From "${state.name}" no person can send the task back to an agent.`;
  const fix = Object.keys(task.runs).length > 0 ? `Tell the agent that is at work: signalbox task send ${id}` : "";
  return { code: "no-transition", text, fix: fix || `See what can be done: signalbox task explain ${id}` };
}
