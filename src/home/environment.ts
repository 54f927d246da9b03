import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter } from "node:path";
import { publishFile } from "../durable-file.ts";
import type { Places } from "./places.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables of the daemon's environment that agents get. An allowlist, because any other variable may be an API key
 * that is charged to another account, or a setting that changes how the agent behaves.
 */
export const agentVariables: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "COLORTERM"],
  ...["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"],
  ...["SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GNUPGHOME"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
];

/**
 * The other variables that the daemon needs: where harnesses keep the person's settings, and how to reach the desktop.
 */
const daemonVariables = [
  ...["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "GH_HOST", "GH_CONFIG_DIR", "SIGNALBOX_SCRIPT"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"],
];

const isLocale = (name: string) => name.startsWith("LC_");

/** Variables that describe one terminal, one shell, or the agent that a person is talking to, not the person. */
const passing =
  /^(TMUX|TMUX_PANE|STY|WINDOW|WINDOWID|TERM_SESSION_ID|PWD|OLDPWD|SHLVL|_|COLUMNS|LINES|INIT_CWD|npm_.*|CLAUDECODE|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_.*|EXECPATH)|CODEX_(SANDBOX.*|THREAD_ID|MANAGED_.*|SHELL)|GEMINI_CLI(_NO_RELAUNCH)?|OPENCODE(_PID|_CALLER)?|AGENT|AI_AGENT|CURSOR_(AGENT|TRACE_ID))$/;
/** Variables that authorise a run, or mark its processes. */
const ofRuns = /^SIGNALBOX_(TOKEN|TASK|ROLE|RUN|TASK_FILE|EVENTS|PORT|PROCESS|EFFECT|COMMAND|COMMANDS_OF)$/;

/** Set in a daemon that an agent has started: its environment must not be recorded as a person's. */
export const startedByAgent = "SIGNALBOX_STARTED_BY_AGENT";

/** A person's environment for the daemon: with their API keys, without the variables of their terminal. */
export function personsEnvironment(env: Environment): Record<string, string> {
  return pick(env, (name) => !passing.test(name) && !ofRuns.test(name));
}

/** What a process inherits from the one that starts it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly umask: number;
  readonly nice: number;
}

/**
 * Records the environment for a later daemon that an agent starts, in a file that only the user can read. API keys are
 * not recorded: they stay in the person's environment.
 */
export function recordSurroundings({ surroundings }: Places, { env, umask, nice }: Surroundings): void {
  const names = new Set([...agentVariables, ...daemonVariables]);
  const kept = pick(env, (name) => names.has(name) || isLocale(name));
  publishFile(surroundings, `${JSON.stringify({ env: kept, umask, nice })}\n`, { mode: 0o600 });
}

/**
 * The environment for a daemon that an agent starts: that of the last daemon that a person started, or else that of a
 * fresh login. Without a record, only PATH and the language come from the agent.
 */
export function surroundingsForAgent(places: Places, agent: Environment): Surroundings {
  try {
    const { env, umask, nice } = JSON.parse(readFileSync(places.surroundings, "utf8")) as Surroundings;
    return { env, umask, nice };
  } catch {
    const { username, homedir, shell } = userInfo();
    const path = (agent.PATH ?? "").split(delimiter).filter((folder) => folder !== places.bin);
    const login = { HOME: homedir, USER: username, LOGNAME: username, SHELL: shell ?? "/bin/sh" };
    const language = pick(agent, (name) => name === "LANG" || isLocale(name));
    return { env: { ...login, ...language, PATH: path.join(delimiter) }, umask: 0o022, nice: 0 };
  }
}

function pick(env: Environment, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || !isWanted(name) ? [] : [[name, value]])),
  );
}
