import { readFileSync } from "node:fs";
import { contains, readAgentsAtWork } from "../home/agents-at-work.ts";
import type { Places } from "../home/places.ts";
import { readHumanToken } from "../home/read-human-token.ts";

export interface Credential {
  /** Undefined where this process may speak for nobody. */
  readonly token: string | undefined;
  readonly isHuman: boolean;
}

/**
 * Whose word this command is. A run's token is in its environment. The person's is taken only where no agent can be at
 * the keyboard: not below an agent's process, whatever that did to its environment, and not in a workspace.
 */
export function chooseCredential(places: Places, env: NodeJS.ProcessEnv, folder: string): Credential {
  const own = env.SIGNALBOX_TOKEN;
  if (own) return { token: own, isHuman: false };
  if (mayBeAgent(places, env, folder)) return { token: undefined, isHuman: false };
  const token = readHumanToken(places);
  return { token, isHuman: token !== undefined };
}

/** Whether an agent may be at the keyboard. */
export function mayBeAgent(places: Places, env: NodeJS.ProcessEnv, folder: string): boolean {
  if (isOfAgent(places, env)) return true;
  const { folders } = readAgentsAtWork(places);
  return contains(places.workspaces, folder) || folders.some((each) => contains(each, folder));
}

/** Whether this process is one of an agent's, by its environment or by the processes above it. */
export function isOfAgent(places: Places, env: NodeJS.ProcessEnv): boolean {
  if (env.SIGNALBOX_TOKEN || env.SIGNALBOX_RUN !== undefined) return true;
  return isBelowRun(readAgentsAtWork(places).pids);
}

/** Whether one of the processes above us is an agent's: it is known to be, or was started with a run's environment. */
function isBelowRun(pids: readonly number[]): boolean {
  let pid = process.ppid;
  for (let depth = 0; pid > 1 && depth < mostAncestors; depth++) {
    if (pids.includes(pid) || hasRun(pid)) return true;
    pid = parentOf(pid);
  }
  return false;
}

const mostAncestors = 64;

/** The environment a process was started with; it cannot be changed afterwards. */
function hasRun(pid: number): boolean {
  try {
    return /(^|\0)SIGNALBOX_RUN=/.test(readFileSync(`/proc/${pid}/environ`, "latin1"));
  } catch {
    return false;
  }
}

function parentOf(pid: number): number {
  try {
    // The name in parentheses may contain anything, parentheses too.
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}
