import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import { migrate, planMigration } from "../../engine/migrate.ts";
import { Fault } from "../../fault.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { chooseWorkflow } from "./choose-workflow.ts";
import { findTask } from "./find-task.ts";
import { changeView } from "./move-task.ts";
import { mustHave } from "./projects.ts";

/** Shows what another version of a task's workflow would change; with `apply`, puts the task under it. */
export function migrateTask(core: Core): Handler<Routes["migrateTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const project = await mustHave(core, task.project);
    const chosen = await chooseWorkflow(core, project, asked.body.workflow ?? task.workflow);
    const before = await core.workflows.get(task.workflowHash);
    const plan = { ...planMigration(before, chosen.workflow, task), from: before.hash, to: chosen.workflow.hash };
    if (asked.body.apply !== true) return { plan, change: null };
    if ((await core.store.openEffects(task.id)).length > 0) {
      throw new Fault("task.conflict", `The task ${task.id} still owes something.`, {
        hint: `Wait for it, or see what it is: signalbox task explain ${task.id}`,
      });
    }
    const decision = migrate(before, chosen.workflow, task, { role: "human" }, await core.factsOf(task), asked.body.to);
    if (decision.kind === "rejected") throw new Refusal(decision.reasons);
    if (decision.kind === "ignored") return { plan, change: null };
    await core.workflows.keep(chosen.workflow, chosen.text);
    const saved = await core.store.saveDecision({
      task: { ...decision.task, workflow: chosen.found.name },
      revision: stored.revision,
      isOpen: decision.task.phase !== "over",
      events: decision.events.map((event) => ({ ...event, set: { ...event.set, workflow: chosen.found.name } })),
      effects: decision.effects,
      at: core.clock.now(),
    });
    core.changed(saved);
    return { plan, change: await changeView(core, { decision, stored: saved, from: task.status }) };
  };
}
