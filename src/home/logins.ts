import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { agentVariables } from "./daemon-environment.ts";

export interface Login {
  /** unknown: the program is not one that can be asked, or does not say. */
  readonly state: "in" | "out" | "unknown";
  /** What to do where nobody is logged in; else empty. */
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

const patience = 10_000;
const unknown: Login = { state: "unknown", hint: "" };

/**
 * Whether somebody is logged in to a program that agents run in, by looking only: its own status, or its files. It is asked
 * with what agents see of the environment: a key that they do not get logs nobody in.
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
    // A provider of the person's own may need no login.
    const settings = readText(join(env.CODEX_HOME || join(home, ".codex"), "config.toml"));
    return isOut && !/^\s*model_provider\s*=/m.test(settings) ? "out" : "unknown";
  },
  gemini(env, home) {
    const folder = join(env.GEMINI_CLI_HOME || home, ".gemini");
    const keys = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"];
    if (keys.some((key) => env[key])) return "in";
    const files = [join(folder, ".env"), join(home, ".env")].map(readText);
    if (files.some((text) => keys.some((key) => text.includes(`${key}=`)))) return "in";
    const [, type = ""] = /"selectedType"\s*:\s*"([^"]*)"/.exec(readText(join(folder, "settings.json"))) ?? [];
    if (type === "") return "out";
    // Other kinds may keep what they need where only the system can look.
    return type === "oauth-personal" && existsSync(join(folder, "oauth_creds.json")) ? "in" : "unknown";
  },
  opencode(env, home) {
    const file = join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode", "auth.json");
    // It also has models that need no login, and takes keys from many places.
    return readText(file).includes(`"type"`) ? "in" : "unknown";
  },
};

interface Asked {
  readonly code: number | undefined;
  readonly output: string;
}

function ask(env: Readonly<Record<string, string>>, program: string, ...args: readonly string[]): Promise<Asked> {
  return new Promise((done) => {
    const options = { cwd: "/", env: { ...env, DISABLE_AUTOUPDATER: "1" }, timeout: patience };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : undefined;
      done({ code, output: `${stdout}\n${stderr}` });
    });
    child.stdin?.end();
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
