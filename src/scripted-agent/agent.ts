import { once } from "node:events";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { fieldValues, sampleAnswers } from "../answers/read-answer.ts";
import type { AnswerSchema } from "../answers/schema.ts";
import { frontmatterValues, readYamlScalar } from "../documents/frontmatter.ts";
import { parseTaskDocument } from "../documents/task-document.ts";
import { Fault } from "../fault.ts";
import { isJsonObject } from "../json.ts";
import type { HarnessError, HarnessEvent } from "../ports/harness.ts";
import { type Played, playTurn } from "./play-turn.ts";
import { type Circumstances, chooseTurn, readScript } from "./read-script.ts";
import { defaultScript, type Script } from "./script.ts";
import { countersOf, openSession, type Session } from "./session.ts";
import type { Scene } from "./steps.ts";

/** The output that the agent plays on: a stream of lines, or a terminal. */
type Stage = Pick<Scene, "tell" | "show" | "ask" | "print" | "quit" | "signal">;

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
      const answer = fittingAnswer(told.schema as AnswerSchema, prompt);
      tell({ kind: "said", text: JSON.stringify(answer) });
      return { ...played, answer };
    },
  };
}

/** The frontmatter of a task file; empty if the file is gone. */
function taskOf(file: string): Readonly<Record<string, string>> {
  if (file === "") return {};
  try {
    const values = frontmatterValues(parseTaskDocument(readFileSync(file, "utf8")).frontmatter);
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, readYamlScalar(value) ?? value]));
  } catch {
    return {};
  }
}

/** Words that agree: with them a workflow reaches its end. */
const agreeing = ["done", "ready", "pass", "approve", "approved", "ok", "yes"];

/** The smallest answer that fits the schema, with agreeing words where possible: known findings are fixed, and there are no others. */
export function fittingAnswer(schema: AnswerSchema, prompt: string): unknown {
  const [smallest] = sampleAnswers(schema, []);
  if (!isJsonObject(smallest)) return smallest;
  const chosen = Object.entries(smallest).map(([key, value]) => {
    const values = fieldValues(schema, key) ?? [];
    const best = values.find((each) => each === true || agreeing.includes(String(each).toLowerCase()));
    if (key === "findings" && answersKnown(schema)) return [key, knownFindings(prompt)] as const;
    return [key, best ?? value] as const;
  });
  return Object.fromEntries(chosen);
}

function answersKnown(schema: AnswerSchema): boolean {
  const { id, state } = schema.properties?.findings?.items?.properties ?? {};
  return id !== undefined && state?.enum?.includes("fixed") === true;
}

/** An answer to each finding that the prompt lists as open or approved, as the engine writes them: `F1 (high) cup.md:3 It is cold`. */
function knownFindings(prompt: string): readonly object[] {
  const listed = prompt.matchAll(/(?:^|: )(F\d+) \((?:critical|high|medium|low|info)(?:\)|, approved)/gm);
  const ids = [...new Set(Array.from(listed, ([, id]) => id))];
  return ids.map((id) => ({ id, state: "fixed", reason: "The fixer has committed a change." }));
}

/** The program's arguments, from its command line and its environment. */
export interface AgentArguments {
  readonly interactive: boolean;
  /** Empty if there is none yet: an interactive agent waits for it, a headless one reads it from standard input. */
  readonly prompt: string;
  readonly system: string;
  /** Empty for the built-in script. */
  readonly script: string;
  readonly state: string;
  /** Empty if the run has none. */
  readonly taskFile: string;
  readonly cli: string;
  readonly session: { readonly kind: "new" | "resume"; readonly id: string };
  readonly role: string;
  readonly model: string;
  readonly permissions: "full" | "reduced";
  readonly tools: readonly string[] | undefined;
  readonly testCommand: readonly string[];
  /** Undefined if any text is accepted. */
  readonly schema: unknown;
  /** The file to which an interactive agent reports events; empty for none. */
  readonly events: string;
  readonly speed: number;
}

