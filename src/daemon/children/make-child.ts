import { parseTaskDocument } from "../../documents/task-document.ts";
import { endProblem } from "../../engine/child-workflows.ts";
import { createTask as decideCreation } from "../../engine/create.ts";
import type { Item } from "../../engine/fan-out.ts";
import { settingProblem } from "../../engine/language/read-settings.ts";
import { blankIdentity, type Part, type Task } from "../../engine/task.ts";
import type { Settings, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { type Chosen, chooseWorkflow } from "../choose-workflow.ts";
import type { Core } from "../core.ts";
import { configFor, firstFacts, freeId } from "../make-task.ts";
import { projectOf } from "../project.ts";
import { firstDocument } from "../task-documents.ts";
import { isoTime } from "../views.ts";

/** One try at an item of a plan. */
export interface Try {
  readonly item: Item;
  readonly try: number;
  /** Why the try before it failed. */
  readonly reason?: string;
}

/**
 * Creates the children of a parent's stay, all of them waiting. A child that exists already, from before a crash, is left
 * alone.
 */
export async function makeChildren(
  core: Core,
  parent: Task,
  stay: number,
  workflow: string,
  tries: readonly Try[],
): Promise<void> {
  if (tries.length === 0) return;
  const project = await projectOf(core.store, parent.project);
  const chosen = await chooseWorkflow(core, project, workflow);
  const problem = endProblem(chosen.workflow, workflow);
  if (problem !== undefined)
    throw new Fault("workflow.invalid", problem.message, {
      hint: `${problem.fix}\nThen: signalbox task retry ${parent.id}`,
    });
  await core.workflows.keep(chosen.workflow, chosen.text);
  const prefix = configFor(core, project).branchPrefix.value;
  const whole = parseTaskDocument((await core.store.getDocument(parent.id)).text)
    .byHeading.get("Context")
    ?.body.trim();
  for (const each of tries) {
    const id = await freeId(core);
    const document = await firstDocument(core, chosen.workflow, contextOf(each.item, whole), undefined);
    const facts = await firstFacts(core, project, document);
    const now = isoTime(core.clock.now());
    const own = { id, branch: `${prefix}${id}`, createdAt: now, updatedAt: now };
    const creation = { ...childOf(parent, chosen, partOf(stay, each)), ...own };
    const stored = await core.store
      .createTask(project.name, (number) => {
        const decision = decideCreation(chosen.workflow, { ...creation, number }, facts);
        if (decision.kind !== "moved")
          throw new Fault("children.refused", `A child cannot be created: ${why(decision)}`);
        const { task, events, effects } = decision;
        return { task, document, events, effects, at: core.clock.now() };
      })
      .catch((error) => {
        // Of one try there is only one child, whoever made it.
        if (error instanceof Fault && error.code === "store.exists") return undefined;
        throw error;
      });
    if (stored !== undefined) core.changed(stored);
  }
}

/** What the child's task file says: about its part, then what a person said about the whole. */
function contextOf({ description }: Item, whole = ""): string {
  const about = whole === "" ? "" : `About the whole task, of which this is a part:\n\n${whole}`;
  return [description.trim(), about].filter((each) => each !== "").join("\n\n");
}

function why(decision: ReturnType<typeof decideCreation>): string {
  return decision.kind === "rejected" ? decision.reasons.map(({ text }) => text).join(" ") : decision.kind;
}

function partOf(stay: number, { item, try: number, reason }: Try): Part {
  const { id, title, description, files, size } = item;
  const part = { stay, item: id, try: number, title, description, files, size };
  return reason === undefined || reason === "" ? part : { ...part, reason };
}

/** A child works for its parent: from the parent's branch, with its harnesses, as urgent as it, and without being asked. */
function childOf(parent: Task, { workflow, found }: Chosen, part: Part) {
  const { project, harness, reviewHarness, model, priority, labels, preset } = parent;
  return {
    ...blankIdentity,
    ...{ project, harness, reviewHarness, model, priority, labels, part },
    summary: part.title,
    workflow: found.name,
    parent: parent.id,
    base: parent.branch,
    autostart: true,
    by: "engine" as const,
    status: workflow.initial[0] ?? "",
    preset: Object.hasOwn(workflow.presets, preset) ? preset : "",
    settings: settingsFor(workflow, parent.settings),
  };
}

/** The parent's settings that the child's workflow has too, where it allows their values. */
function settingsFor(workflow: Workflow, settings: Settings): Settings {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => {
      const setting = Object.hasOwn(workflow.settings, name) ? workflow.settings[name] : undefined;
      return setting !== undefined && settingProblem(name, setting, value) === undefined;
    }),
  );
}
