import type { Conflict, ControlRepository } from "../../ports/control-repository.ts";
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
  const answers = await control.mergeAll({
    onto: base,
    author,
    entries: entries.map(({ commit, strategy, message, at }) => ({ branch: commit, strategy, message, date: at })),
  });
  const merged: Merged[] = [];
  const others = new Map<Ready, Outcome>();
  let top = base;
  for (const [index, entry] of entries.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    if (answer.kind === "conflict" || answer.kind === "diverged") {
      others.set(entry, top === base ? obstacle(entry, answer) : { kind: "again" });
      continue;
    }
    const after = answer.kind === "up-to-date" ? top : answer.commit;
    merged.push({ entry, before: top, after });
    top = after;
  }
  return { top, merged, others };
}

/** Why an entry cannot be merged, as a person is told it. */
export function obstacle({ target }: Pick<Ready, "target">, answer: Conflict | { readonly kind: "diverged" }): Outcome {
  if (answer.kind === "diverged")
    return refused(
      `"${target}" has commits that the task's branch has not, so it cannot be fast-forwarded. Bring them in with signalbox task sync, or merge with --strategy merge.`,
    );
  const files = answer.files.map(({ path }) => path.text);
  return {
    kind: "conflict",
    files,
    reason: `It conflicts with "${target}" in ${listed(files)}.\n${answer.text}`.trim(),
  };
}

const mostListed = 20;

function listed(files: readonly string[]): string {
  const shown = files.slice(0, mostListed).join(", ");
  return files.length > mostListed ? `${shown} and ${files.length - mostListed} more` : shown;
}
