import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readableText } from "../readable-text.ts";
import { agentVariables } from "./environment.ts";

interface Login {
  /** unknown: the program cannot be asked, or does not say. */
  readonly state: "in" | "out" | "unknown";
  /** How to log in, if logged out; else empty. */
  readonly hint: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The commands that log in. */
const commands = {
  claude: "claude auth login",
  codex: "codex login",
  gemini: "gemini",
  opencode: "opencode auth login",
} as const;

const statusTimeout = 10_000;
const unknown: Login = { state: "unknown", hint: "" };

/**
 * Whether a harness is logged in, by its own status command or its files; changes nothing. The check uses the
 * environment that agents get, because an API key that agents do not get is no login for them.
 */
export async function loginOf(harness: string, all: Environment, allowed: readonly string[]): Promise<Login> {
  const names = new Set([...agentVariables, ...allowed]);
  const env = Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      value !== undefined && (names.has(name) || name.startsWith("LC_")) ? [[name, value]] : [],
    ),
  );
  if (!Object.hasOwn(commands, harness)) return unknown;
  const name = harness as keyof typeof commands;
  const state = await checks[name](env, env.HOME ?? homedir());
  return { state, hint: state === "out" ? `Log in: ${commands[name]}` : "" };
}

type State = Login["state"];
type Check = (env: Readonly<Record<string, string>>, home: string) => State | Promise<State>;

const checks: Readonly<Record<keyof typeof commands, Check>> = {
  async claude(env) {
    const { output } = await ask(env, "claude", "auth", "status");
    const [, told] = /"loggedIn"\s*:\s*(true|false)/.exec(output) ?? [];
    return told === undefined ? "unknown" : told === "true" ? "in" : "out";
  },
  async codex(env, home) {
    const { code, output } = await ask(env, "codex", "login", "status");
    const isOut = /not logged in/i.test(output);
    if (code === 0 && !isOut) return /logged in|key configured/i.test(output) ? "in" : "unknown";
    // A custom model provider may need no login.
    const settings = readableText(join(env.CODEX_HOME || join(home, ".codex"), "config.toml"));
    return isOut && !/^\s*model_provider\s*=/m.test(settings) ? "out" : "unknown";
  },
  gemini(env, home) {
    const folder = join(env.GEMINI_CLI_HOME || home, ".gemini");
    const keys = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"];
    if (keys.some((key) => env[key])) return "in";
    const files = [join(folder, ".env"), join(home, ".env")].map(readableText);
    if (files.some((text) => keys.some((key) => text.includes(`${key}=`)))) return "in";
    const [, type = ""] = /"selectedType"\s*:\s*"([^"]*)"/.exec(readableText(join(folder, "settings.json"))) ?? [];
    if (type === "") return "out";
    // Other kinds of login may be stored in the system's keychain, which cannot be read here.
    return type === "oauth-personal" && existsSync(join(folder, "oauth_creds.json")) ? "in" : "unknown";
  },
  opencode(env, home) {
    const file = join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode", "auth.json");
    // OpenCode also has models that need no login, and reads API keys from many places.
    return readableText(file).includes(`"type"`) ? "in" : "unknown";
  },
};

interface Asked {
  readonly code: number | undefined;
  readonly output: string;
}

function ask(env: Readonly<Record<string, string>>, program: string, ...args: readonly string[]): Promise<Asked> {
  return new Promise((done) => {
    const options = { cwd: "/", env: { ...env, DISABLE_AUTOUPDATER: "1" }, timeout: statusTimeout };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : undefined;
      done({ code, output: `${stdout}\n${stderr}` });
    });
    child.stdin?.end();
  });
}
