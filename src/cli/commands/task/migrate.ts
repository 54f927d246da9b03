import { routes } from "../../../api/routes.ts";
import type { Change, Migration } from "../../../engine/migrate.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { shellWord } from "../../shell-word.ts";
import { tellChange } from "../../tell-change.ts";
import { workflowReference } from "../../workflow-reference.ts";
import { wrap } from "../../wrap.ts";
import { writeJson } from "../../write-json.ts";

export interface MigrateFlags {
  readonly workflow?: string;
  readonly to?: string;
  readonly apply: boolean;
  readonly json: boolean;
}

export async function migrate(this: Context, { json, ...wanted }: MigrateFlags, reference: string) {
  const call = createCall(this);
  const { workflow, to, apply } = wanted;
  const body = given({ workflow: workflow && workflowReference(workflow), to, apply });
  const answer = await call(routes.migrateTask, { ...(await nameTask(call, reference)), body });
  if (json) return this.print(writeJson(answer));
  const plan = answer.plan as unknown as Migration;
  this.print(describePlan(plan, this.columns).join("\n"));
  if (answer.change !== null) return tellChange(this, answer.change);
  if (plan.isSame && to === undefined) return;
  const same = workflow === undefined ? "" : ` --workflow ${shellWord(workflow)}`;
  const target = to === undefined ? "" : ` --to ${shellWord(to)}`;
  this.say(`\nNothing has changed. To do it: signalbox task migrate ${shellWord(reference)}${same}${target} --apply`);
}

function describePlan(plan: Migration, columns: number): readonly string[] {
  const { isSame, states, ways, prompts, targets, droppedSettings } = plan;
  const row = (title: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`${title.padEnd(18)}${wrap(values.join(", "), columns - 18, " ".repeat(18))}`];
  const change = (title: string, { added, removed, changed }: Change) => [
    ...row(`${title} added`, added),
    ...row(`${title} removed`, removed),
    ...row(`${title} changed`, changed),
  ];
  const differences = [
    ...change("states", states),
    ...change("ways", ways),
    ...change("prompts", prompts),
    ...row("settings dropped", droppedSettings),
  ];
  return [
    ...(isSame ? ["The task is under this version already."] : differences),
    ...(isSame || differences.length > 0 ? [] : ["Nothing that concerns the task is different."]),
    ...row("can be put in", targets),
  ];
}
