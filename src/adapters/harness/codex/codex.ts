import { existsSync, readdirSync } from "node:fs";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { chooseTools } from "../../../engine/tools.ts";
import { Fault } from "../../../fault.ts";
import { findProgram } from "../../../find-program.ts";
import { jsonAt, parseObject, textAt } from "../../../json.ts";
import type { Capabilities, Detected, Harness, HarnessFolders, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { programCan } from "../launch.ts";
import { writeGuard } from "./guard.ts";
import { readObstacle, readOutput, readScreen } from "./reading.ts";
import { createRolloutReader, isSessionId, keepNotes, rolloutOf } from "./rollout.ts";
import {
  type CodexPorts,
  codexHome,
  hookSettings,
  isHomeTemporary,
  readHook,
  sandboxSettings,
  strictSchema,
  tomlText,
} from "./settings.ts";

const capabilities: Capabilities = {
  ...programCan,
  namesSession: false,
  effort: true,
  // Codex reads files with commands, so these stay, but can only read.
  withholds: ["write", "execute", "web"],
  toolsByName: false,
  schema: true,
  system: true,
  mcp: true,
  cost: false,
};

/** Codex CLI, as of version 0.166. */
export function codex(ports: CodexPorts): Harness {
  const now = () => ports.clock.now();
  return {
    name: "codex",
    title: "Codex",
    can: capabilities,
    needsNetwork: true,
    hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
    detect: () => detect(ports),
    prepare: (order) => prepare(order, ports),
    folders,
    readOutput: (at) => readOutput(at, now),
    readEvidence: readHook,
    readTranscript: createRolloutReader(now),
    transcriptOf: async (session) => rolloutOf(session, codexHome(ports.env)),
    readScreen,
    readObstacle,
  };
}

/** What Codex reads in its home, and runs or obeys in every session of the user. */
const obeyed = [
  "config.toml",
  "AGENTS.md",
  "AGENTS.override.md",
  "hooks.json",
  "rules",
  "prompts",
  "skills",
  "plugins",
];

/** Logins, with OpenAI and with MCP servers. */
const logins = ["auth.json", ".credentials.json"];

/**
 * Codex's files in a sandbox: its home is empty, except for the user's settings, the logins, which Codex refreshes in
 * place, and the conversations. Those of all projects are together.
 */
async function folders(order: HarnessOrder): Promise<HarnessFolders> {
  const home = codexHome(order.env);
  const at = (names: readonly string[]) => names.map((name) => join(home, name));
  await mkdir(join(home, "sessions"), { recursive: true, mode: 0o700 });
  return {
    own: [home],
    read: at(obeyed),
    write: [...at(["sessions", ...logins]), join(order.runFolder, "tmp")],
    // Then Codex puts each command into a sandbox of its own.
    nests: !isFree(order),
  };
}

const detectTimeout = 60_000;
const install = "Install it with npm install -g @openai/codex, then run codex login";
/** Earlier versions lack permission profiles that open a daemon's socket, or hooks on the command line. */
const minVersion = [0, 166] as const;

async function detect({ commands, env, program = "codex" }: CodexPorts): Promise<Detected> {
  const path = findProgram(program, env.PATH ?? "");
  if (path === "") return { found: false, path: "", version: "", hint: install };
  const { code, output } = await commands
    .run({ argv: [path, "--version"], cwd: "/", env, timeout: detectTimeout })
    .catch(() => ({ code: undefined, output: "" }));
  const version = code === 0 ? (/\d+\.\d+\.\d+[\w.+-]*/.exec(output)?.[0] ?? "") : "";
  return { found: true, path, version, hint: hintFor(path, version) };
}

function hintFor(path: string, version: string): string {
  if (version === "") return `"${path}" does not report its version. Run "${path} --version" to see why.`;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1]);
  return isOld
    ? `Signalbox supports Codex ${minVersion.join(".")} and newer, but this is ${version}. Run codex update`
    : "";
}

