import { createPerformer, type Performers } from "../../src/daemon/perform.ts";
import { createSubmit } from "../../src/daemon/submit.ts";
import { nothingOutside, type OutsideOf } from "../../src/daemon/workspaces/outside.ts";
import { parseTaskDocument } from "../../src/documents/task-document.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import type { Store } from "../../src/ports/store.ts";
import { createScriptedClock, type ScriptedClock } from "../scripted-ports.ts";

/** A performer for one task of a workflow, over any store, with a scripted clock. */
export async function stage(
  store: Store,
  text: string,
  performers: Performers,
  clock: ScriptedClock = createScriptedClock(1_000),
  outsideOf: OutsideOf = async () => nothingOutside,
) {
  const workflow = load(text);
  const errors: unknown[] = [];
  const facts = { head: "", artifacts: {}, numbers: { workspace: 1 }, taskFileTracked: false, poolFull: false };
  const submit = createSubmit({
    store,
    clock,
    outsideOf,
    workflowOf: async () => workflow,
    factsOf: async (_, document) => ({ ...facts, document: parseTaskDocument(document?.text ?? "") }),
    changed: ({ task }) => performer.wake(task.id),
  });
  const performer = createPerformer({ store, clock, submit, performers, onError: (error) => errors.push(error) });
  return {
    store,
    clock,
    submit,
    performer,
    errors,
    workflow,
    async create() {
      if ((await store.getProject("coffee")) === undefined) await store.addProject(project);
      await store.createTask("coffee", (number) => {
        const created = createTask(
          workflow,
          { ...blankIdentity, id: "t1", project: "coffee", number, summary: "Brew", branch: "b" },
          { ...facts, document: parseTaskDocument("") },
        );
        if (created.kind !== "moved") throw new Error(JSON.stringify(created));
        const document = { text: "", authors: {} };
        return { task: created.task, document, events: created.events, effects: created.effects, at: clock.now() };
      });
      performer.wake("t1");
    },
    /** Advances the clock by this much, and waits until everything has settled. */
    async rest(milliseconds = 0) {
      for (let i = 0; i < 10; i++) await clock.pass(i === 0 ? milliseconds : 0);
    },
    task: async () => (await store.getTask("t1"))?.task,
  };
}

const project = {
  name: "coffee",
  path: "/coffee",
  defaultBranch: "main",
  poolSize: 2,
  workflow: "default",
  harness: "scripted",
  reviewHarness: "scripted",
  branchPrefix: "signalbox",
  workspaces: "clone",
  createdAt: 0,
} as const;

function load(text: string): Workflow {
  const { workflow, problems } = loadWorkflow(text, "test.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return workflow;
}
