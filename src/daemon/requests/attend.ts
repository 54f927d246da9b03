import type { StoredTask } from "../../ports/store.ts";
import type { Asked } from "../asked.ts";
import type { Core } from "../core.ts";
import { ask } from "./move-task.ts";

/**
 * A person talks to a task's agent: a state that waits for one may be left by its agent from then on. In a dialogue it
 * would be taken for the person's answer, so it is said only where somebody is waited for.
 */
export async function attend(
  core: Core,
  asked: Asked<{ readonly project?: string }, unknown>,
  stored: StoredTask,
  text: string,
): Promise<void> {
  const { task } = stored;
  const state = (await core.workflows.get(task.workflowHash)).states[task.status];
  if (state?.wait.kind !== "human" || task.attended) return;
  await ask(core, asked, stored, (actor) => ({ kind: "reply", actor, text }));
}