/**
 * Whether the repository has settings for Codex: programs to start, and rules for commands outside its sandbox. In a
 * trusted folder, Codex obeys them from the folder up to the top of the repository.
 */
function hasProjectSettings(folder: string, home: string): boolean {
  return foldersAbove(folder)
    .map((each) => join(each, ".codex"))
    .some((each) => each !== home && hasContent(each));
}

/** Codex's own sandbox leaves empty folders behind. */
function hasContent(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return existsSync(folder);
  }
}

function foldersAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    found.push(at);
    if (existsSync(join(at, ".git"))) return found;
    if (dirname(at) === at) return [folder];
  }
}

const upgradeTimeout = 30_000;

/**
 * The model upgrades that Codex suggests: from which model to which. It asks about them before a session, unless its
 * settings say that it has asked. Empty if Codex does not report them.
 */
async function modelUpgrades(
  program: string,
  { commands, env }: CodexPorts,
): Promise<Readonly<Record<string, string>>> {
  const pieces: Uint8Array[] = [];
  await commands
    .run({
      argv: [program, "debug", "models"],
      cwd: "/",
      env,
      timeout: upgradeTimeout,
      onOutput: (chunk) => pieces.push(chunk),
    })
    .catch(() => undefined);
  const text = Buffer.concat(pieces).toString("utf8");
  const models = jsonAt(parseObject(text.slice(Math.max(0, text.indexOf("{")))), "models");
  if (!Array.isArray(models)) return {};
  const upgrades = models.map((model) => [textAt(model, "slug"), textAt(model, "upgrade", "model")] as const);
  return Object.fromEntries(upgrades.filter(([from, to]) => from !== "" && to !== ""));
}

type Setting = readonly [key: string, value: string];

/** The longest prompt that is passed as an argument. Linux takes no argument of 128 KiB. */
const maxArgument = 100_000;

async function prepare(order: HarnessOrder, ports: CodexPorts): Promise<Launch> {
  checkSession(order);
  const { program: name = "codex" } = ports;
  const program = findProgram(name, order.env.PATH ?? "") || name;
  await mkdir(order.runFolder, { recursive: true });
  const env = await environmentOf(order);
  const session = order.session.kind === "resume" ? order.session.id : "";
  if (order.mode === "turn") {
    const argv = [program, ...(await turnArguments(order, ports))];
    return { argv, env, input: order.prompt, message: "", session };
  }
  const argv = [program, ...(await sessionArguments(order, program, ports))];
  const isShort = Buffer.byteLength(order.prompt) <= maxArgument;
  if (order.prompt === "" || !isShort) return { argv, env, input: "", message: order.prompt, session };
  return { argv: [...argv, "--", order.prompt], env, input: "", message: "", session };
}

function checkSession({ session }: HarnessOrder): void {
  if (session.kind === "new" || isSessionId(session.id)) return;
  throw new Fault("harness.session-unknown", `"${session.id}" is not a session of Codex.`, {
    hint: "Start a new session.",
  });
}

async function turnArguments(order: HarnessOrder, ports: CodexPorts): Promise<readonly string[]> {
  const strict = strictSchema(order.schema);
  await keepNotes(order, {
    model: order.model,
    home: codexHome(order.env),
    schema: strict === undefined ? undefined : order.schema,
  });
  const schemaFile = join(order.runFolder, "codex-schema.json");
  if (strict !== undefined) await writeFile(schemaFile, JSON.stringify(strict), { mode: 0o600 });
  return [
    "exec",
    "--json",
    "--skip-git-repo-check",
    ...(strict === undefined ? [] : ["--output-schema", schemaFile]),
    // Commands that the user once allowed permanently are not allowed to a run that may not run any.
    ...(isFree(order) ? [] : ["--ignore-rules"]),
    ...(await sharedArguments(order, ports, hookSettings({ guard: await writeGuard(order) }))),
    ...(order.session.kind === "resume" ? ["resume", order.session.id] : []),
    "-",
  ];
}

