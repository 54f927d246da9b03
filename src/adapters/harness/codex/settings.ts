import { createHash } from "node:crypto";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { chooseTools } from "../../../engine/tools.ts";
import { Fault } from "../../../fault.ts";
import { isJsonObject, type JsonObject, parseObject, textAt } from "../../../json.ts";
import type { HarnessEvent, HarnessOrder } from "../../../ports/harness.ts";
import type { Clock, Commands } from "../../../ports/system.ts";
import { shellQuote } from "../../../shell-quote.ts";

type Env = Readonly<Record<string, string>>;

/** The folder in which Codex keeps its configuration and its sessions. */
export function codexHome(env: Env): string {
  return env.CODEX_HOME || join(env.HOME || "/", ".codex");
}

/**
 * Codex puts its sandbox's programs into its home, but refuses that inside the folder for temporary files; then it can
 * run no command. It needs another folder for temporary files.
 */
export function isHomeTemporary(env: Env): boolean {
  const path = relative(env.TMPDIR || tmpdir(), codexHome(env));
  return !path.startsWith("..") && !isAbsolute(path);
}

export interface CodexPorts {
  readonly commands: Commands;
  readonly clock: Pick<Clock, "now">;
  /** The environment in which agents are started: `PATH`, `HOME`, `CODEX_HOME`. */
  readonly env: Readonly<Record<string, string>>;
  /** Sockets of servers that would act for a run with reduced permissions, such as our tmux server's. */
  readonly hidden: readonly string[];
  /** The program's name or path. */
  readonly program?: string;
}

const sessionEvents = {
  SessionStart: "session_start",
  UserPromptSubmit: "user_prompt_submit",
  PermissionRequest: "permission_request",
  Stop: "stop",
  Interrupt: "interrupt",
  SessionEnd: "session_end",
} as const;

/** In seconds. Codex waits no longer than this at the end of a session. */
const timeout = 3;

/** The guard starts Node, which takes long on a busy machine; Codex lets the tool run if it takes longer. */
const guardTimeout = 60;

/**
 * Settings that make Codex run our hooks: one that reports a session's events, one that is asked before each tool. Codex
 * runs only hooks whose hash is trusted, so each of ours is trusted by its hash, and no other hook with them.
 */
export function hookSettings(hooks: {
  readonly report?: readonly string[];
  readonly guard?: readonly string[] | undefined;
}): readonly (readonly [key: string, value: string])[] {
  const { report = [], guard = [] } = hooks;
  const all: readonly Hook[] = [
    ...Object.entries(sessionEvents).map(([event, name]) => ({ event, name, argv: report, timeout })),
    { event: "PreToolUse", name: "pre_tool_use", argv: guard, timeout: guardTimeout },
  ].filter(({ argv }) => argv.length > 0);
  if (all.length === 0) return [];
  const settings = all.map((hook) => [`hooks.${hook.event}`, tomlText([{ hooks: [commandOf(hook)] }])] as const);
  const trust = all.map((hook) => [
    `/<session-flags>/config.toml:${hook.name}:0:0`,
    { trusted_hash: `sha256:${hashOf(hook)}` },
  ]);
  return [...settings, ["hooks.state", tomlText(Object.fromEntries(trust))]];
}

interface Hook {
  readonly event: string;
  readonly name: string;
  readonly argv: readonly string[];
  readonly timeout: number;
}

function commandOf({ argv, timeout: seconds }: Hook) {
  // Codex runs the text in a shell.
  return { type: "command", command: shellQuote(argv), timeout: seconds };
}

function hashOf(hook: Hook): string {
  const { name } = hook;
  const { command, timeout: seconds } = commandOf(hook);
  const identity = { event_name: name, hooks: [{ async: false, command, timeout: seconds, type: "command" }] };
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex");
}

