import type { Effect } from "../../src/engine/decision.ts";
import type { Task } from "../../src/engine/task.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import type { PullRequestRecord } from "../../src/ports/records.ts";
import type { MemoryPullRequest } from "./memory-forge.ts";
import { changedPaths } from "./memory-repositories.ts";
import type { World } from "./world.ts";

const onePull = "a task has one pull request, until that is merged";
const oneComment = "a round has one comment";
const tested = "tests name the commit that they ran on";
const finalTests = "what is merged was tested";

/** Checked when the forge has a new pull request. */
export function checkOpened(world: World, { number, wanted }: MemoryPullRequest): void {
  const [, task = ""] = /\(`([^`]+)`\)/.exec(wanted.body) ?? [];
  const own = (world.forge?.pullsOf(task) ?? []).filter(({ state }) => state !== "merged");
  world.note(`pull request ${number} of ${task} is opened`);
  if (own.length > 1) world.violate(onePull, `${task} has ${own.map((pull) => pull.number).join(", ")}.`);
}

async function taskOf(world: World, { wanted }: MemoryPullRequest): Promise<Task | undefined> {
  const [, id = ""] = /\(`([^`]+)`\)/.exec(wanted.body) ?? [];
  return (await world.store.getTask(id))?.task;
}

/** Checked when the forge has a new comment: it is the first one since the last review. */
export async function checkCommented(world: World, pull: MemoryPullRequest): Promise<void> {
  const task = await taskOf(world, pull);
  if (task === undefined) return;
  const round = task.ledger?.round ?? 0;
  const key = `${task.id} ${round}`;
  const count = (world.commented.get(key) ?? 0) + 1;
  world.commented.set(key, count);
  world.note(`pull request ${pull.number} gets a comment about round ${round}`);
  if (count > 1) world.violate(oneComment, `Round ${round} of ${task.id} has ${count} comments.`);
}

/**
 * Checked whenever the record of a pull request is saved: also without a forge there is one comment for each round, and no
 * other pull request before the first one is merged.
 */
export async function checkRecord(
  world: World,
  before: PullRequestRecord | undefined,
  { task: id, comments, number }: PullRequestRecord,
): Promise<void> {
  // A daemon that died after the merge has not recorded it.
  const there = world.forge?.pulls.find((pull) => pull.number === before?.number);
  const isMerged = (there?.state ?? before?.state) === "merged";
  if (before !== undefined && before.number !== number && !isMerged)
    world.violate(onePull, `${id} had ${before.number}, and has ${number}.`);
  const round = (await world.store.getTask(id))?.task.ledger?.round ?? 0;
  const count = Object.keys(comments).length;
  if (count > round) world.violate(oneComment, `${id} has ${count} comments after ${round} rounds.`);
}

/** Checked when the forge merges: somebody has reviewed that commit, or a person was shown it. */
export async function checkMerging(world: World, pull: MemoryPullRequest, head: string): Promise<void> {
  const task = await taskOf(world, pull);
  if (task === undefined) return;
  const { commits, remote } = world.repositories;
  const base = remote.get(pull.wanted.base) ?? "";
  const treeOf = (commit: string) => {
    const result = commits.merge(base, commit);
    return result.kind === "merged" ? result.tree : undefined;
  };
  const isJudged = (commit: string) => {
    if (commit === head) return true;
    const [one, other] = [treeOf(commit), treeOf(head)];
    return one !== undefined && other !== undefined && changedPaths(one, other).length === 0;
  };
  const seen = (await world.store.seen.get(task.id))?.commit;
  if (task.judged === undefined || (!isJudged(task.judged.commit) && seen !== head))
    world.violate("what is merged is what was reviewed", `${task.id} is merged at ${short(head)}, unreviewed.`);
  if (!pull.isApproved && !(await hasPersonsWord(world, task)))
    world.violate("a merge has an approval or a person's word", `${task.id} is merged, and nobody has said so.`);
  checkPassed(world, task, head);
}

/** Whether a person has let the task go on since it came into its state. */
async function hasPersonsWord({ store }: World, { id }: Task): Promise<boolean> {
  let isSaid = false;
  for (const { event } of await store.listEvents({ task: id }, 0, Number.MAX_SAFE_INTEGER)) {
    if (event.type === "task.moved") isSaid = false;
    else if (event.type === "task.continued" && event.by === "human") isSaid = true;
  }
  return isSaid;
}

/** Checked after every decision: the recorded result is that of tests which ran on that commit. */
export async function checkTested(world: World, before: Task, after: Task): Promise<void> {
  const found = after.tested;
  if (found !== undefined && found !== before.tested && (found.word === "ok" || found.word === "tests")) {
    const results = world.tests.get(found.commit) ?? new Set();
    if (!results.has(found.word === "ok"))
      world.violate(tested, `${after.id} records "${found.word}" for ${short(found.commit)}, where no tests ended so.`);
  }
  const { outcome } = world.workflowOf(after).states[after.status] ?? {};
  if (before.status === after.status || outcome !== "done") return;
  const [pull] = world.forge?.pullsOf(after.id) ?? [];
  const merge = await world.store.merges.get(after.id);
  // What somebody else merges on the forge may have more commits, which the daemon has not seen.
  const own = pull?.merged?.isByHand === true ? undefined : (pull?.merged?.head ?? merge?.commit);
  const merged = own ?? world.repositories.refs.get(taskRef(after.id)) ?? "";
  checkPassed(world, after, merged);
}

function checkPassed(world: World, { id, tested: last }: Task, commit: string): void {
  if (world.config.testCommand !== undefined && world.tests.get(commit)?.has(true) !== true)
    world.violate(finalTests, `${id} is merged at ${short(commit)}, where no tests have passed.`);
  if (last?.commit !== commit) world.violate(finalTests, `${id} names ${short(last?.commit ?? "")} as tested.`);
}

/** Checked when an effect is marked done. */
export async function checkStageEffect(world: World, task: Task, effect: Effect): Promise<void> {
  const record = await world.store.pullRequests.get(task.id);
  const round = task.ledger?.round ?? 0;
  if (effect.action === "create_pr" && (record === undefined || world.forge?.pullsOf(task.id).length === 0))
    world.violate("what a transition owes is carried out", `${task.id} has no pull request.`);
  if (effect.action !== "post_comment" || round === 0) return;
  const comments = world.forge === undefined ? Object.keys(record?.comments ?? {}).length : undefined;
  const count = comments ?? world.commented.get(`${task.id} ${round}`) ?? 0;
  if (count === 0) world.violate(oneComment, `Round ${round} of ${task.id} has no comment.`);
  world.rounds.add(`${task.id} ${round}`);
}

/** At the end: the history has one comment for each round that was commented on, and says once that a pull request was opened. */
export async function checkHistory(world: World): Promise<void> {
  const counts = new Map<string, number>();
  for (const { task, event } of await world.store.listEvents({}, 0, Number.MAX_SAFE_INTEGER)) {
    const key =
      event.type === "pr.opened"
        ? `opened ${task} ${String(event.data.number)}`
        : `${task} ${String(event.data.round)}`;
    if (event.type === "pr.opened" || event.type === "pr.commented") counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [key, count] of counts)
    if (count > 1)
      world.violate(key.startsWith("opened") ? onePull : oneComment, `The history has ${key} ${count} times.`);
  for (const round of world.rounds)
    if (!counts.has(round)) world.violate(oneComment, `The history has no comment for ${round}.`);
}

function short(commit: string): string {
  return commit.slice(0, 7);
}
