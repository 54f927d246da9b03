import { readFileSync } from "node:fs";
import { contains, readAgentsAtWork } from "./agents-at-work.ts";
import { readHumanToken } from "./human-token.ts";
import type { Places } from "./places.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The credential that this process may use. A run's token is in its environment. The person's token is used only where
 * no agent can be the caller: not below an agent's process, even if that changed its environment, and not in a
 * workspace.
 */
export function chooseCredential(places: Places, env: Environment, folder: string): Credential {
  const own = env.SIGNALBOX_TOKEN;
  if (own) return { token: own, isHuman: false };
  if (mayBeAgent(places, env, folder)) return { token: undefined, isHuman: false };
  const token = readHumanToken(places);
  return { token, isHuman: token !== undefined };
}

interface Credential {
  /** Undefined if this process may use no credential. */
  readonly token: string | undefined;
  readonly isHuman: boolean;
}

/** Whether the caller may be an agent, by the processes above this one or by its folder. */
export function mayBeAgent(places: Places, env: Environment, folder: string): boolean {
  if (isOfAgent(places, env)) return true;
  const { folders } = readAgentsAtWork(places);
  return contains(places.workspaces, folder) || folders.some((each) => contains(each, folder));
}

/** Whether this process belongs to an agent, by its environment or by the processes above it. */
export function isOfAgent(places: Places, env: Environment): boolean {
  if (env.SIGNALBOX_TOKEN || env.SIGNALBOX_RUN !== undefined) return true;
  return isBelowRun(readAgentsAtWork(places).pids);
}

/** Whether a process above this one is an agent's: its pid is recorded, or it was started with a run's environment. */
function isBelowRun(pids: readonly number[]): boolean {
  let pid = process.ppid;
  for (let depth = 0; pid > 1 && depth < maxAncestors; depth++) {
    if (pids.includes(pid) || hasRun(pid)) return true;
    pid = parentOf(pid);
  }
  return false;
}

const maxAncestors = 64;

/** Reads the environment that a process was started with; the process cannot change that afterwards. */
function hasRun(pid: number): boolean {
  try {
    return /(^|\0)SIGNALBOX_RUN=/.test(readFileSync(`/proc/${pid}/environ`, "latin1"));
  } catch {
    return false;
  }
}

function parentOf(pid: number): number {
  try {
    // The program's name is in parentheses, and may itself contain parentheses.
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}