/** Translates a hook's input, one line of JSON, into events. */
export function readHook(line: string): readonly HarnessEvent[] {
  const told = parseObject(line);
  switch (textAt(told, "hook_event_name")) {
    case "SessionStart":
      return [{ kind: "session", id: textAt(told, "session_id"), transcript: textAt(told, "transcript_path") }];
    case "UserPromptSubmit":
      return [
        { kind: "prompted", text: textAt(told, "prompt") },
        { kind: "busy", what: "" },
      ];
    case "PermissionRequest":
      return [{ kind: "asks", about: textAt(told, "tool_name") }];
    case "Stop":
      return [{ kind: "idle", said: textAt(told, "last_assistant_message") }];
    case "Interrupt":
      return [{ kind: "idle", said: "" }];
    case "SessionEnd":
      return [{ kind: "over" }];
    default:
      return [];
  }
}

/** Agents can write the repository's settings: these must not make git run a program or fetch. */
const safely = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
const environment = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
};
const list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
const listTimeout = 60_000;
/** Each folder costs one mount per command. */
const maxFolders = 32;

/**
 * The ignored folders nearest to the top of the repository, in which builds and tests write. Empty if git fails.
 */
async function ignoredFolders(folder: string, { commands, env }: CodexPorts): Promise<readonly string[]> {
  const argv = ["git", ...safely, ...list];
  const pieces: Uint8Array[] = [];
  const { code } = await commands
    .run({
      argv,
      cwd: folder,
      env: { ...env, ...environment },
      timeout: listTimeout,
      onOutput: (chunk) => pieces.push(chunk),
    })
    .catch(() => ({ code: undefined }));
  if (code !== 0) return [];
  return Buffer.concat(pieces)
    .toString("utf8")
    .split("\0")
    .filter((path) => path.endsWith("/") && path !== "./")
    .map((path) => join(folder, path.slice(0, -1)))
    .toSorted((one, other) => depthOf(one) - depthOf(other))
    .slice(0, maxFolders);
}

function depthOf(path: string): number {
  return path.split(sep).length;
}

const profile = "signalbox-reduced";
/** Tests may start servers and connect to them, but cannot reach servers that were started elsewhere. */
const network = { enabled: true, dangerously_allow_all_unix_sockets: true, allow_local_binding: true };

/**
 * Settings of the sandbox for a run that may not use all tools. It may read everything, but write only the task file and
 * temporary files; with the tools for it also the folder, or the ignored folders, in which tests write. The network is
 * closed except for Unix sockets, by which our command line reaches the daemon.
 */
export async function sandboxSettings(
  order: HarnessOrder,
  ports: CodexPorts,
): Promise<readonly (readonly [key: string, value: string])[]> {
  const temporary = join(order.runFolder, "tmp");
  await mkdir(temporary, { recursive: true });
  const { classes } = chooseTools(order.tools);
  const folder = await realpath(order.folder);
  const ignored = classes.has("execute") ? await ignoredFolders(folder, ports) : [];
  const access = {
    ":root": "read",
    ...(order.permissions === "full" && classes.has("write")
      ? { ...open([checked(folder)]), [join(folder, ".git")]: "read" }
      : {}),
    ...open(ignored.filter((path) => !pattern.test(path))),
    ...open(order.taskFile === "" ? [] : [checked(await ownName(order.taskFile))]),
    ...open([checked(await realpath(temporary))]),
    ...Object.fromEntries(ways(order, ports).map((path) => [path, "deny"])),
  };
  return [
    ["default_permissions", tomlText(profile)],
    [`permissions.${profile}.filesystem`, tomlText(access)],
    // Only with its proxy does Codex distinguish Unix sockets from the network. No host is listed, so none is allowed.
    ["features.network_proxy", "true"],
    [`permissions.${profile}.network`, tomlText(network)],
    ["shell_environment_policy.set.TMPDIR", tomlText(temporary)],
  ];
}

/** Codex takes names with these characters for patterns, and cannot open them. */
const pattern = /[*?[\]{}]/;

