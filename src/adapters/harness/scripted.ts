import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chooseTools } from "../../engine/tools.ts";
import { Fault } from "../../fault.ts";
import { parseObject } from "../../json.ts";
import type {
  Capabilities,
  Harness,
  HarnessError,
  HarnessEvent,
  HarnessOrder,
  Launch,
  OutputReader,
  ScreenState,
} from "../../ports/harness.ts";
import { splitLines } from "../lines.ts";
import { readEventLine } from "./event-line.ts";
import { failureAtEnd } from "./failure.ts";
import { programCan } from "./launch.ts";

/** Reads the lines that a turn prints: events, and one result at the end. Other lines are ignored. */
export function readScriptedOutput(): OutputReader {
  const lines = splitLines();
  let result: Readonly<Record<string, unknown>> | undefined;
  let failed: HarnessError | undefined;
  let said = "";
  const take = (line: string): readonly HarnessEvent[] => {
    const event = readEventLine(line);
    if (event?.kind === "failed") {
      failed = event.error;
      return [];
    }
    if (event?.kind === "said") said = event.text;
    if (event !== undefined) return [event];
    const read = parseObject(line);
    if (read?.kind === "result") result = read;
    return [];
  };
  return {
    push: (chunk) => lines.push(chunk).flatMap(take),
    end(end, errors) {
      const events = take(lines.rest());
      const text = typeof result?.text === "string" ? result.text : said;
      const silent: HarnessError = {
        kind: "other",
        message: "The scripted agent ended without a result.",
        resetAt: undefined,
      };
      const error =
        failed ?? failureAtEnd(end, "The scripted agent", errors) ?? (result === undefined ? silent : undefined);
      return { text, answer: result?.answer, error, events };
    },
  };
}

// Enough for the dialog, the input box and the queued messages above it. Higher lines are the agent's output.
const lowerEnd = 14;

/** Interprets the scripted agent's screen. */
function readScriptedScreen(screen: string): ScreenState {
  const lines = screen.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return "starting";
  const shown = lines.slice(-lowerEnd);
  const last = shown.at(-1) ?? "";
  if (/^╰─/.test(last) && shown.some((line) => /^│ ❯ y\. Yes/.test(line))) return "asks";
  if (/^ {2}scripted agent · ready/.test(last)) return "ready";
  if (/^ {2}scripted agent · enter queues/.test(last)) return "busy";
  return "unknown";
}

interface ScriptedPorts {
  /** The command that starts the agent: Node and a file. */
  readonly program: readonly string[];
  readonly version: string;
  /** The folder in which the agent stores sessions and counters. */
  readonly state: string;
  /** The file with the script; empty for the built-in script. */
  readonly script: string;
}

/** The bundled agent that follows a script. It needs no model and no network. */
export function scripted({ program, version, state, script }: ScriptedPorts): Harness {
  return {
    name: "scripted",
    title: "Scripted agent",
    can: scriptedCapabilities,
    isScripted: true,
    async detect() {
      const path = program.at(-1) ?? "";
      const found = await isThere(path);
      const hint = found ? "" : "The scripted agent is missing from this installation. Install Signalbox again.";
      return { found, path: found ? path : "", version: found ? version : "", hint };
    },
    async prepare(order) {
      const { env, argv, session } = await launchOf(order, state, order.env.SCRIPTED_AGENT_SCRIPT ?? script);
      const input = order.mode === "turn" ? order.prompt : "";
      return { argv: [...program, ...argv], env, input, message: "", session };
    },
    async folders(order) {
      await mkdir(state, { recursive: true, mode: 0o700 });
      const played = order.env.SCRIPTED_AGENT_SCRIPT ?? script;
      return { write: [state], read: played === "" ? [] : [played] };
    },
    readOutput: readScriptedOutput,
    readEvidence: (line) => {
      const event = readEventLine(line);
      return event === undefined ? [] : [event];
    },
    readTranscript(line) {
      const event = readEventLine(line);
      return event !== undefined && ["said", "tool", "busy", "usage"].includes(event.kind) ? [event] : [];
    },
    transcriptOf: async (session) => (isId(session) ? join(state, "sessions", `${session}.jsonl`) : ""),
    readScreen: readScriptedScreen,
  };
}

export const scriptedCapabilities: Capabilities = {
  ...programCan,
  namesSession: true,
  effort: false,
  // Only the programs that it runs can reach the web.
  withholds: ["write", "execute", "web"],
  toolsByName: true,
  schema: true,
  system: true,
  mcp: false,
  cost: true,
};

async function launchOf(
  order: HarnessOrder,
  state: string,
  script: string,
): Promise<Pick<Launch, "argv" | "env" | "session">> {
  const { runFolder, session } = order;
  if (script !== "" && !(await isThere(script)))
    throw new Fault("harness.script", `There is no script ${script} for the scripted agent.`, {
      hint: "Write the script, or remove the setting to use the built-in script.",
    });
  await mkdir(runFolder, { recursive: true });
  const argv: string[] = [];
  const add = (flag: string, value: string) => {
    if (value !== "") argv.push(`--${flag}=${value}`);
  };
  // Long texts go into files: the length of an argument is limited, and every user of the machine can read it.
  const addFile = async (flag: string, name: string, text: string) => {
    if (text === "") return;
    const file = join(runFolder, name);
    await writeFile(file, text, { mode: 0o600 });
    add(flag, file);
  };
  if (order.mode === "session") {
    argv.push("--interactive");
    await addFile("prompt-file", "prompt.txt", order.prompt);
  }
  await addFile("system-file", "system.txt", order.system);
  await addFile("schema-file", "schema.json", order.schema === undefined ? "" : JSON.stringify(order.schema));
  add("script", script);
  add("state", state);
  add("task-file", order.taskFile);
  add("cli", order.cli);
  add(session.kind === "resume" ? "resume" : "session", session.id);
  add("model", order.model);
  add("permissions", order.permissions);
  if (order.tools !== undefined) {
    const { classes, own = [] } = chooseTools(order.tools);
    argv.push(`--tools=${[...classes, ...own].join(",")}`);
  }
  if (order.testCommand.length > 0) add("test-command", JSON.stringify(order.testCommand));
  const events = order.env.SIGNALBOX_EVENTS ?? join(runFolder, "events");
  return { argv, env: { ...order.env, SIGNALBOX_EVENTS: events }, session: session.id };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

function isId(session: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(session);
}
