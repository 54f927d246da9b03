import { toolKind } from "../../engine/tool-class.ts";
import type { RunSpec } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { type Capabilities, type Harness, toolClasses } from "../../ports/harness.ts";

/** Every harness that agents can be started in, by its name. Read anew for each question: users define their own. */
export type Harnesses = () => ReadonlyMap<string, Harness>;

export function harnessNamed(harnesses: Harnesses, name: string): Harness {
  const all = harnesses();
  const found = all.get(name);
  if (found !== undefined) return found;
  throw new Fault("harness.unknown", `There is no harness "${name}".`, {
    hint: `There are ${[...all.keys()].join(", ")}. See what is installed: signalbox harness list`,
  });
}

/** The harness of a run: the task's, the one for its reviews, or one that the workflow names. */
export function harnessOf(spec: Pick<RunSpec, "harness">, task: { harness: string; reviewHarness: string }): string {
  if (spec.harness === "task") return task.harness;
  return spec.harness === "review" ? task.reviewHarness || task.harness : spec.harness;
}

/** Why a harness cannot make such a run; undefined where it can. */
export function lacks({ title, can }: Harness, spec: RunSpec): string | undefined {
  if (spec.mode === "session") return can.session ? undefined : `${title} cannot run in a terminal.`;
  if (!can.turn) return `${title} cannot run without a terminal.`;
  if ((spec.mode === "steps" || spec.mode === "dialogue") && !can.resume)
    return `${title} cannot go on in an earlier session, which "${spec.mode}" needs.`;
  return toolProblem(title, can, spec);
}

/** Kinds of tools that are not asked for must be withheld, and a harness that cannot do that is refused. */
function toolProblem(title: string, can: Capabilities, { tools }: RunSpec): string | undefined {
  if (tools === undefined) return undefined;
  const asked = new Set(tools.map(toolKind));
  // Whoever may run commands may write and reach the web with them.
  const free = asked.has("execute")
    ? []
    : toolClasses.filter((each) => each !== "read" && !asked.has(each) && !can.withholds.includes(each));
  return free.length === 0 ? undefined : `${title} cannot be kept from tools that ${free.join(", ")}.`;
}
