import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import { whyNoDialogue } from "../../engine/nobody-asks.ts";
import { startOf } from "../../engine/start-of.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { runToCome } from "./agents-of.ts";
import { findTask } from "./find-task.ts";
import { hasTerminal } from "./list-actions.ts";
import { ask } from "./move-task.ts";
import { mustBeOpen } from "./must-be-open.ts";
import { refuse } from "./say.ts";

export function respawnTask(core: Core): Handler<Routes["respawnTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    // To the engine a run that was not started yet is alive; a person would look for it in vain.
    const coming = asked.caller.kind === "human" ? await runToCome(core, stored) : undefined;
    if (coming !== undefined)
      await refuse(core, stored, { kind: "respawn" }, { code: "still-alive", text: coming.why, fix: coming.fix });
    return ask(core, asked, stored, (actor) => ({ kind: "respawn", actor }));
  };
}

export function replyTask(core: Core): Handler<Routes["replyTask"]> {
  return async (asked) => {
    const { text } = asked.body;
    const stored = await findTask(core, asked);
    if (asked.caller.kind === "human") await mustBeAsked(core, stored, text);
    return ask(core, asked, stored, (actor) => ({ kind: "reply", actor, text }));
  };
}

/** Words that no agent waits for would reach nobody. */
async function mustBeAsked(core: Core, stored: StoredTask, text: string): Promise<void> {
  const { task } = stored;
  const { workflow, facts } = await core.lookFor(task);
  const reason = whyNoDialogue(workflow, task, facts.document, await hasTerminal(core, task));
  if (reason !== undefined) await refuse(core, stored, { kind: "reply", text }, reason);
}

/** A person's word starts a task, whether or not it would start by itself. */
export function spawnTask(core: Core): Handler<Routes["spawnTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    mustBeOpen(stored);
    const workflow = await core.workflows.get(stored.task.workflowHash);
    const start = startOf(workflow, stored.task);
    if (start === undefined) {
      const text = `The task has started already: it is in "${stored.task.status}".`;
      throw new Refusal([
        { code: "not-waiting", text, fix: `Bring a dead agent back: signalbox task respawn ${stored.task.id}` },
      ]);
    }
    return ask(core, asked, stored, (actor) => ({ ...start, actor }));
  };
}
