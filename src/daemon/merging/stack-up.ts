import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Person } from "../../ports/git-names.ts";
import { type Outcome, type Ready, refused } from "./entry.ts";

export interface Stack {
  /** The commit that contains everything that could be merged. */
  readonly top: string;
  /** From below. */
  readonly merged: readonly Merged[];
  readonly others: ReadonlyMap<Ready, Outcome>;
}

export interface Merged {
  readonly entry: Ready;
  readonly before: string;
  readonly after: string;
}

/**
 * Merges one after the other onto a commit, and moves nothing. What conflicts with another one in the stack is tried again
 * by itself: the other may not get in after all.
 */
export async function stackUp(
  control: ControlRepository,
  base: string,
  entries: readonly Ready[],
  author: Person,
): Promise<Stack> {
  const merged: Merged[] = [];
  const others = new Map<Ready, Outcome>();
  let top = base;
  for (const entry of entries) {
    const result = await mergeOne(control, top, entry, author);
    if (typeof result === "string") {
      merged.push({ entry, before: top, after: result });
      top = result;
    } else others.set(entry, top === base ? result : { kind: "again" });
  }
  return { top, merged, others };
}

/** The commit that contains both, or why there is none. */
async function mergeOne(
  control: ControlRepository,
  onto: string,
  { commit, strategy, message, at, target }: Ready,
  author: Person,
): Promise<string | Outcome> {
  try {
    const result = await control.merge({ onto, branch: commit, strategy, message, author, date: at });
    if (result.kind === "up-to-date") return onto;
    if (result.kind !== "conflict") return result.commit;
    const files = result.files.map(({ path }) => path.text);
    return {
      kind: "conflict",
      files,
      reason: `It conflicts with "${target}" in ${listed(files)}.\n${result.text}`.trim(),
    };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "git.diverged") throw error;
    return refused(
      `"${target}" has commits that the task's branch has not, so it cannot be fast-forwarded. Bring them in with signalbox task sync, or merge with --strategy merge.`,
    );
  }
}

const mostListed = 20;

function listed(files: readonly string[]): string {
  const shown = files.slice(0, mostListed).join(", ");
  return files.length > mostListed ? `${shown} and ${files.length - mostListed} more` : shown;
}
