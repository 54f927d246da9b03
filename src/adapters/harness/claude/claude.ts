import { readFileSync } from "node:fs";
import { mkdir, readdir, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chooseTools } from "../../../engine/tools.ts";
import { Fault } from "../../../fault.ts";
import { findProgram } from "../../../find-program.ts";
import { type JsonObject, parseObject } from "../../../json.ts";
import type { Capabilities, Detected, Harness, HarnessOrder, Launch } from "../../../ports/harness.ts";
import type { Clock, Commands } from "../../../ports/system.ts";
import { shellQuote } from "../../../shell-quote.ts";
import { ownCommands, programCan } from "../launch.ts";
import { ownTools, programTools } from "../tools.ts";
import { seedConfig } from "./config.ts";
import { claudeFolders, conversationFolder, folderOfConversation } from "./folders.ts";
import { createTranscriptReader, readHook, readObstacle, readOutput, readScreen } from "./reading.ts";

interface ClaudePorts {
  readonly commands: Commands;
  readonly clock: Pick<Clock, "now">;
  /** The daemon's own environment: `PATH` and `CLAUDE_CONFIG_DIR`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder. */
  readonly home: string;
  readonly isRoot: boolean;
  /** The program's name or path. */
  readonly program?: string;
}

const can: Capabilities = {
  ...programCan,
  namesSession: true,
  effort: true,
  withholds: ["read", "write", "execute", "web"],
  toolsByName: true,
  schema: true,
  system: true,
  mcp: true,
  cost: true,
};

/** Claude Code. Tested with 2.1.325; the output of 2.1.197 is understood too. */
export function claude({ commands, clock, env, home, isRoot, program = "claude" }: ClaudePorts): Harness {
  /** Where Claude Code keeps the user's files, given the environment of a run or of the daemon. */
  function placesIn(of: Readonly<Record<string, string | undefined>>) {
    const moved = of.CLAUDE_CONFIG_DIR ?? "";
    const root = of.HOME ?? home;
    return moved === ""
      ? { folder: join(root, ".claude"), config: join(root, ".claude.json") }
      : { folder: moved, config: join(moved, ".claude.json") };
  }

  async function detect(): Promise<Detected> {
    const path = findProgram(program, env.PATH ?? "");
    const hint = "Install it with `npm install -g @anthropic-ai/claude-code`, then start `claude` once and log in.";
    if (path === "") return { found: false, path, version: "", hint };
    const { code, output } = await commands.run({
      argv: [path, "--version"],
      cwd: "/",
      env: { PATH: env.PATH ?? "", HOME: home, DISABLE_AUTOUPDATER: "1" },
      timeout: 30_000,
    });
    const [version = ""] = /\d+\.\d+\.\d+/.exec(output) ?? [];
    if (code !== 0 || version === "")
      return {
        found: false,
        path,
        version: "",
        hint: `${path} does not report its version. Start it yourself to see why.`,
      };
    return { found: true, path, version, hint: "" };
  }

  async function prepare(order: HarnessOrder): Promise<Launch> {
    const path = findProgram(program, order.env.PATH ?? env.PATH ?? "");
    if (path === "")
      throw new Fault("harness.missing", "Claude Code is not installed, or not in the PATH of agents.", {
        hint: "Install it with `npm install -g @anthropic-ai/claude-code`, then start `claude` once and log in.",
      });
    const places = placesIn(order.env);
    await seedConfig({ file: places.config, folder: order.folder, apiKey: order.env.ANTHROPIC_API_KEY ?? "" });
    const files = await writeRunFiles(order, places.folder);
    const { argv, input, message } = launchArguments(order, files);
    return { argv: [path, ...argv], env: environment(order), input, message, session: order.session.id };
  }

  function environment(order: HarnessOrder): Readonly<Record<string, string>> {
    return {
      HOME: home,
      // An update must not change the version under running agents.
      DISABLE_AUTOUPDATER: "1",
      // The survey would appear where messages are typed.
      CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY: "1",
      // By default it retries for minutes, even with a wrong key. The daemon has its own retries.
      ...(order.mode === "turn" ? { CLAUDE_CODE_MAX_RETRIES: "2" } : {}),
      // As root it refuses to skip permission questions, unless it is told that it runs in a sandbox.
      ...(isRoot && order.permissions === "full" ? { IS_SANDBOX: "1" } : {}),
      ...order.env,
    };
  }

  async function transcriptOf(session: string, folder: string): Promise<string> {
    if (!/^[A-Za-z0-9-]+$/.test(session)) return "";
    const projects = join(placesIn(env).folder, "projects");
    const expected = join(projects, projectName(await realpath(folder).catch(() => folder)), `${session}.jsonl`);
    if (await isFile(expected)) return expected;
    // A session that was resumed elsewhere stays in its first folder, and long folder names are cut.
    for (const name of await readdir(projects).catch(() => [])) {
      const file = join(projects, name, `${session}.jsonl`);
      if (await isFile(file)) return file;
    }
    return "";
  }

  async function folders({ env: of, folder, runFolder, session }: HarnessOrder) {
    const { folder: own, config } = placesIn(of);
    const first = conversationFolder(own, projectName(await realpath(folder).catch(() => folder)));
    const resumed = session.kind === "resume" ? folderOfConversation(await transcriptOf(session.id, folder)) : [];
    return claudeFolders({ folder: own, config, runFolder, conversations: [first, ...resumed] });
  }

  return {
    name: "claude",
    title: "Claude Code",
    can,
    needsNetwork: true,
    hosts: ["api.anthropic.com", "claude.ai", "platform.claude.com", "console.anthropic.com"],
    detect,
    prepare,
    folders,
    readOutput: () => readOutput(clock.now),
    readEvidence: readHook,
    readTranscript: createTranscriptReader(),
    transcriptOf,
    readScreen,
    readObstacle,
  };
}

