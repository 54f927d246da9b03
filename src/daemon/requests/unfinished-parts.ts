import type { Guard, RunSpec, Workflow } from "../../engine/workflow.ts";

/** What a workflow asks for that this version cannot do yet, as sentences for whoever creates a task in it. */
export function unfinishedParts(workflow: Workflow): readonly string[] {
  const states = Object.values(workflow.states);
  const found: string[] = [];
  const fanOut = states.find(({ wait }) => wait.kind === "fan_out");
  if (fanOut !== undefined)
    found.push(`Child tasks are not started yet: in "${fanOut.name}" the task is held, and you can only cancel it.`);
  const toParent = states.find((state) => state.do.some(({ params }) => params.into === "parent"));
  if (toParent !== undefined)
    found.push(
      `Merging into a parent task does not work yet: "${toParent.name}" fails. Only a child task could use it.`,
    );
  const guards: readonly Guard[] = [
    ...workflow.ways.flatMap((way) => way.when),
    ...states.flatMap((state) => state.rules.flatMap((rule) => rule.when)),
  ];
  if (guards.some(({ field }) => field === "approved_findings" || field === "open_findings"))
    found.push("Findings of a review are not kept yet: nobody can approve or dismiss them, so no fixer is started.");
  const runs = states.flatMap((state) => runsOf(state.wait));
  if (runs.some(({ tools }) => (tools ?? []).some((tool) => !toolClasses.includes(tool))))
    found.push("Tools that are named one by one work with Claude Code only; other harnesses refuse them or the task.");
  if (usesTiers(workflow, runs))
    found.push(
      '"large" and "small" are not mapped to models yet: they reach the harness as they are. Name a model instead.',
    );
  if (states.some((state) => state.do.some(({ name }) => name === "merge_pr")))
    found.push("Merging needs a forge here: without GitHub the task stays before its merge.");
  return found;
}

const toolClasses = ["read", "write", "execute", "web"];
const tiers = ["large", "small"];

function runsOf(wait: Workflow["states"][string]["wait"]): readonly RunSpec[] {
  if (wait.kind === "agent") return [wait.run];
  return wait.kind === "panel" ? [wait.member, wait.judge] : [];
}

function usesTiers(workflow: Workflow, runs: readonly RunSpec[]): boolean {
  const models = runs.flatMap(({ model }) => (model === undefined ? [] : [model]));
  const values = models.flatMap((model) => {
    const setting = /^\{(.+)\}$/.exec(model)?.[1];
    if (setting === undefined) return [model];
    const value = workflow.settings[setting]?.default;
    if (typeof value === "object") return Object.values(value) as readonly string[];
    return [String(value)];
  });
  return values.some((value) => tiers.includes(value));
}
