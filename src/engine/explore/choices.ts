import { parseTaskDocument, type Section, type TaskDocument } from "../../documents/task-document.ts";
import { ownsSection } from "../gate.ts";
import type { FactName, Facts } from "../request.ts";
import type { Workflow } from "../workflow.ts";
import { possibleNumbers, possibleSections } from "./possible-facts.ts";
import type { Step } from "./step.ts";
import { beforeLastStep, repeatStep, type Taken, type World } from "./world.ts";

/** A step with the facts under which it was taken, and what it led to. */
export interface Outcome {
  readonly step: Step;
  readonly taken: Taken;
}

/**
 * Everything that a step can lead to. Deciding reads facts; each fact that it reads is tried with every value that it can
 * have there, and no other fact is. So no fact can be forgotten, and none is tried in vain.
 */
export function outcomesOf(workflow: Workflow, world: World, step: Step): readonly Outcome[] {
  const found: Outcome[] = [];
  const start = step.word === "step" && step.untilLeft ? beforeLastStep(workflow, world) : world;
  const trail: Choice[] = [];
  let read = 0;
  const choose: Choose = (name, values) => {
    for (let i = 0; i < read; i++) {
      const before = trail[i] as Choice;
      if (before.name === name) return before.values[before.at];
    }
    const choice = trail[read] ?? { name, values: values(trail.slice(0, read)), at: 0 };
    trail[read++] = choice;
    return choice.values[choice.at];
  };
  const facts = readFacts(workflow, start, step, choose);
  const look = ({ sections }: World) => ({ facts, sections });
  do {
    read = 0;
    const taken = repeatStep(workflow, start, step, look);
    trail.length = read;
    if (taken !== undefined) found.push({ step: withChoices(workflow, world, step, trail), taken });
  } while (advance(trail));
  return found;
}

interface Choice {
  readonly name: string;
  readonly values: readonly (number | string | undefined)[];
  at: number;
}

/** The next combination of choices; false where all were tried. */
function advance(trail: Choice[]): boolean {
  for (;;) {
    const last = trail.at(-1);
    if (last === undefined) return false;
    last.at++;
    if (last.at < last.values.length) return true;
    trail.pop();
  }
}

type Choose = (name: string, values: (chosen: readonly Choice[]) => Choice["values"]) => Choice["values"][number];

const fact = "fact ";
const section = "section ";
const pool = "pool";

function readFacts(workflow: Workflow, world: World, step: Step, choose: Choose): Facts {
  const { status } = world.task;
  // Only requests are refused while the pool is full; observations wait for a workspace.
  const asks = step.what === "move" || step.what === "continue";
  return {
    document: {
      ...empty,
      byHeading: {
        get: (heading: string) => {
          const body = choose(section + heading, () => [undefined, ...possibleSections(workflow, status, heading)]);
          return body === undefined ? undefined : sectionOf(heading, String(body));
        },
      } as unknown as TaskDocument["byHeading"],
    },
    head: "",
    artifacts: {},
    numbers: new Proxy(noNumbers, {
      get: (_, name) =>
        choose(fact + String(name), (chosen) =>
          possibleNumbers(workflow, world, name as FactName, (other) => {
            const before = chosen.find((choice) => choice.name === fact + other);
            return before === undefined ? undefined : Number(before.values[before.at]);
          }),
        ),
    }),
    willHaveWorkspace: world.workspace,
    taskFileTracked: false,
    get poolFull() {
      return asks && !world.workspace && choose(pool, () => [0, 1]) === 1;
    },
  };
}

const noNumbers: Facts["numbers"] = {};
const empty = parseTaskDocument("");

// A cache: the same few sections are read again and again.
const sections = new Map<string, Section | undefined>();

function sectionOf(heading: string, body: string): Section | undefined {
  const text = `## ${heading}\n${body}\n`;
  if (!sections.has(text)) sections.set(text, parseTaskDocument(text).byHeading.get(heading));
  return sections.get(text);
}

/** The step with the facts that it depends on, so that it can be taken again. */
function withChoices(workflow: Workflow, { task }: World, step: Step, chosen: readonly Choice[]): Step {
  if (chosen.length === 0) return step;
  const facts: Record<string, number> = {};
  const written: Record<string, string> = Object.create(null);
  let poolFull = false;
  for (const { name, values, at } of chosen) {
    const value = values[at];
    if (name === pool) poolFull = value === 1;
    else if (name.startsWith(fact)) facts[name.slice(fact.length)] = Number(value);
    else if (value !== undefined) written[name.slice(section.length)] = String(value);
  }
  const headings = Object.keys(written);
  // Only a person can have written the sections of roles that do not run.
  const writers = [step.by, ...Object.keys(task.runs)].map((name) => name.split("/")[0] ?? name);
  const isHelped =
    step.by !== "human" &&
    headings.some((heading) => !writers.some((role) => role !== "engine" && ownsSection(workflow, role, heading)));
  return {
    ...step,
    ...(headings.length > 0 ? { sections: written } : {}),
    ...(Object.keys(facts).length > 0 ? { facts } : {}),
    ...(poolFull ? { poolFull } : {}),
    ...(isHelped ? { helped: true } : {}),
  };
}
