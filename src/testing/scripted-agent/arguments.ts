import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Fault } from "../../fault.ts";

/** What the program was told on its command line and by its environment. */
export interface AgentArguments {
  readonly interactive: boolean;
  /** Empty where there is none yet: an interactive one waits for it, another reads it from its input. */
  readonly prompt: string;
  readonly system: string;
  /** Empty for the script that is built in. */
  readonly script: string;
  readonly state: string;
  /** Empty where the run has none. */
  readonly taskFile: string;
  readonly cli: string;
  readonly session: { readonly kind: "new" | "resume"; readonly id: string };
  readonly role: string;
  readonly model: string;
  readonly permissions: "full" | "reduced";
  readonly tools: readonly string[] | undefined;
  readonly testCommand: readonly string[];
  /** Undefined where any text will do. */
  readonly schema: unknown;
  /** Where an interactive one tells what happens; empty for nowhere. */
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