/** Long or secret values go into files of the run instead of arguments. */
async function writeRunFiles(order: HarnessOrder, configFolder: string): Promise<RunFiles> {
  await mkdir(order.runFolder, { recursive: true });
  const write = async (name: string, text: string) => {
    const file = join(order.runFolder, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  const { mcp, system } = order;
  const server = mcp && { command: mcp.argv[0], args: mcp.argv.slice(1), env: mcp.env };
  const servers = { mcpServers: server === undefined ? {} : { [serverName]: server } };
  return {
    settings: await write("claude-settings.json", JSON.stringify(runSettings(order, configFolder))),
    mcp: server === undefined ? "" : await write("claude-mcp.json", JSON.stringify(servers)),
    system: system === "" ? "" : await write("claude-system.txt", system),
  };
}

/** The name of a folder's transcripts: its path, with a dash for every character but letters and digits. */
function projectName(folder: string): string {
  return folder.replace(/[^A-Za-z0-9]/g, "-");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Paths; empty if the run does not need the file. */
interface RunFiles {
  readonly settings: string;
  readonly mcp: string;
  readonly system: string;
}

/** Linux takes no argument longer than 128 KiB. */
const maxArgument = 100_000;

/** The arguments after the program's name. */
function launchArguments(order: HarnessOrder, files: RunFiles): Pick<Launch, "argv" | "input" | "message"> {
  const { mode, prompt, session, model, effort } = order;
  const isTurn = mode === "turn";
  const given = [
    ...(isTurn ? turnArguments(order) : []),
    ...(session.id === "" ? [] : [session.kind === "new" ? "--session-id" : "--resume", session.id]),
    ...(model === "" ? [] : ["--model", model]),
    ...(effort === "" ? [] : ["--effort", effort]),
    ...["--settings", files.settings],
    ...(files.system === "" ? [] : ["--append-system-prompt-file", files.system]),
    ...(files.mcp === "" ? [] : ["--mcp-config", files.mcp]),
    // Otherwise it asks about MCP servers that the workspace configures.
    "--strict-mcp-config",
    ...permissionArguments(order),
  ];
  if (isTurn) return { argv: given, input: prompt, message: "" };
  if (prompt === "" || Buffer.byteLength(prompt) > maxArgument) return { argv: given, input: "", message: prompt };
  // A prompt may begin with a dash.
  return { argv: [...given, "--", prompt], input: "", message: "" };
}

function turnArguments({ schema, costLimit }: HarnessOrder): readonly string[] {
  return [
    ...["--print", "--output-format", "stream-json", "--verbose"],
    ...(schema === undefined ? [] : ["--json-schema", JSON.stringify(schema)]),
    ...(costLimit === undefined ? [] : ["--max-budget-usd", String(costLimit)]),
  ];
}

function permissionArguments(order: HarnessOrder): readonly string[] {
  const tools = toolsOf(order);
  const offered = tools === undefined ? [] : ["--tools", tools.join(",")];
  // The daemon chooses the workspace, so the agent must not switch worktrees.
  if (order.permissions === "full") {
    const withheld = ["EnterWorktree", "ExitWorktree", ...withheldOwn(order)];
    return ["--dangerously-skip-permissions", ...offered, "--disallowedTools", withheld.join(",")];
  }
  // Only the run's own settings: agents can write the workspace's, and the user's may allow pushing.
  return ["--permission-mode", "dontAsk", ...offered, "--setting-sources", ""];
}

/** The tools that a run has; undefined for all of Claude Code's tools. */
function toolsOf({ permissions, tools, taskFile }: HarnessOrder): readonly string[] | undefined {
  const chosen = chooseTools(tools);
  const asked = chosen.isLimited ? programTools("claude", chosen) : undefined;
  if (permissions === "full") return asked;
  const reduced = ["Read", "Grep", "Glob", "Bash", ...(taskFile === "" ? [] : ["Edit", "Write"])];
  // The web only where it is listed.
  return asked === undefined ? reduced : asked.filter((tool) => reduced.includes(tool) || tool.startsWith("Web"));
}

/**
 * What a run with reduced permissions may do; everything else is denied. There is no rule for git: Claude Code knows
 * which commands and options only read, while a rule `git log` would also allow `git log --output=file`.
 */
function allowed(order: HarnessOrder): readonly string[] {
  const { taskFile, testCommand, mcp } = order;
  const { own, classes } = chooseTools(order.tools);
  const file = escapePattern(taskFile);
  const test = shellQuote(testCommand);
  return [
    ...["Read", "Grep", "Glob"],
    // Two slashes make an absolute path; one would be relative to the folder.
    ...(file === "" ? [] : [`Edit(/${file})`, `Write(/${file})`]),
    // An asterisk in the test command would be a wildcard.
    ...(test === "" || test.includes("*") ? [] : [`Bash(${test})`]),
    // Claude Code splits a command at operators, and matches a rule against each part.
    ...ownCommands(order).flatMap((command) => [`Bash(${command})`, `Bash(${command}:*)`]),
    ...(order.tools !== undefined && classes.has("web") ? ["WebSearch", "WebFetch"] : []),
    ...(mcp === undefined ? [] : (own?.map(fullName) ?? [`mcp__${serverName}`])),
  ];
}

/** The name of our MCP server; its tools are `mcp__signalbox__…`. */
const serverName = "signalbox";

/** Tools of other servers are listed by their full names. */
function fullName(tool: string): string {
  return tool.startsWith("mcp__") ? tool : `mcp__${serverName}__${tool}`;
}

/** Full permissions allow all tools of our server, so those that are not listed are denied one by one. */
function withheldOwn({ tools }: HarnessOrder): readonly string[] {
  const { own } = chooseTools(tools);
  return own === undefined ? [] : ownTools.filter((tool) => !own.includes(tool)).map(fullName);
}

function escapePattern(path: string): string {
  return path.replace(/[*?[\]{}!\\]/g, "\\$&");
}

const hooked = [
  ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"],
  ...["Notification", "PreCompact", "Stop", "StopFailure", "SessionEnd"],
];

/** The user's account settings. Any other user setting could allow more than the run may do. */
const ofTheAccount = [
  ...["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper"],
  ...["env", "forceLoginMethod", "forceLoginOrgUUID", "model"],
];

/** The settings of one run. They go into the run's folder; the user's files are not written. */
function runSettings(order: HarnessOrder, configFolder: string): JsonObject {
  return {
    ...(order.permissions === "full"
      ? // Otherwise it asks for a confirmation before it starts.
        { skipDangerousModePermissionPrompt: true }
      : { ...accountSettings(configFolder), permissions: { defaultMode: "dontAsk", allow: allowed(order) } }),
    // A turn's output already contains everything that its hooks would report.
    ...(order.mode === "session" ? { hooks: hooksOf(order.hook) } : {}),
  };
}

function hooksOf(hook: readonly string[]): JsonObject {
  // Claude Code runs hooks through a shell.
  const command = { type: "command", command: shellQuote(hook), timeout: 30 };
  return hook.length === 0 ? {} : Object.fromEntries(hooked.map((name) => [name, [{ hooks: [command] }]]));
}

function accountSettings(configFolder: string): JsonObject {
  const settings = parseObject(readText(join(configFolder, "settings.json"))) ?? {};
  return Object.fromEntries(
    ofTheAccount.flatMap((name) => (Object.hasOwn(settings, name) ? [[name, settings[name]]] : [])),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
