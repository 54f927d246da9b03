import { readFileSync } from "node:fs";
import { fieldValues, sampleAnswers } from "../../engine/answer.ts";
import { type AnswerSchema, isObject } from "../../engine/answer-schema.ts";
import { frontmatterValues } from "../../engine/frontmatter-block.ts";
import { parseTaskDocument } from "../../engine/task-document.ts";
import { readYamlScalar } from "../../engine/yaml-scalar.ts";
import type { HarnessError, HarnessEvent } from "../../ports/harness.ts";
import type { AgentArguments } from "./arguments.ts";
import { type Circumstances, chooseTurn } from "./choose-turn.ts";
import { defaultScript } from "./default-script.ts";
import { type Played, playTurn } from "./play-turn.ts";
import { readScript } from "./read-script.ts";
import type { Scene } from "./scene.ts";
import type { Script } from "./script.ts";
import { countersOf, openSession, type Session } from "./session.ts";

/** What it needs from whoever shows it: a stream of lines, or a terminal. */
export type Stage = Pick<Scene, "tell" | "show" | "ask" | "print" | "quit" | "signal">;

export interface Agent {
  readonly script: Script;
  readonly session: Session;
  /** Plays the turn that the script has for a message. */
  hear(prompt: string, stage: Stage): Promise<Played>;
}

/** Opens the session and reads the script. */
export function createAgent(
  told: AgentArguments,
  folder: string,
  env: Readonly<Record<string, string>>,
): Agent | HarnessError {
  const script =
    told.script === ""
      ? readScript(defaultScript, "built in")
      : readScript(readFileSync(told.script, "utf8"), told.script);
  const task = taskOf(told.taskFile).id ?? env.SIGNALBOX_TASK ?? "";
  const session = openSession({ ...told.session, state: told.state, role: told.role, task });
  if (!("transcript" in session)) return session;
  if (told.system !== "") session.note({ kind: "system", text: told.system });
  const counters = countersOf(told.state, task);

  return {
    script,
    session,
    async hear(prompt, stage) {
      const frontmatter = taskOf(told.taskFile);
      const at: Circumstances = {
        role: told.role,
        mode: told.interactive ? "session" : "turn",
        permissions: told.permissions,
        prompt,
        turn: session.turns() + 1,
        run: session.run,
        task: frontmatter,
        counter: counters.read,
      };
      const chosen = chooseTurn(script, at, session.played());
      session.begin(chosen?.key);
      session.note({ kind: "heard", turn: at.turn, text: prompt });
      const tell = (event: HarnessEvent) => {
        if (["said", "tool", "usage"].includes(event.kind)) session.note({ ...event });
        stage.tell(event);
      };
      const scene: Scene = {
        ...stage,
        ...told,
        tell,
        show(output) {
          session.note({ kind: "output", text: output });
          stage.show(output);
        },
        folder,
        env,
        at,
        increment: counters.increment,
        variables: {
          ...frontmatter,
          prompt,
          role: told.role,
          model: told.model,
          session: session.id,
          turn: String(at.turn),
          run: String(at.run),
          task_file: told.taskFile,
          workspace: folder,
        },
      };
      const silent = [{ kind: "say", value: "The script has nothing for this message." }] as const;
      const played = await playTurn(chosen?.turn.steps ?? silent, scene);
      if (played.interrupted) session.note({ kind: "interrupted" });
      const isMissing = told.schema !== undefined && played.answer === undefined && played.error === undefined;
      if (!isMissing || played.interrupted) return played;
      const answer = fittingAnswer(told.schema as AnswerSchema);
      tell({ kind: "said", text: JSON.stringify(answer) });
      return { ...played, answer };
    },
  };
}

/** The frontmatter of a task file; nothing where it is not there any more. */
function taskOf(file: string): Readonly<Record<string, string>> {
  if (file === "") return {};
  try {
    const values = frontmatterValues(parseTaskDocument(readFileSync(file, "utf8")).frontmatter);
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, readYamlScalar(value) ?? value]));
  } catch {
    return {};
  }
}

/** What says yes, as far as one can tell from a word: a workflow then comes to its end. */
const agreeing = ["done", "ready", "pass", "approve", "approved", "ok", "yes"];

/** The least that fits the schema, and agrees where it can. */
function fittingAnswer(schema: AnswerSchema): unknown {
  const [least] = sampleAnswers(schema, []);
  if (!isObject(least)) return least;
  const chosen = Object.entries(least).map(([key, value]) => {
    const values = fieldValues(schema, key) ?? [];
    const best = values.find((each) => each === true || agreeing.includes(String(each).toLowerCase()));
    return [key, best ?? value] as const;
  });
  return Object.fromEntries(chosen);
}
