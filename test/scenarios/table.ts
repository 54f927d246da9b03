import { explore } from "../../src/engine/explore/graph.ts";
import { takeStep } from "../../src/engine/explore/world.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { startOf } from "../../src/engine/persons-turn.ts";
import type { Workflow } from "../../src/engine/workflow.ts";

/** Every move that a workflow makes possible, as `from → to (who cause)`: found by exploring it. */
export function tableOf(text: string): readonly string[] {
  const workflow = loaded(text);
  const { nodes, edges } = explore(workflow, "", {});
  const moves = edges.flatMap(({ from, step }) => {
    const world = nodes[from]?.world;
    const events = (world && takeStep(workflow, world, step)?.events) ?? [];
    return events
      .filter(({ type }) => type === "task.moved")
      .map(({ by, data }) => `${data.from} → ${data.to} (${by} ${data.cause})`);
  });
  return [...new Set([...moves, ...startsOf(workflow, nodes[0]?.world.task)])].sort();
}

/** If no state waits for a slot, the scheduler asks for the first state itself. */
function startsOf(workflow: Workflow, task: Parameters<typeof startOf>[1] | undefined): readonly string[] {
  const start = task && startOf(workflow, task);
  return start?.kind === "move" ? [`${task?.status} → ${start.to} (engine asked)`] : [];
}

export function loaded(text: string): Workflow {
  const { workflow, problems } = loadWorkflow(text, "workflow.yml");
  if (workflow === undefined) throw new Error(problems.map(({ message }) => message).join(" "));
  return workflow;
}
