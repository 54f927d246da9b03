import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Route } from "../engine/draw/route.ts";
import { type Step, writeStep } from "../engine/explore/step.ts";
import { type Followed, follow } from "../engine/simulate/follow.ts";
import type { Example } from "../engine/verify/finding.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";

/** An example as it lies in a file: with the path of its workflow, so that it can be followed from anywhere. */
export interface SavedExample extends Example {
  readonly file: string;
}

export function saveExample(path: string, example: Example, file: string): void {
  const saved: SavedExample = { file, ...example };
  try {
    writeFileSync(path, `${JSON.stringify(saved, null, 2)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${path} cannot be written (${code}).`, {
      hint: "Name a folder that you may write to.",
      cause: error,
    });
  }
}

export function readExample(path: string): SavedExample {
  let text: string;
  try {
    text = readFileSync(resolve(path), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new Fault("unreadable", `${path} cannot be read (${code}).`, { cause: error });
    throw new Fault("not-found", `There is no file ${path}.`, {
      hint: "To write one: signalbox workflow verify NAME --save DIR",
      cause: error,
    });
  }
  const example = parse(text);
  if (isExample(example)) return example;
  throw new Fault("invalid-example", `${path} is not a counterexample that verify saved.`, {
    hint: "To write one: signalbox workflow verify NAME --save DIR",
  });
}

/** The steps of an example as they were really taken, and the route they make. */
export function routeOf(workflow: Workflow, example: Example): { route: Route; followed: Followed } {
  const followed = follow(workflow, example);
  const steps = followed.steps.map(({ step, from, to }) => ({ from, to, text: writeStep(step) }));
  return {
    followed,
    route: { created: example.created, steps, circle: followed.problem === undefined ? example.circle : 0 },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const kinds: Readonly<Record<Step["what"], true>> = {
  move: true,
  continue: true,
  reply: true,
  respawn: true,
  ended: true,
  idle: true,
  settled: true,
  did: true,
  children: true,
  limit: true,
};

function isExample(value: unknown): value is SavedExample {
  if (!isRecord(value) || !isRecord(value.ends) || !isRecord(value.settings) || !Array.isArray(value.steps))
    return false;
  const texts = [value.file, value.workflow, value.hash, value.code, value.preset, value.created, value.ends.status];
  return (
    texts.every((each) => typeof each === "string") &&
    Number.isSafeInteger(value.circle) &&
    Number(value.circle) >= 0 &&
    typeof value.ends.held === "boolean" &&
    value.steps.every(isStep)
  );
}

function isStep(value: unknown): boolean {
  if (!isRecord(value) || typeof value.by !== "string" || typeof value.what !== "string") return false;
  const { sections = {} } = value;
  return (
    Object.hasOwn(kinds, value.what) &&
    isRecord(sections) &&
    Object.values(sections).every((each) => typeof each === "string")
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
