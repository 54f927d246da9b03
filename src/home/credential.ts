import { existsSync, readFileSync } from "node:fs";
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
  return isInWorkspace(places, folder) || isOfAgent(places, env);
}

/** Whether a folder is in a workspace, where commands speak for the agent. */
export function isInWorkspace(places: Places, folder: string): boolean {
  const { folders } = readAgentsAtWork(places);
  return contains(places.workspaces, folder) || folders.some((each) => contains(each, folder));
}

/**
 * Whether this process belongs to an agent, by its environment, by the processes above it, or by its process group and
 * session, which an orphan keeps. If the processes above it cannot be determined, an agent may be among them.
 */
export function isOfAgent(places: Places, env: Environment): boolean {
  if (env.SIGNALBOX_TOKEN || env.SIGNALBOX_RUN !== undefined) return true;
  const above = ancestors();
  if (above === undefined) return true;
  const { pids } = readAgentsAtWork(places);
  const kin = [...above, ...(statOf(process.pid)?.group ?? [])];
  return kin.some((pid) => pids.includes(pid) || hasRun(pid));
}

const maxTries = 5;
/** More than any shell, editor and build tool nest. */
const maxAncestors = 10_000;

/** The processes above this one, as far as the system shows them; undefined if the chain cannot be determined. */
function ancestors(): readonly number[] | undefined {
  if (!existsSync("/proc/self/stat")) return listedAncestors();
  for (let tries = 0; tries < maxTries; tries++) {
    const chain = ancestorsNow();
    if (chain !== "changed") return chain;
  }
  return undefined;
}

function ancestorsNow(): readonly number[] | "changed" | undefined {
  const chain: number[] = [];
  for (let pid = process.ppid; pid > 0; ) {
    chain.push(pid);
    if (chain.length > maxAncestors) return undefined;
    const found = statOf(pid);
    if (found !== undefined) pid = found.parent;
    else {
      const owner = ownerOf(pid);
      // The system may hide the processes of other users, such as the one that logged the person in.
      if (owner === "another user") return chain;
      return owner === "nobody" ? "changed" : undefined;
    }
  }
  return chain;
}

/** Who owns a process that the system does not show. */
function ownerOf(pid: number): "we" | "another user" | "nobody" {
  try {
    process.kill(pid, 0);
    return "we";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "another user" : "nobody";
  }
}

/** Reads the environment that a process was started with. */
function hasRun(pid: number): boolean {
  try {
    return /(^|\0)SIGNALBOX_RUN=/.test(readFileSync(`/proc/${pid}/environ`, "latin1"));
  } catch {
    return false;
  }
}

/** A process's parent, and the leaders of its process group and of its session; undefined if it is not shown. */
function statOf(pid: number): { readonly parent: number; readonly group: readonly number[] } | undefined {
  try {
    // The program's name is in parentheses, and may itself contain parentheses.
    const status = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [, parent = 0, ...group] = status
      .slice(status.lastIndexOf(")") + 2)
      .split(" ", 4)
      .map(Number);
    return { parent, group };
  } catch {
    return undefined;
  }
}

/** For systems without /proc. Loaded lazily: the program that agents call must start fast. */
function listedAncestors(): readonly number[] | undefined {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const lines = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const parents = new Map(lines.map(([pid = 0, parent = 0]) => [pid, parent]));
  const chain: number[] = [];
  for (let pid = process.ppid; pid > 0; pid = parents.get(pid) ?? 0) {
    if (!parents.has(pid) || chain.includes(pid)) return undefined;
    chain.push(pid);
  }
  return chain;
}
