import { mkdir, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import {
  type Arguments,
  definedErrors,
  type HarnessDefinition,
  type HarnessVariable,
  variablesIn,
} from "../../../engine/harness-definition.ts";
import { fill } from "../../../engine/template.ts";
import { Fault } from "../../../fault.ts";
import { findProgram } from "../../../find-program.ts";
import type {
  Capabilities,
  Detected,
  Harness,
  HarnessError,
  HarnessOrder,
  Obstacle,
  ScreenState,
} from "../../../ports/harness.ts";
import type { Commands } from "../../../ports/system.ts";
import { plainOutput } from "../../../text.ts";
import { readEventLine } from "../event-line.ts";
import { findObstacle, noSuchSession, type ObstacleForm } from "../launch.ts";
import { readCommandOutput } from "./reading.ts";

interface CommandPorts {
  readonly commands: Commands;
  /** The environment for finding the program and asking for its version: `PATH`, `HOME`, … */
  readonly env: Readonly<Record<string, string>>;
}

/** Any program as a harness, defined in the user's configuration. */
export function command(definition: HarnessDefinition & { readonly name: string }, ports: CommandPorts): Harness {
  const { name, title = name, turn, session } = definition;
  const classify = classifier(definition.errors ?? {});
  const obstacles = obstaclesOf(title, definition.errors ?? {});
  return {
    name,
    title,
    can: capabilitiesOf(definition),
    ...(session?.resume !== undefined && uses(session.resume, ["prompt"]) ? { needsPrompt: true } : {}),
    folders: async () => ({
      read: [...literalPaths(definition), ...(definition.read ?? [])],
      write: definition.write ?? [],
    }),
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

/** The files that the definition's own arguments name. What a run fills in is never looked at. */
function literalPaths({ turn, session, reduced = [] }: HarnessDefinition): readonly string[] {
  const all = [turn, session].flatMap((mode) => [...(mode?.argv ?? []), ...(mode?.resume ?? [])]);
  return [...all, ...reduced].flat().filter((each) => isAbsolute(each) && variablesIn([each]).length === 0);
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
    throw new Fault("harness.mode", `The definition of ${title} has no "${mode}" mode.`, {
      hint: `Add "${mode}" to its definition, or use another harness.`,
    });
  const template = session.kind === "resume" ? defined.resume : defined.argv;
  if (template === undefined)
    throw new Fault("harness.resume", `${title} cannot resume a session.`, {
      hint: `Add "${mode}.resume" to its definition, or use another harness.`,
    });
  const all: Arguments = order.permissions === "reduced" ? [...template, ...(definition.reduced ?? [])] : template;
  const prompt = order.system === "" || uses(all, ["system"]) ? order.prompt : `${order.system}\n\n${order.prompt}`;
  const schema = order.schema === undefined ? "" : JSON.stringify(order.schema);
  const schemaFile = schema === "" ? "" : join(runFolder, "schema.json");
  if (uses(all, ["schema_file"]) && schema !== "") {
    await mkdir(runFolder, { recursive: true });
    await writeFile(schemaFile, schema, { mode: 0o600 });
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

// Older lines say nothing about the current state.
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

const maxClassified = 16 * 1024;

function classifier(expressions: Readonly<Record<string, string>>) {
  const all = definedErrors.flatMap((kind) => {
    const expression = expressions[kind];
    return expression === undefined ? [] : [{ kind, pattern: new RegExp(expression, "mu") }];
  });
  return (text: string): HarnessError["kind"] => {
    const end = text.slice(-maxClassified);
    return all.find(({ pattern }) => pattern.test(end))?.kind ?? "other";
  };
}

const versionTimeout = 20_000;

/** Searches for the program, and asks for its version if the definition says how. */
async function detectCommand(
  definition: HarnessDefinition,
  { commands, env }: { readonly commands: Commands; readonly env: Readonly<Record<string, string>> },
): Promise<Detected> {
  const [program] = (definition.turn ?? definition.session)?.argv ?? [];
  const name = typeof program === "string" ? program : "";
  const path = findProgram(name, env.PATH ?? "");
  if (path === "") return { found: false, path, version: "", hint: `Install "${name}", or put it on your PATH.` };
  if (definition.version === undefined) return { found: true, path, version: "", hint: "" };
  const argv = definition.version;
  const told = { found: true, path, version: "", hint: `${argv.join(" ")} did not report a version.` };
  try {
    const { code, output } = await commands.run({ argv, cwd: "/", env, timeout: versionTimeout });
    const version = plainOutput(output).trim().split("\n")[0] ?? "";
    return code === 0 && version !== "" ? { ...told, version, hint: "" } : told;
  } catch {
    return told;
  }
}

type HarnessValues = Readonly<Record<HarnessVariable, string>>;

// Linux's limit for one argument, minus room for the text around it.
const maxArgument = 127 * 1024;

/** Fills a template: every text stays one argument, whatever its values contain. */
function fillArguments(template: Arguments, values: HarnessValues): readonly string[] {
  return template.flatMap((each) => {
    if (typeof each === "string") return [filled(each, values)];
    const isEmpty = variablesIn([each]).some((name) => values[name as HarnessVariable] === "");
    return isEmpty ? [] : each.map((inner) => filled(inner, values));
  });
}

function filled(text: string, values: HarnessValues): string {
  const result = fill(text, (name) => (Object.hasOwn(values, name) ? values[name as HarnessVariable] : undefined));
  if (!result.ok) throw new Fault("harness.variable", `There is no {${result.unknown.join("}, {")}} for "${text}".`);
  // A NUL would end the argument.
  const argument = result.text.replaceAll("\0", "");
  if (Buffer.byteLength(argument) > maxArgument)
    throw new Fault("harness.argument", `An argument would have more than ${maxArgument / 1024} KB.`, {
      hint: "Leave {prompt} out of the arguments: the program then gets the prompt on its standard input.",
    });
  return argument;
}