const options = {
  interactive: { type: "boolean" },
  "prompt-file": { type: "string" },
  "system-file": { type: "string" },
  script: { type: "string" },
  state: { type: "string" },
  "task-file": { type: "string" },
  cli: { type: "string" },
  session: { type: "string" },
  resume: { type: "string" },
  role: { type: "string" },
  model: { type: "string" },
  effort: { type: "string" },
  permissions: { type: "string" },
  tools: { type: "string" },
  "test-command": { type: "string" },
  "schema-file": { type: "string" },
  events: { type: "string" },
} as const;

export function readArguments(args: readonly string[], env: NodeJS.ProcessEnv): AgentArguments {
  const { values, positionals } = parse(args);
  const { SIGNALBOX_ROLE = "", SIGNALBOX_RUN = "", SIGNALBOX_EVENTS = "", SCRIPTED_AGENT_SPEED = "1" } = env;
  const speed = Number(SCRIPTED_AGENT_SPEED);
  if (!(speed > 0)) throw new Fault("usage", "SCRIPTED_AGENT_SPEED must be a number above 0.");
  const { resume, tools, permissions = "full" } = values;
  if (permissions !== "full" && permissions !== "reduced")
    throw new Fault("usage", `--permissions must be full or reduced, but is "${permissions}".`);
  return {
    interactive: values.interactive ?? false,
    prompt: values["prompt-file"] === undefined ? positionals.join(" ") : readFileSync(values["prompt-file"], "utf8"),
    system: values["system-file"] === undefined ? "" : readFileSync(values["system-file"], "utf8"),
    script: values.script ?? env.SCRIPTED_AGENT_SCRIPT ?? "",
    state: values.state ?? env.SCRIPTED_AGENT_HOME ?? join(homedir(), ".scripted-agent"),
    taskFile: values["task-file"] ?? "",
    cli: values.cli ?? "signalbox",
    session:
      resume === undefined
        ? { kind: "new", id: values.session ?? `s-${Date.now()}-${process.pid}` }
        : { kind: "resume", id: resume },
    role: values.role ?? (SIGNALBOX_ROLE || SIGNALBOX_RUN.replace(/#.*$/, "") || "any"),
    model: values.model ?? "scripted",
    permissions,
    tools: tools === undefined ? undefined : tools.split(",").filter((each) => each !== ""),
    testCommand: values["test-command"] === undefined ? [] : (JSON.parse(values["test-command"]) as readonly string[]),
    schema: values["schema-file"] === undefined ? undefined : JSON.parse(readFileSync(values["schema-file"], "utf8")),
    events: values.events ?? SIGNALBOX_EVENTS,
    speed,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new Fault("usage", error instanceof Error ? error.message : String(error), {
      hint: "docs/scripted-agent.md lists the flags.",
    });
  }
}

/** Plays one turn without a terminal and prints events as lines of JSON. Returns the exit code. */
export async function headless(agent: Agent, prompt: string): Promise<number> {
  const { session } = agent;
  const tell = (event: HarnessEvent) => void process.stdout.write(`${JSON.stringify(event)}\n`);
  const heard = prompt === "" ? await text(process.stdin) : prompt;
  // The reader may be gone; then there is nothing left to report to.
  process.stdout.on("error", () => process.exit(1));
  tell({ kind: "session", id: session.id, transcript: session.transcript });
  session.note({ kind: "received", text: heard });
  tell({ kind: "prompted", text: heard });
  const played = await agent.hear(heard, {
    tell,
    show: (output) => void process.stdout.write(`${JSON.stringify({ kind: "output", text: output })}\n`),
    signal: new AbortController().signal,
    async ask(about) {
      tell({ kind: "asks", about });
      return false;
    },
    async print(bytes) {
      if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
    },
    async quit(code) {
      session.close();
      process.exit(code);
    },
  });
  session.close();
  if (played.error !== undefined) {
    tell({ kind: "failed", error: played.error });
    return 1;
  }
  process.stdout.write(`${JSON.stringify({ kind: "result", text: played.text, answer: played.answer })}\n`);
  return 0;
}
