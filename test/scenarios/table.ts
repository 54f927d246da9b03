import { engineEnd, isForParts } from "../../src/engine/child-workflows.ts";
import { variantsOf } from "../../src/engine/explore/configurations.ts";
import { explore, type Graph } from "../../src/engine/explore/graph.ts";
import { takeStep } from "../../src/engine/explore/world.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { startOf } from "../../src/engine/persons-turn.ts";
import type { Workflow } from "../../src/engine/workflow.ts";

/** Every move that a workflow makes possible, as `from → to (who cause)`: found by exploring it. */
export function tableOf(text: string): readonly string[] {
  const workflow = loaded(text);
  const moves = exploreAll(workflow).flatMap(({ nodes, edges }) => {
    const steps = edges.flatMap(({ from, step }) => {
      const world = nodes[from]?.world;
      const events = (world && takeStep(workflow, world, step)?.events) ?? [];
      return events
        .filter(({ type }) => type === "task.moved")
        .map(({ by, data }) => `${data.from} → ${data.to} (${by} ${data.cause})`);
    });
    return [...steps, ...startsOf(workflow, nodes[0]?.world.task)];
  });
  return [...new Set([...moves, ...stopsOf(workflow)])].sort();
}

/** A limit in the settings is reached in the same way whether it is two or more, and larger ones take longer to explore. */
const bound = 2;

/** Everything that a workflow makes possible, with each preset and each combination of its switches. */
export function exploreAll(workflow: Workflow): readonly Graph[] {
  return variantsOf(workflow, bound).map(({ preset, settings }) =>
    explore(workflow, preset, settings, { mishaps: false }),
  );
}

/** The engine ends a part in whatever state it is, if its parent ends or no longer wants it. */
function stopsOf(workflow: Workflow): readonly string[] {
  if (!isForParts(workflow)) return [];
  return Object.values(workflow.states).flatMap(({ name, terminal }) => {
    const to = terminal ? undefined : engineEnd(workflow, name);
    return to === undefined ? [] : [`${name} → ${to} (engine asked)`];
  });
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
