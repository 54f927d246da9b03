import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentOrder } from "../../engine/decision.ts";
import { buildPrompt, type OutsideValues } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Project, Store } from "../../ports/store.ts";
import { baseOf } from "../base-of.ts";
import { uuid8Of } from "../uuid8-of.ts";

export interface PromptPorts {
  readonly store: Store;
  readonly places: Pick<Places, "logs">;
}

/** What a run is told. Values are data: whatever is in them is not looked at again. */
export async function runPrompt(
  ports: PromptPorts,
  { workflow, task, project, order, taskFile, port }: PromptOrder,
): Promise<string> {
  const outside = await outsideValues(ports, task, project, taskFile, port);
  const built = buildPrompt(workflow, task, order.prompt, outside, order.message);
  if (built.ok) return built.text;
  throw new Fault("agents.prompt", `The prompt cannot be made. ${built.problem}`, {
    hint: "Mend the workflow, then: signalbox task migrate",
  });
}

export interface PromptOrder {
  readonly workflow: Workflow;
  readonly task: Task;
  readonly project: Project;
  readonly order: Pick<AgentOrder, "prompt" | "message">;
  readonly taskFile: string;
  readonly port: number | undefined;
}

async function outsideValues(
  { store, places }: PromptPorts,
  task: Task,
  project: Project,
  taskFile: string,
  port: number | undefined,
): Promise<OutsideValues> {
  const merge = await store.merges.get(task.id);
  const parent = task.parent === "" ? undefined : (await store.getTask(task.parent))?.task;
  return {
    cli: "signalbox",
    task_file: taskFile,
    default_branch: project.defaultBranch,
    base: await baseOf(store, project, task),
    port: port === undefined ? "" : String(port),
    slug: slugOf(task.summary),
    uuid8: uuid8Of(task),
    conflicts: merge?.state === "conflict" ? merge.files.join("\n") : "",
    tests: await lastTests(places, task),
    ...(parent === undefined
      ? {}
      : { "parent.branch": parent.branch, "parent.summary": parent.summary, "parent.id": parent.id }),
  };
}

export function slugOf(summary: string): string {
  const words = summary
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return words.slice(0, 40).replace(/-+$/, "");
}

const mostTests = 8_000;

/** What the tests of the last stay printed; its end, where failures are told. */
async function lastTests({ logs }: Pick<Places, "logs">, { id, entry }: Task): Promise<string> {
  for (const stay of [entry, entry - 1]) {
    try {
      return (await readFile(join(logs, "tests", `${id}-${stay}.log`), "utf8")).slice(-mostTests);
    } catch {
      // Nothing was tested in that stay.
    }
  }
  return "";
}
