import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { chooseTools, classOf, type Tool } from "../../../engine/tools.ts";
import { Fault } from "../../../fault.ts";
import { findProgram } from "../../../find-program.ts";
import { isJsonObject, parseObject } from "../../../json.ts";
import type { Capabilities, Harness, HarnessFolders, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { shellQuote } from "../../../shell-quote.ts";
import {
  type DetectPorts,
  detectProgram,
  fitsArgument,
  programCan,
  promptText,
  reducedExactly,
  reducedPrefixes,
} from "../launch.ts";
import { isListedWeb, programTools } from "../tools.ts";
import { findTranscript, readEvent, readObstacle, readScreen, readTranscriptLine, readTurn } from "./reading.ts";

/** The list of projects, and what Gemini creates beside it to replace it. */
const projectList = "projects.json";
const conversations = ["tmp", "history"];
/** Logins, with Google and with MCP servers. Which file has the login with Google depends on the user's environment. */
const logins = [
  ...["oauth_creds.json", "gemini-credentials.json", "google_accounts.json"],
  ...["mcp-oauth-tokens.json", "a2a-oauth-tokens.json"],
];

/** Where Gemini keeps the user's files. */
function userFolder(env: Readonly<Record<string, string>>, home: string): string {
  return join(env.GEMINI_CLI_HOME || env.HOME || home, ".gemini");
}

/**
 * Makes a home for one run: the user's settings with ours on top, and links to everything else, so that conversations
 * and logins are shared with the user. Otherwise our settings could only go into the user's file, the repository's, or
 * one that belongs to root.
 */
async function makeHome(order: HarnessOrder, user: string): Promise<string> {
  const home = join(order.runFolder, "gemini-home");
  const own = join(home, ".gemini");
  await mkdir(own, { recursive: true });
  // Linked before they have content: files that are created later must be in the user's home too, for other runs.
  for (const folder of conversations) await mkdir(join(user, folder), { recursive: true });
  for (const name of await readdir(user)) {
    if (name === "settings.json" || name.startsWith(projectList)) continue;
    await symlink(join(user, name), join(own, name)).catch(unlessThere);
  }
  // Copied: Gemini replaces this file, which would replace a link too. The folders in `tmp` name their projects anyway.
  await copyFile(join(user, projectList), join(own, projectList)).catch(unlessMissing);
  const settings = await readSettings(join(user, "settings.json"));
  await writeFile(join(own, "settings.json"), JSON.stringify(settingsOf(order, settings), undefined, 2), {
    mode: 0o600,
  });
  return home;
}

/**
 * Gemini's files in a sandbox: the home of the run, and the user's folder, to which its links lead and which Gemini uses
 * itself over ACP. Only conversations and logins in it can be changed; Gemini refreshes a login in place. It also replaces
 * its list of projects there, so it has one of its own.
 */
async function foldersIn({ runFolder }: HarnessOrder, user: string): Promise<HarnessFolders> {
  for (const folder of conversations) await mkdir(join(user, folder), { recursive: true, mode: 0o700 });
  const at = (names: readonly string[]) => names.map((name) => join(user, name));
  return {
    own: [user],
    read: at((await readdir(user)).filter((name) => !name.startsWith(projectList))),
    write: [join(runFolder, "gemini-home"), ...at([...conversations, ...logins])],
  };
}

type Settings = Readonly<Record<string, unknown>>;

function settingsOf(order: HarnessOrder, user: Settings): Settings {
  const auth = part(part(user, "security"), "auth");
  const selectedType = auth.selectedType ?? authOf(order.env);
  return {
    ...user,
    general: {
      ...part(user, "general"),
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      // Gemini's clean-up takes a resumed conversation for two, and deletes both.
      sessionRetention: { enabled: false },
      // By default it retries for minutes without reporting that the provider fails.
      maxAttempts: 3,
    },
    // An @ in a pasted message must not make Gemini read files.
    ui: { ...part(user, "ui"), escapePastedAtSymbols: true },
    security: {
      ...part(user, "security"),
      auth: { ...auth, ...(selectedType === undefined ? {} : { selectedType }) },
    },
    ...(order.mcp === undefined ? {} : { mcpServers: { ...part(user, "mcpServers"), [mcpName]: serverOf(order.mcp) } }),
    ...(order.mode === "session" && order.hook.length > 0 ? { hooks: hooksOf(order.hook, part(user, "hooks")) } : {}),
  };
}

function serverOf({ argv, env }: NonNullable<HarnessOrder["mcp"]>): Settings {
  const [command = "", ...args] = argv;
  return { command, args, env, trust: true };
}

const events = ["SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "Notification", "SessionEnd"];

function hooksOf(hook: readonly string[], user: Settings): Settings {
  const command = shellQuote(hook);
  const entry = { hooks: [{ name: "signalbox", type: "command", command }] };
  const added = events.map((event) => [event, [...(Array.isArray(user[event]) ? user[event] : []), entry]] as const);
  return { ...user, ...Object.fromEntries(added) };
}

/** The login method that the environment implies. Without one Gemini would show a dialog. */
function authOf(env: Readonly<Record<string, string>>): string | undefined {
  if (env.GOOGLE_GENAI_USE_GCA === "true") return "oauth-personal";
  if (env.GOOGLE_GENAI_USE_VERTEXAI === "true") return "vertex-ai";
  return env.GEMINI_API_KEY ? "gemini-api-key" : undefined;
}

async function readSettings(file: string): Promise<Settings> {
  const text = await readFile(file, "utf8").catch(unlessMissing);
  if (text === undefined) return {};
  const plain = text.replace(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, quoted: string | undefined) => quoted ?? "",
  );
  const settings = plain.trim() === "" ? {} : parseObject(plain);
  if (settings !== undefined) return settings;
  throw new Fault("harness.settings", `The settings of Gemini CLI in ${file} cannot be read.`, {
    hint: `Start "gemini" in ${dirname(file)} to see the error.`,
  });
}

function part(settings: Settings, key: string): Settings {
  const value = Object.hasOwn(settings, key) ? settings[key] : undefined;
  return isJsonObject(value) ? value : {};
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

const geminiCan: Capabilities = {
  ...programCan,
  namesSession: true,
  effort: false,
  withholds: ["read", "write", "execute", "web"],
  toolsByName: true,
  schema: false,
  system: false,
  mcp: true,
  cost: false,
};

interface GeminiPorts extends DetectPorts {
  /** The user's home, used if the environment does not name one. */
  readonly home: string;
  /** The program's path, if it is not on the PATH as `gemini`. */
  readonly program?: string;
}

/** Gemini CLI. Each run has its own home, which shares everything but the settings with the user's. */
export function gemini(ports: GeminiPorts): Harness {
  const { program = "gemini" } = ports;
  return {
    name: "gemini",
    title: "Gemini CLI",
    can: geminiCan,
    needsNetwork: true,
    hosts: [
      "generativelanguage.googleapis.com",
      "cloudcode-pa.googleapis.com",
      "oauth2.googleapis.com",
      "www.googleapis.com",
    ],
    folders: (order) => foldersIn(order, userFolder(order.env, ports.home)),
    detect: () => detectProgram(program, ports, 'Install Gemini CLI with "npm install -g @google/gemini-cli".'),
    prepare: (order) => prepare(order, program, ports.home),
    readOutput: readTurn,
    readEvidence: readEvent,
    readTranscript: readTranscriptLine,
    transcriptOf: (session) => findTranscript(session, userFolder(ports.env, ports.home)),
    readScreen,
    readObstacle,
  };
}

async function prepare(order: HarnessOrder, program: string, home: string): Promise<Launch> {
  await mkdir(order.runFolder, { recursive: true });
  // A full path: the terminal may search another PATH.
  const path = findProgram(program, order.env.PATH ?? "") || program;
  const ownHome = await makeHome(order, userFolder(order.env, home));
  const policy = policyText(order);
  const policyFile = join(order.runFolder, "gemini-policy.toml");
  if (policy !== "") await writeFile(policyFile, policy, { mode: 0o600 });
  const isTurn = order.mode === "turn";
  const prompt = promptText(order, { system: true });
  const isArgument = !isTurn && fitsArgument(prompt);
  return {
    argv: [
      path,
      // Otherwise a session asks for trust in a dialog, and a turn ends.
      "--skip-trust",
      // Only the default mode enforces rules against redirections.
      ...["--approval-mode", order.permissions === "reduced" ? "default" : "yolo"],
      ...(policy === "" ? [] : ["--admin-policy", policyFile]),
      ...(order.model === "" ? [] : ["--model", order.model]),
      ...(order.session.kind === "resume" ? ["--resume", order.session.id] : ["--session-id", order.session.id]),
      ...(isTurn ? ["--output-format", "stream-json"] : []),
      ...(isArgument ? ["--prompt-interactive", prompt] : []),
    ],
    env: {
      ...order.env,
      GEMINI_CLI_HOME: ownHome,
      // Otherwise Gemini starts itself again, as the child of an idle process.
      GEMINI_CLI_NO_RELAUNCH: "1",
    },
    input: isTurn ? prompt : "",
    message: isTurn || isArgument ? "" : prompt,
    session: order.session.id,
  };
}

/** Tools that only keep the agent's own to-do list. */
const harmless = ["write_todos", "update_topic", "complete_task", "tracker_*"];

/** Without an underscore: Gemini would take the part before it for the whole name. */
const mcpName = "signalbox";

/** A Gemini policy file for a run from which tools are withheld; empty for all other runs. */
function policyText(order: HarnessOrder): string {
  const chosen = chooseTools(order.tools);
  const isReduced = order.permissions === "reduced";
  if (!isReduced && !chosen.isLimited) return "";
  const isFree = (tool: Tool) => !isReduced || classOf(tool) === "read" || isListedWeb(tool, order);
  const free = programTools("gemini", { tools: chosen.tools.filter(isFree) });
  return [
    rule("deny", 1, { toolName: "*", denyMessage: "You may not use this tool." }),
    rule("allow", 100, { toolName: [...harmless, ...free], allowRedirection: true }),
    rule("allow", 100, { toolName: chosen.own ?? "*", mcpName }),
    ...(isReduced && chosen.classes.has("execute") ? shellRules(order) : []),
    ...(isReduced && order.taskFile !== "" ? [taskFileRule(order)] : []),
  ].join("\n");
}

/** Gemini checks each part of a command; if it cannot split the command, or one part is denied, it denies the whole. */
function shellRules(order: HarnessOrder): readonly string[] {
  const toolName = "run_shell_command";
  const exact = reducedExactly.map((command) => escaped(JSON.stringify(command).slice(1, -1))).join("|");
  const hidden = ["--ou", "--ext", "\\\\\\\\", "[$`{}*?[\\]]", `(?:\\\\"|')-`, ` -[^ =]*(?:\\\\"|')`].join("|");
  return [
    rule("allow", 100, { toolName, commandPrefix: reducedPrefixes(order) }),
    rule("allow", 100, { toolName, argsPattern: `\\x00"command":"(?:${exact})"\\x00` }),
    rule("deny", 200, {
      toolName,
      argsPattern: '\\x00"command":"[^\\x00]*[<>]',
      denyMessage: "Redirections are not allowed.",
    }),
    rule("deny", 200, {
      toolName,
      argsPattern: `\\x00"command":"[^\\x00]*${escaped(order.cli)} task [^\\x00]*[$\`]`,
      denyMessage: "Pass only plain words to signalbox.",
    }),
    // `--output` writes a file and `--ext-diff` runs a program, also if the shell expands some other text to them.
    rule("deny", 200, {
      toolName,
      argsPattern: `\\x00"command":"git [^\\x00]*(?:${hidden})`,
      denyMessage: "Pass only plain words to git, and no --output.",
    }),
  ];
}

function taskFileRule({ folder, taskFile }: HarnessOrder): string {
  const names = [taskFile, relative(folder, taskFile)].map((name) => escaped(JSON.stringify(name)));
  return rule("allow", 100, {
    toolName: programTools("gemini", { tools: ["Write", "Edit"] }),
    argsPattern: `\\x00"file_path":(?:${names.join("|")})\\x00`,
  });
}

function rule(decision: "allow" | "deny", priority: number, rest: Readonly<Record<string, unknown>>): string {
  // Strings and lists of strings in JSON are valid TOML.
  const lines = Object.entries({ ...rest, decision, priority }).map(
    ([key, value]) => `${key} = ${JSON.stringify(value)}`,
  );
  return `[[rule]]\n${lines.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
