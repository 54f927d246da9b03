import { loadWorkflow } from "../engine/language/load.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Store } from "../ports/store.ts";

export interface WorkflowCache {
  /** The workflow with this content; tasks are pinned to it. */
  get(hash: string): Promise<Workflow>;
  /** The same, if it has been loaded already. */
  known(hash: string): Workflow | undefined;
  /** Keeps a workflow for the tasks that will be pinned to it. */
  keep(workflow: Workflow, text: string): Promise<void>;
}

/** Workflows are stored as text and loaded once: loading takes milliseconds, and every request needs one. */
export function createWorkflowCache(store: Store): WorkflowCache {
  const loaded = new Map<string, Workflow>();
  return {
    async get(hash) {
      const known = loaded.get(hash);
      if (known !== undefined) return known;
      const stored = await store.getWorkflow(hash);
      if (stored === undefined)
        throw new Fault("workflow.missing", `The store has no workflow with the hash ${hash.slice(0, 12)}.`, {
          hint: "Look at the store with signalbox doctor.",
        });
      const { workflow, problems } = loadWorkflow(stored.text, stored.name);
      if (workflow === undefined) {
        // It loaded when the task was created; this version of Signalbox is stricter.
        const first = problems[0]?.message ?? "";
        throw new Fault("workflow.invalid", `The workflow "${stored.name}" does not load any more: ${first}`, {
          hint: "Mend the file, then put the task under it with signalbox task migrate.",
        });
      }
      loaded.set(hash, workflow);
      return workflow;
    },
    known: (hash) => loaded.get(hash),
    async keep(workflow, text) {
      if (loaded.has(workflow.hash)) return;
      await store.saveWorkflow({ hash: workflow.hash, name: workflow.name, text });
      loaded.set(workflow.hash, workflow);
    },
  };
}
