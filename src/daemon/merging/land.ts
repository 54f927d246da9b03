import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { bringTogether } from "./bring-together.ts";
import { type Outcome, type Ready, refused, type Waiting } from "./entry.ts";
import { findTips, type Tips } from "./find-tips.ts";
import { type PublishPorts, publishCommit, unreachable } from "./publish-commit.ts";
import { type Merged, type Stack, stackUp } from "./stack-up.ts";

export interface LandPorts extends PublishPorts {
  /** Told what is going to be published. */
  planned(merged: readonly Merged[]): Promise<void>;
  /** Tests what a commit has. Undefined where that is not asked for; else why it fails, or undefined where it does not. */
  readonly test: ((commit: string, merged: readonly Merged[]) => Promise<string | undefined>) | undefined;
}

interface Round extends LandPorts {
  readonly project: Project;
  readonly target: string;
  readonly own: ProjectWorkspaces;
  readonly outcomes: Map<Ready, Outcome>;
}

/** The user may be at work on the branch; who moves it more often than this within moments gets another turn. */
const mostRounds = 8;

/**
 * Merges tasks into a branch of the user's repository: one after the other, tested together, published at once. A branch
 * that has moved meanwhile is merged onto again, and tested again.
 */
export async function land(
  ports: LandPorts,
  own: ProjectWorkspaces,
  project: Project,
  target: string,
  entries: readonly Ready[],
): Promise<ReadonlyMap<Ready, Outcome>> {
  const outcomes = new Map<Ready, Outcome>(entries.map((entry) => [entry, { kind: "again" }]));
  const round: Round = { ...ports, own, project, target, outcomes };
  let open = entries;
  for (let count = 0; open.length > 0 && count < mostRounds; count++) open = await oneRound(round, open);
  return outcomes;
}

/** Gives the entries that are to be tried again at once. */
async function oneRound(round: Round, entries: readonly Ready[]): Promise<readonly Ready[]> {
  const { own, project, target, outcomes } = round;
  const [author, tips] = await Promise.all([
    own.git.identityOf(project.path),
    reachable(round, entries, () => findTips(own, project, target, round.where)),
  ]);
  if (tips === undefined) return [];
  const base = tips.apart ? await bringTogether(own, target, tips, entries, author) : tips.base;
  if (base === undefined) {
    const reason = `"${target}" here and "${target}" of the remote have gone apart. Bring them together first: git pull`;
    for (const entry of entries) outcomes.set(entry, refused(reason));
    return [];
  }
  const stack = await stackUp(own.control, base, entries, author);
  for (const [entry, outcome] of stack.others) outcomes.set(entry, outcome);
  if (stack.merged.length === 0) return [];
  const failing = stack.top === base ? undefined : await round.test?.(stack.top, stack.merged);
  if (failing !== undefined) return split(round, stack, failing);
  return publish(round, tips, stack);
}

/** Whose tests fail together are tried in halves, until it is clear who is to blame. */
function split({ outcomes }: Round, { merged }: Stack, reason: string): readonly Ready[] {
  const [first] = merged;
  if (first !== undefined && merged.length === 1) outcomes.set(first.entry, { kind: "tests", reason, files: [] });
  return merged.length === 1 ? [] : merged.slice(0, Math.floor(merged.length / 2)).map(({ entry }) => entry);
}

async function publish(round: Round, tips: Tips, { top, merged }: Stack): Promise<readonly Ready[]> {
  const { own, project, target, outcomes } = round;
  await round.planned(merged);
  const result = await publishCommit(round, own, project, target, tips, top);
  if (result.kind === "moved") return merged.map(({ entry }) => entry);
  if (result.kind === "waits") return waitFor(round, merged, result);
  for (const { entry, before, after } of merged)
    outcomes.set(entry, result.kind === "refused" ? result : { kind: "merged", commit: entry.commit, before, after });
  return [];
}

/** Those whose files are in the way wait; the others need not. */
async function waitFor(round: Round, merged: readonly Merged[], waiting: Waiting): Promise<readonly Ready[]> {
  const isTouched = new Set(waiting.files);
  const concerned = await Promise.all(
    merged.map(async ({ before, after }) => {
      const changed = before === after ? [] : await round.own.control.changedFiles(before, after);
      return changed.some(
        ({ path, from }) => isTouched.has(path.text) || (from !== undefined && isTouched.has(from.text)),
      );
    }),
  );
  // Where nothing can be told apart, all of them wait.
  const some = concerned.some((is) => is) && !concerned.every((is) => is);
  merged.forEach(({ entry }, index) => {
    if (!some || concerned[index] === true) round.outcomes.set(entry, waiting);
  });
  return some ? merged.flatMap(({ entry }, index) => (concerned[index] === true ? [] : [entry])) : [];
}

/** A remote that cannot be reached now is waited for. */
async function reachable<T>(
  { outcomes }: Round,
  entries: readonly Ready[],
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const waiting = unreachable(error);
    if (waiting === undefined) throw error;
    for (const entry of entries) outcomes.set(entry, waiting);
    return undefined;
  }
}
