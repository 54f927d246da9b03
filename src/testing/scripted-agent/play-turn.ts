import { fill } from "../../engine/template.ts";
import type { HarnessError } from "../../ports/harness.ts";
import { holds } from "./choose-turn.ts";
import { faultSteps } from "./fault-steps.ts";
import { fileSteps } from "./file-steps.ts";
import { deniedStep } from "./permissions.ts";
import { programSteps } from "./program-steps.ts";
import type { Scene, StepEnd, StepPlayers } from "./scene.ts";
import type { Step } from "./script.ts";

export interface Played {
  /** The last that was said. */
  readonly text: string;
  /** Undefined where the script gave none. */
  readonly answer: unknown;
  readonly error: HarnessError | undefined;
  readonly interrupted: boolean;
}

/** Plays steps, one after the other, up to the first that fails. */
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
  const value = filled(step.value, scene.variables);
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

/** Steps inside of steps are filled when they are played. */
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

/** What is no variable of ours stays as it is: braces are ordinary in code. */
function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const result = fill(text, (name) => (Object.hasOwn(variables, name) ? variables[name] : `{${name}}`));
  return result.ok ? result.text : text;
}
