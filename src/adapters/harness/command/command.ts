import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Arguments,
  definedErrors,
  type HarnessDefinition,
  variablesIn,
} from "../../../engine/harness-definition.ts";
import { Fault } from "../../../fault.ts";
import type { Commands } from "../../../ports/commands.ts";
import type {
  Capabilities,
  Harness,
  HarnessError,
  HarnessOrder,
  Obstacle,
  ScreenState,
} from "../../../ports/harness.ts";
import { readEventLine } from "../event-line.ts";
import { findObstacle, noSuchSession, type ObstacleForm } from "../find-obstacle.ts";
import { detectCommand } from "./detect-command.ts";
import { fillArguments, type HarnessValues } from "./fill-arguments.ts";
import { readCommandOutput } from "./read-command-output.ts";

export interface CommandPorts {
  readonly commands: Commands;
  /** What the program is looked for and asked for its version with: `PATH`, `HOME`, … */
  readonly env: Readonly<Record<string, string>>;
}

/** Any program as a harness, as the user's configuration defines it. */
export function command(definition: HarnessDefinition & { readonly name: string }, ports: CommandPorts): Harness {
  const { name, title = name, turn, session } = definition;
  const classify = classifier(definition.errors ?? {});
  const obstacles = obstaclesOf(title, definition.errors ?? {});
  return {
    name,
    title,
    can: capabilitiesOf(definition),
    ...(session?.resume !== undefined && uses(session.resume, ["prompt"]) ? { needsPrompt: true } : {}),
    detect: () => detectCommand(definition, ports),
    prepare: (order) => launchOf(definition, title, order),
    readOutput: () => readCommandOutput({ title, turn: turn ?? { argv: [] }, classify }),
    readEvidence(line) {
      const event = readEventLine(line);
      return event === undefined ? [] : [event];
    },
    readTranscript: () => [],
    transcriptOf: async () => "",
    readScreen: (screen) => screenOf(session ?? {}, screen),
    readObstacle: (text) => findObstacle(text, obstacles),
  };
}

function obstaclesOf(title: string, errors: NonNullable<HarnessDefinition["errors"]>): readonly ObstacleForm[] {
  const form = (kind: "authentication" | "session-unknown", obstacle: Obstacle): readonly ObstacleForm[] =>
    errors[kind] === undefined ? [] : [[new RegExp(errors[kind], "mu"), obstacle]];
  return [
    ...form("session-unknown", noSuchSession(title)),
    ...form("authentication", { kind: "login", told: `${title} is not logged in. Log in with the program itself.` }),
  ];
}

function capabilitiesOf({ turn, session, reduced }: HarnessDefinition): Capabilities {
  const modes = [turn, session].filter((each) => each !== undefined);
  const isUsed = (...names: readonly string[]) => modes.every(({ argv }) => uses(argv, names));
  const usage = turn?.usage ?? {};
  return {
    session: session !== undefined,
    turn: turn !== undefined,
    resume: modes.every(({ resume }) => resume !== undefined),
    namesSession: isUsed("session"),
    model: isUsed("model"),
    effort: isUsed("effort"),
    reduced: reduced === undefined ? "asked" : "enforced",
    withholds: [],
    toolsByName: false,
    schema: turn !== undefined && uses(turn.argv, ["schema", "schema_file"]),
    system: isUsed("system"),
    mcp: false,
    acknowledges: session?.events ? "hook" : "no",
    tokens: usage.input !== undefined || usage.output !== undefined,
    cost: usage.cost !== undefined,
  };
}

async function launchOf(definition: HarnessDefinition, title: string, order: HarnessOrder) {
  const { mode, session, runFolder } = order;
  const defined = definition[mode];
  if (defined === undefined)
    throw new Fault("harness.mode", `${title} is not defined for a run of the mode ${mode}.`, {
      hint: `Add "${mode}" to its definition, or use another harness.`,
    });
  const template = session.kind === "resume" ? defined.resume : defined.argv;
  if (template === undefined)
    throw new Fault("harness.resume", `${title} cannot go on with a session.`, {
      hint: `Add "${mode}.resume" to its definition, or use another harness.`,
    });
  const all: Arguments = order.permissions === "reduced" ? [...template, ...(definition.reduced ?? [])] : template;
  const prompt = order.system === "" || uses(all, ["system"]) ? order.prompt : `${order.system}\n\n${order.prompt}`;
  const schema = order.schema === undefined ? "" : JSON.stringify(order.schema);
  const schemaFile = schema === "" ? "" : join(runFolder, "schema.json");
  if (uses(all, ["schema_file"]) && schema !== "") {
    await mkdir(runFolder, { recursive: true });
    await writeFile(schemaFile, schema);
  }
  const values: HarnessValues = {
    prompt,
    system: order.system,
    model: order.model,
    effort: order.effort,
    session: session.id,
    schema,
    schema_file: schemaFile,
    task_file: order.taskFile,
    workspace: order.folder,
    cli: order.cli,
  };
  const isArgument = uses(all, ["prompt"]);
  const isNamed = session.kind === "resume" || uses(template, ["session"]);
  return {
    argv: fillArguments(all, values),
    env: { SIGNALBOX_EVENTS: join(runFolder, "events"), ...order.env, ...definition.env },
    input: mode === "turn" && !isArgument ? prompt : "",
    message: mode === "session" && !isArgument ? prompt : "",
    session: isNamed ? session.id : "",
  };
}

function uses(argv: Arguments, names: readonly string[]): boolean {
  return variablesIn(argv).some((name) => names.includes(name));
}

// What was said long ago is no evidence of how things are.
const lowerEnd = 20;

function screenOf(
  expressions: Readonly<Partial<Record<"ready" | "busy" | "asks", string>>>,
  screen: string,
): ScreenState {
  const lines = screen.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return "starting";
  const shown = lines.slice(-lowerEnd).join("\n");
  const states = ["asks", "busy", "ready"] as const;
  const fits = (expression: string | undefined) => expression !== undefined && new RegExp(expression, "mu").test(shown);
  return states.find((state) => fits(expressions[state])) ?? "unknown";
}

const mostLooked = 16 * 1024;

function classifier(expressions: Readonly<Record<string, string>>) {
  const all = definedErrors.flatMap((kind) => {
    const expression = expressions[kind];
    return expression === undefined ? [] : [{ kind, pattern: new RegExp(expression, "mu") }];
  });
  return (text: string): HarnessError["kind"] => {
    const end = text.slice(-mostLooked);
    return all.find(({ pattern }) => pattern.test(end))?.kind ?? "other";
  };
}
