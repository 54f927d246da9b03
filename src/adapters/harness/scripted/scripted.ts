import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Capabilities, Harness, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { readEventLine } from "../event-line.ts";
import { readScriptedOutput } from "./read-scripted-output.ts";
import { readScriptedScreen } from "./read-scripted-screen.ts";

export interface ScriptedPorts {
  /** How the agent's program is called: Node, and its file. */
  readonly program: readonly string[];
  readonly version: string;
  /** The folder in which it remembers sessions and counters. */
  readonly state: string;
  /** The file with the script; empty for the one that is built in. */
  readonly script: string;
}

/** The bundled agent that does what its script says. It needs no model and no network. */
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
  session: true,
  turn: true,
  resume: true,
  namesSession: true,
  model: true,
  effort: false,
  reduced: "enforced",
  // Nothing that it does reaches the web but a program that it runs.
  withholds: ["write", "execute", "web"],
  toolsByName: true,
  schema: true,
  system: true,
  mcp: false,
  acknowledges: "hook",
  tokens: true,
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
      hint: "Write one, or configure none to play the one that is built in.",
    });
  await mkdir(runFolder, { recursive: true });
  const argv: string[] = [];
  const add = (flag: string, value: string) => {
    if (value !== "") argv.push(`--${flag}=${value}`);
  };
  // Long texts go through files: a single argument has a limit, and everybody can read it.
  const addFile = async (flag: string, name: string, text: string) => {
    if (text === "") return;
    const file = join(runFolder, name);
    await writeFile(file, text);
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
  if (order.tools !== undefined) argv.push(`--tools=${order.tools.join(",")}`);
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
