import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { chooseTools, classOf, type Tool } from "../../../engine/tools.ts";
import { findProgram } from "../../../find-program.ts";
import { isJsonObject, parseObject } from "../../../json.ts";
import type { Capabilities, Harness, HarnessFolders, HarnessOrder, Launch } from "../../../ports/harness.ts";
import {
  type DetectPorts,
  detectProgram,
  fitsArgument,
  programCan,
  promptText,
  reducedCommand,
  reducedExactly,
  reducedPrefixes,
} from "../launch.ts";
import { isListedWeb, programTools } from "../tools.ts";
import { pluginText } from "./plugin-text.ts";
import { readEvent, readObstacle, readScreen, readTurn } from "./reading.ts";

const opencodeCan: Capabilities = {
  ...programCan,
  namesSession: false,
  effort: true,
  withholds: ["read", "write", "execute", "web"],
  toolsByName: true,
  schema: false,
  system: true,
  mcp: true,
  cost: true,
};

interface OpencodePorts extends DetectPorts {
  /** The program's path, if it is not on the PATH as `opencode`. */
  readonly program?: string;
}

/** OpenCode. All our settings go through the environment: the user's own files stay unchanged. */
export function opencode(ports: OpencodePorts): Harness {
  const { program = "opencode" } = ports;
  return {
    name: "opencode",
    title: "OpenCode",
    can: opencodeCan,
    needsNetwork: true,
    // Those of its models' providers are named by the user.
    hosts: ["opencode.ai", "models.dev"],
    folders: foldersOf,
    detect: () => detectProgram(program, ports, 'Install OpenCode with "npm install -g opencode-ai".'),
    prepare: (order) => prepare(order, program),
    readOutput: readTurn,
    readEvidence: readEvent,
    // OpenCode has a database instead of transcripts, and the plugin reports the conversation.
    readTranscript: () => [],
    transcriptOf: async () => "",
    readScreen,
    readObstacle,
  };
}

/**
 * OpenCode's files in a sandbox: its database with all conversations and its login are together in one folder, which it
 * writes to. The programs in it are run by every OpenCode of the user, and cannot be changed; nor can the settings.
 */
async function foldersOf({ env }: HarnessOrder): Promise<HarnessFolders> {
  const home = env.HOME ?? "/";
  const data = join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");
  const programs = join(data, "bin");
  const settings = join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
  const state = join(env.XDG_STATE_HOME || join(home, ".local", "state"), "opencode");
  for (const each of [programs, settings]) await mkdir(each, { recursive: true, mode: 0o700 });
  // OpenCode adds this file, and does not start where it cannot. If it could add others too, every start would install
  // packages there.
  await writeFile(join(settings, ".gitignore"), ignored, { flag: "wx" }).catch(unlessThere);
  // Each by its name too: some may be links.
  const set = (await readdir(settings)).map((name) => join(settings, name));
  return { write: [data], read: [programs, settings, ...set], own: [state] };
}

const ignored = ["node_modules", "package.json", "package-lock.json", "bun.lock", ".gitignore"].join("\n");

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

async function prepare(order: HarnessOrder, program: string): Promise<Launch> {
  await mkdir(order.runFolder, { recursive: true });
  // A full path: the terminal may search another PATH.
  const path = findProgram(program, order.env.PATH ?? "") || program;
  const plugin = join(order.runFolder, "opencode-plugin.js");
  const isReduced = order.permissions === "reduced";
  await writeFile(
    plugin,
    pluginText({
      mode: order.mode,
      hook: order.mode === "session" ? order.hook : [],
      commands: isReduced ? reducedCommand(order).source : undefined,
    }),
    { mode: 0o600 },
  );
  const instructions = join(order.runFolder, "system.md");
  if (order.system !== "") await writeFile(instructions, `${order.system}\n`, { mode: 0o600 });
  const agent = `signalbox-${order.run}`;
  const resumed = order.session.kind === "resume" ? order.session.id : "";
  const prompt = promptText(order, { system: false });
  const isTurn = order.mode === "turn";
  const isArgument = !isTurn && fitsArgument(prompt);
  return {
    argv: isTurn
      ? [
          path,
          "run",
          "--format",
          "json",
          "--agent",
          agent,
          ...(resumed === "" ? titled(order) : ["--session", resumed]),
        ]
      : [
          path,
          "--agent",
          agent,
          ...(resumed === "" ? [] : ["--session", resumed]),
          ...(isArgument ? ["--prompt", prompt] : []),
        ],
    env: {
      ...withoutDoors(order.env),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      // A repository's plugins run inside OpenCode, where no rule applies to them.
      ...(isReduced ? { OPENCODE_DISABLE_PROJECT_CONFIG: "1" } : {}),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(order, { agent, plugin, instructions })),
    },
    input: isTurn ? prompt : "",
    message: isTurn || isArgument ? "" : prompt,
    session: resumed,
  };
}