function checked(path: string): string {
  if (!pattern.test(path)) return path;
  throw new Fault("harness.reduced", `Codex cannot give a run access to "${path}": it takes the name for a pattern.`, {
    hint: "Move it to a path without *?[]{}, or use another harness.",
  });
}

/**
 * Codex treats every writable path as a folder, and protects some names in it. Below a file that fails, and then no
 * command runs at all; in a folder it creates them, and leaves them behind when it is killed. So they are opened too.
 */
function open(paths: readonly string[]): Readonly<Record<string, string>> {
  const names = ["", "/.git", "/.codex", "/.agents", "/.aws"];
  return Object.fromEntries(paths.flatMap((path) => names.map((name) => [`${path}${name}`, "write"])));
}

/** The task file's real path. Links are refused: with a link, an agent could open any other file. */
async function ownName(file: string): Promise<string> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() && found.nlink === 1) return join(await realpath(dirname(file)), basename(file));
  throw new Fault("harness.reduced", `A run cannot be given access to "${file}": it is missing, or it is a link.`, {
    hint: "Put the task file back in its place.",
  });
}

/** Sockets of servers that run commands outside the sandbox. They need not exist. */
function ways({ env }: HarnessOrder, { hidden }: CodexPorts): readonly string[] {
  const terminals = join(env.TMUX_TMPDIR || "/tmp", `tmux-${userInfo().uid}`);
  const daemons = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman", "/run/containerd"];
  return [...hidden, terminals, ...daemons, env.SSH_AUTH_SOCK ?? ""].filter(isAbsolute);
}

/**
 * A schema in OpenAI's strict form: every object is closed, every property is required, and optional ones may be null.
 * Undefined if the schema cannot be written in that form.
 */
export function strictSchema(schema: unknown): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, properties, items, const: only, ...others } = schema;
  if (type === undefined && only === undefined && others.enum === undefined) return undefined;
  const kinds = Array.isArray(type) ? type : [type];
  const values = only === undefined ? {} : { enum: [only] };
  const base = { ...others, ...(type === undefined ? {} : { type }), ...values };
  if (kinds.includes("object")) return strictObject(base, schema, properties);
  if (!kinds.includes("array")) return base;
  const each = strictSchema(items);
  return each === undefined ? undefined : { ...base, items: each };
}

function strictObject(base: JsonObject, schema: JsonObject, properties: unknown): JsonObject | undefined {
  if (!isJsonObject(properties)) return undefined;
  const strict: Record<string, JsonObject> = {};
  for (const [name, property] of Object.entries(properties)) {
    const each = strictSchema(property);
    if (each === undefined) return undefined;
    strict[name] = isRequired(schema, name) ? each : orNull(each);
  }
  return { ...base, properties: strict, required: Object.keys(strict), additionalProperties: false };
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  const kinds = Array.isArray(type) ? type : [type];
  return {
    ...schema,
    ...(type === undefined || kinds.includes("null") ? {} : { type: [...kinds, "null"] }),
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

/** Converts an answer to a strict schema back to the original schema: optional properties that are null are removed. */
export function withoutNulls(answer: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return answer;
  if (Array.isArray(answer)) return answer.map((each) => withoutNulls(each, schema.items));
  if (!isJsonObject(answer)) return answer;
  const { properties } = schema;
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name, value]) => value !== null || isRequired(schema, name))
      .map(([name, value]) => [name, withoutNulls(value, isJsonObject(properties) ? properties[name] : undefined)]),
  );
}

function isRequired({ required }: JsonObject, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml };

/** A value as one line of TOML, for `-c key=value`. */
export function tomlText(value: Toml): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map(tomlText).join(",")}]`;
  return `{${Object.entries(value)
    .map(([key, each]) => `${quoted(key)}=${tomlText(each)}`)
    .join(",")}}`;
}

/** JSON's escapes are valid TOML, except that JSON leaves DEL and lone surrogates unescaped. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");
}

function isList(value: readonly Toml[] | { readonly [key: string]: Toml }): value is readonly Toml[] {
  return Array.isArray(value);
}
