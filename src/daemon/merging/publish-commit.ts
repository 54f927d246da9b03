import { Fault, tell } from "../../fault.ts";
import type { PublishOrder, Waits } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import { remoteName } from "../remote-of.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import type { Waiting } from "./entry.ts";
import type { Tips, Where } from "./find-tips.ts";

export interface PublishPorts {
  readonly where: Where;
  /** The folder that all workspaces are below; branches that are checked out there are left alone. */
  readonly workspaces: string;
  readonly signal: AbortSignal;
}

export type Publishing =
  /** It was seen there. */
  | { readonly kind: "published" }
  /** The branch is elsewhere by now. */
  | { readonly kind: "moved" }
  | Waiting
  | { readonly kind: "refused"; readonly reason: string; readonly files: readonly string[] };

/**
 * To the remote first: it may refuse, and then nothing has moved anywhere. But not before it is known that the user's
 * checkout can follow, unless the remote's branch is the one that counts.
 */
export async function publishCommit(
  { where, workspaces, signal }: PublishPorts,
  { control }: ProjectWorkspaces,
  project: Project,
  target: string,
  { user, remote }: Tips,
  commit: string,
): Promise<Publishing> {
  const order: PublishOrder = {
    ...{ repository: project.path, branch: target, commit, expected: user },
    ...{ workspaces, signal },
  };
  const follows = remote !== undefined && where === "remote";
  const waits = commit === user || follows ? undefined : await control.inTheWay(order);
  if (waits !== undefined) return toWaiting(waits);
  if (remote !== undefined && remote.at !== commit) {
    const { address, at } = remote;
    const refusal = await pushed(target, () =>
      control.pushBranch({ remote: address, branch: target, commit, expected: at, isOwn: false, signal }),
    );
    if (refusal !== undefined) return refusal;
  }
  if (follows) {
    const there = (await control.syncFrom({ from: remote.address, name: remoteName })).branches[target];
    if (there === undefined || !(await control.isAncestor(commit, there))) return { kind: "moved" };
    // What the user has that the remote has not, or has under way, stays as it is.
    if (await control.isAncestor(user, commit)) await control.publish(order);
    return { kind: "published" };
  }
  const result = await control.publish(order);
  if (result.kind === "moved") return { kind: "moved" };
  if (result.kind === "waits") return toWaiting(result);
  // Nobody is told that work has arrived before it was seen there.
  const now = (await control.syncFrom({ from: project.path, name: "user", only: [target] })).branches[target];
  const isThere = now !== undefined && (await control.isAncestor(commit, now));
  return { kind: isThere ? "published" : "moved" };
}

/** A remote that cannot be reached now is waited for. */
export function unreachable(error: unknown): Waiting | undefined {
  if (!(error instanceof Fault) || error.code !== "git.remote-unreachable") return undefined;
  return { kind: "waits", reason: tell(error), files: [] };
}

async function pushed(target: string, push: () => Promise<void>): Promise<Publishing | undefined> {
  try {
    await push();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // Somebody else pushed; a remote says so in its own words too.
    if (error.code === "git.ref-moved" || error.code === "git.diverged") return { kind: "moved" };
    if (!error.code.startsWith("git.remote-")) throw error;
    const reason = `"${target}" could not be pushed, so nothing was merged: ${tell(error)}`;
    return unreachable(error) ?? { kind: "refused", reason, files: [] };
  }
}

function toWaiting({ text, files }: Waits): Waiting {
  return { kind: "waits", reason: text, files: files.map((file) => file.text) };
}