/** The first variable would override our permissions, the second would disable our plugin. */
function withoutDoors(env: HarnessOrder["env"]): HarnessOrder["env"] {
  const { OPENCODE_PERMISSION: _permission, OPENCODE_PURE: _pure, ...rest } = env;
  return rest;
}

/** Without a title, OpenCode would ask the model for one. */
function titled({ run }: HarnessOrder): readonly string[] {
  return ["--title", run];
}

interface Parts {
  readonly agent: string;
  readonly plugin: string;
  readonly instructions: string;
}

/** The configuration from the environment stays, except for the keys that we set. */
function configOf(order: HarnessOrder, { agent, plugin, instructions }: Parts): Readonly<Record<string, unknown>> {
  const before = parseObject(order.env.OPENCODE_CONFIG_CONTENT ?? "") ?? {};
  const permission = permissionsOf(order);
  const isReduced = order.permissions === "reduced";
  return {
    ...before,
    autoupdate: false,
    plugin: [...listOf(before.plugin), pathToFileURL(plugin).href],
    instructions: [
      ...listOf(before.instructions),
      ...(order.system === "" ? [] : [instructions]),
      // Without the repository's configuration, OpenCode does not read these by itself.
      ...(isReduced ? ["AGENTS.md", "CLAUDE.md"].map((name) => join(order.folder, name)) : []),
    ],
    // If OpenCode does not find our agent, it uses its default agent, which must not be allowed more.
    permission,
    agent: {
      ...(isJsonObject(before.agent) ? before.agent : {}),
      [agent]: {
        mode: "primary",
        permission,
        ...(order.model === "" ? {} : { model: order.model }),
        ...(order.effort === "" ? {} : { variant: order.effort }),
      },
    },
    ...(order.mcp === undefined
      ? {}
      : {
          mcp: {
            ...(isJsonObject(before.mcp) ? before.mcp : {}),
            [mcpName]: { type: "local", command: order.mcp.argv, environment: order.mcp.env, enabled: true },
          },
        }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

type Action = "allow" | "deny";
/** OpenCode's permission rules: the last matching rule wins. */
type Permissions = Readonly<Record<string, Action | Readonly<Record<string, Action>>>>;

/** OpenCode prefixes the server's tools with this name. */
const mcpName = "signalbox";

function permissionsOf(order: HarnessOrder): Permissions {
  const chosen = chooseTools(order.tools);
  if (order.permissions === "full" && !chosen.isLimited) return { "*": "allow" };
  const isReduced = order.permissions === "reduced";
  const isFree = (tool: Tool) => !isReduced || ["read", "execute"].includes(classOf(tool)) || isListedWeb(tool, order);
  const allowed = programTools("opencode", { tools: chosen.tools.filter(isFree) });
  return {
    // This includes the tool that starts subagents: they have permissions of their own.
    "*": "deny",
    todowrite: "allow",
    ...Object.fromEntries((chosen.own ?? ["*"]).map((tool) => [`${mcpName}_${tool}`, "allow" as const])),
    ...Object.fromEntries(allowed.map((key) => [key, "allow" as const])),
    ...(isReduced ? {} : { external_directory: "allow" as const }),
    ...(isReduced && allowed.includes("bash") ? { bash: reducedShell(order) } : {}),
    // The run answers in the task file, so it may write that file even without the class "write".
    ...(isReduced && order.taskFile !== "" ? { edit: taskFileOnly(order) } : {}),
  };
}

function taskFileOnly({ folder, taskFile }: HarnessOrder): Readonly<Record<string, Action>> {
  return { "*": "deny", [relative(folder, taskFile)]: "allow" };
}

/** A coarse filter by prefix; the plugin checks whole commands. */
function reducedShell(order: HarnessOrder): Readonly<Record<string, Action>> {
  const open = reducedPrefixes(order).flatMap((prefix) => [prefix, `${prefix} *`]);
  return {
    "*": "deny",
    ...Object.fromEntries([...reducedExactly, ...open].map((pattern) => [pattern, "allow" as const])),
  };
}
