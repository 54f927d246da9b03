import { decide } from "../../src/engine/decide.ts";
import type { Effect } from "../../src/engine/decision.ts";
import { createWorlds } from "../../src/engine/explore/graph.ts";
import { requestOf, type Step, writeStep } from "../../src/engine/explore/step.ts";
import { factsOf, takeStep, type World } from "../../src/engine/explore/world.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Workflow } from "../../src/engine/workflow.ts";

/** A task that a test drives one step at a time; hooks are done immediately. */
export interface Stage {
  readonly world: World;
  readonly task: Task;
  /** The effects of the last step. */
  readonly effects: readonly Effect[];
  /** Takes a step, which must be possible; returns the task's new state. */
  take(step: Step): string;
  /** A role asks for a state. */
  ask(by: string, to: string, sections?: Readonly<Record<string, string>>): string;
  /** A run ends. */
  end(by: string, word: string, more?: Pick<Step, "sections" | "answer" | "facts">): string;
  /** The codes of the reasons why a role's request for a state is refused. */
  refusals(by: string, to: string, sections?: Readonly<Record<string, string>>): readonly string[];
}

export function play(workflow: Workflow, created = workflow.initial[0] ?? "", settings = {}): Stage {
  const start = createWorlds(workflow, "", settings).find(({ status }) => status === created);
  if (start === undefined) throw new Error(`No task can start in "${created}".`);
  let world = start.world;
  let effects: readonly Effect[] = [];
  const one = (step: Step) => {
    const taken = takeStep(workflow, world, step);
    if (taken === undefined) throw new Error(`Refused in "${world.task.status}": ${writeStep(step)}`);
    world = taken.world;
    effects = [...effects, ...taken.effects];
  };
  const settle = () => {
    for (let i = 0; world.task.phase === "entering" && i < 20; i++) one({ what: "settled", by: "engine" });
  };
  const take = (step: Step) => {
    effects = [];
    one(step);
    settle();
    return world.task.status;
  };
  settle();
  return {
    get world() {
      return world;
    },
    get task() {
      return world.task;
    },
    get effects() {
      return effects;
    },
    take,
    ask: (by, to, sections) => take({ what: "move", by, to, ...(sections ? { sections } : {}) }),
    end: (by, word, more = {}) => take({ what: "ended", by, word, ...more }),
    refusals: (by, to, sections) => {
      const step: Step = { what: "move", by, to };
      const seen = { ...world, sections: { ...world.sections, ...sections } };
      const decision = decide(workflow, world.task, requestOf(step, world.task), factsOf(seen, step));
      return decision.kind === "rejected" ? decision.reasons.map(({ code }) => code) : [];
    },
  };
}

/** The started runs and their prompts. */
export function started(effects: readonly Effect[]): readonly string[] {
  return effects.flatMap(({ action, agent }) =>
    action === "spawn_agent" && agent ? [`${agent.role} ${agent.prompt}`] : [],
  );
}