async function sessionArguments(order: HarnessOrder, program: string, ports: CodexPorts): Promise<readonly string[]> {
  const settings: readonly Setting[] = [
    ["check_for_update_on_startup", "false"],
    ["notice.model_migrations", tomlText(await modelUpgrades(program, { ...ports, env: order.env }))],
    ...hookSettings({ report: order.hook, guard: await writeGuard(order) }),
  ];
  return [
    ...(order.session.kind === "resume" ? ["resume"] : []),
    // Otherwise it leaves a server behind that outlives the session.
    "--no-daemon",
    ...(await sharedArguments(order, ports, settings)),
    ...(order.session.kind === "resume" ? [order.session.id] : []),
  ];
}

/** All our settings go on the command line: the user's own configuration stays unchanged. */
async function sharedArguments(
  order: HarnessOrder,
  ports: CodexPorts,
  more: readonly Setting[],
): Promise<readonly string[]> {
  const folder = await realpath(order.folder);
  const settings: readonly Setting[] = [
    ["projects", tomlText({ [folder]: { trust_level: trustIn(folder, order) } })],
    // The profile of a login shell could set a PATH without our command line.
    ["allow_login_shell", "false"],
    ...(order.effort === "" ? [] : [["model_reasoning_effort", tomlText(order.effort)] as const]),
    ...(order.system === "" ? [] : [["developer_instructions", tomlText(order.system)] as const]),
    ...mcpSettings(order),
    ...(isFree(order) ? [] : await sandboxSettings(order, ports)),
    ...(maySearch(order) ? [] : [["web_search", tomlText("disabled")] as const]),
    ...more,
  ];
  return [
    // Without this, Codex would use the policy that its configuration has for the folder.
    ...(isFree(order) ? ["--dangerously-bypass-approvals-and-sandbox"] : ["-c", 'approval_policy="never"']),
    "-C",
    folder,
    ...(order.model === "" ? [] : ["-m", order.model]),
    ...settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]),
  ];
}

/**
 * Codex opens a trusted folder without a dialog. Programs from the folder's settings run outside the sandbox, so with
 * a sandbox such a folder is untrusted; then Codex ignores its AGENTS.md too, and asks before a session.
 */
function trustIn(folder: string, order: HarnessOrder): "trusted" | "untrusted" {
  return isFree(order) || !hasProjectSettings(folder, codexHome(order.env)) ? "trusted" : "untrusted";
}

/** A run that may run any command needs no sandbox: it can write, and reach the web, with commands. */
function isFree({ permissions, tools }: HarnessOrder): boolean {
  return permissions === "full" && chooseTools(tools).classes.has("execute");
}

/** Reduced permissions allow the web only where it is listed. */
function maySearch({ permissions, tools }: HarnessOrder): boolean {
  return tools === undefined ? permissions === "full" : chooseTools(tools).classes.has("web");
}

function mcpSettings({ mcp, tools }: HarnessOrder): readonly Setting[] {
  if (mcp === undefined) return [];
  const [command = "", ...args] = mcp.argv;
  // Every user of the machine can read arguments and the environment contains a token, so only its names are passed
  // here. Calls are approved in advance: no person is there to approve each one.
  const { own } = chooseTools(tools);
  const server = {
    command,
    args,
    env_vars: Object.keys(mcp.env),
    default_tools_approval_mode: "approve",
    ...(own === undefined ? {} : { enabled_tools: own }),
  };
  return [["mcp_servers.signalbox", tomlText(server)]];
}

async function environmentOf(order: HarnessOrder): Promise<Readonly<Record<string, string>>> {
  const env = { ...order.env, ...order.mcp?.env };
  if (!isHomeTemporary(env)) return env;
  const temporary = join(order.runFolder, "tmp");
  await mkdir(temporary, { recursive: true });
  return { ...env, TMPDIR: temporary };
}
