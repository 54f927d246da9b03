import { fill } from "../engine/template.ts";
import type { ToolClass } from "../engine/tools.ts";
import { isJsonObject } from "../json.ts";
import type { HarnessError } from "../ports/harness.ts";
import { holds } from "./read-script.ts";
import type { Step, StepKind } from "./script.ts";
import { faultSteps, fileSteps, programSteps, type Scene, type StepEnd, type StepPlayers } from "./steps.ts";

interface Rights {
  readonly permissions: "full" | "reduced";
  readonly tools: readonly string[] | undefined;
  readonly testCommand: readonly string[];
}

/** The steps that need a permission. The other steps only print something, or fail, which cannot be forbidden. */
const classes: { readonly [Kind in StepKind]?: ToolClass } = {
  write: "write",
  append: "write",
  delete: "write",
  fill: "write",
  commit: "write",
  switch_branch: "write",
  delete_workspace: "write",
  run: "execute",
  fork: "execute",
};

const readingGit = ["diff", "grep", "log", "ls-files", "rev-parse", "show", "status"];

/** Why a step may not be played, as a sentence; undefined if it may. */
function deniedStep(kind: StepKind, value: unknown, { permissions, tools, testCommand }: Rights): string | undefined {
  const needed = classes[kind];
  if (needed === undefined) return undefined;
  if (tools !== undefined && !tools.includes(needed) && !tools.includes(kind))
    return `The step "${kind}" was denied: the run lacks the tools for it.`;
  if (permissions === "full") return undefined;
  if (kind === "run" && isHarmless(value as readonly string[], testCommand)) return undefined;
  return `The step "${kind}" was denied: the run has reduced permissions.`;
}

function isHarmless(argv: readonly string[], testCommand: readonly string[]): boolean {
  if (argv.length === testCommand.length && argv.every((each, index) => each === testCommand[index])) return true;
  const [program, command = ""] = argv;
  return program === "git" && readingGit.includes(command) && !argv.some((each) => each.startsWith("--output"));
}

export interface Played {
  /** The last text that was said. */
  readonly text: string;
  /** Undefined if the script gave none. */
  readonly answer: unknown;
  readonly error: HarnessError | undefined;
  readonly interrupted: boolean;
}

/** Plays steps in order, up to the first one that fails. */
export async function playTurn(steps: readonly Step[], scene: Scene): Promise<Played> {
  const texts: string[] = [];
  let answer: unknown;
  const heard: Scene = {
    ...scene,
    tell(event) {
      if (event.kind === "said") texts.push(event.text);
      scene.tell(event);
    },
  };
  const players: StepPlayers = {
    ...fileSteps,
    ...programSteps,
    ...faultSteps,
    answer(value, { tell }) {
      answer = value;
      tell({ kind: "said", text: JSON.stringify(value) });
      return undefined;
    },
    async try(inner, inside) {
      const failed = await playAll(inner, inside);
      if (failed !== undefined) inside.tell({ kind: "said", text: failed.message });
      return undefined;
    },
    choose: (choices, inside) => playAll(choices.find(({ when }) => holds(when, inside.at))?.steps ?? [], inside),
    async repeat({ times, steps: inner }, inside) {
      for (let round = 0; round < times; round++) {
        const failed = await playAll(inner, inside);
        if (failed !== undefined) return failed;
      }
      return undefined;
    },
    ask: async ({ about, yes, no }, inside) => playAll((await inside.ask(about)) ? yes : no, inside),
  };
  const playAll = async (inner: readonly Step[], inside: Scene): Promise<StepEnd> => {
    for (const step of inner) {
      const end = await playStep(step, inside, players);
      if (end !== undefined) return end;
    }
    return undefined;
  };
  try {
    const error = await playAll(steps, heard);
    return { text: texts.join("\n"), answer, error, interrupted: false };
  } catch (error) {
    if (!scene.signal.aborted) throw error;
    return { text: texts.join("\n"), answer, error: undefined, interrupted: true };
  }
}

async function playStep(step: Step, scene: Scene, players: StepPlayers): Promise<StepEnd> {
  scene.signal.throwIfAborted();
  const isData = step.kind === "tool" || step.kind === "answer";
  const value = (isData ? filledData : filled)(step.value, scene.variables);
  const denied = deniedStep(step.kind, value, scene);
  if (denied !== undefined) return { kind: "denied", message: denied, resetAt: undefined };
  const play = (players as Record<string, (value: unknown, scene: Scene) => Promise<StepEnd>>)[step.kind];
  const isTool = step.kind in fileSteps || step.kind in programSteps;
  if (isTool) scene.tell({ kind: "tool", name: step.kind, state: "began" });
  try {
    return await play?.(value, scene);
  } catch (error) {
    if (scene.signal.aborted || !(error instanceof Error)) throw error;
    return { kind: "other", message: error.message, resetAt: undefined };
  } finally {
    if (isTool) scene.tell({ kind: "tool", name: step.kind, state: "ended" });
  }
}

/** Fills in variables, except in nested steps, which are filled in when they are played. */
function filled(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return withVariables(value, variables);
  if (Array.isArray(value))
    return value.every((each) => typeof each === "string")
      ? value.map((each) => withVariables(each, variables))
      : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, typeof each === "string" ? withVariables(each, variables) : each]),
  );
}

/** Fills in variables at any depth: data has no nested steps. */
function filledData(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return withVariables(value, variables);
  if (Array.isArray(value)) return value.map((each) => filledData(each, variables));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledData(each, variables)]));
}

/** Unknown variables are left as they are, because braces are common in code. */
function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const result = fill(text, (name) => (Object.hasOwn(variables, name) ? variables[name] : `{${name}}`));
  return result.ok ? result.text : text;
}
