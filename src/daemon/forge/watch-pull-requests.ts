import type { Decision } from "../../engine/decision.ts";
import { targetsFor } from "../../engine/move.ts";
import type { Task } from "../../engine/task.ts";
import { isTemporary } from "../../engine/when.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault, retryAtOf, tell } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { PullRequestStatus } from "../../ports/forge.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Project, Store, StoredTask } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { remoteName, targetOf } from "../project.ts";
import type { Submit } from "../submit.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";
import { addFeedback, renderFeedback } from "./feedback.ts";
import { leftOut } from "./left-out.ts";
import { isAskedFor, lateAdvice, mergedKey, pullEvent, withoutAsked } from "./merge-pull-request.ts";
import type { ForgeOf, ProjectForge } from "./push-task.ts";

interface LookPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly submit: Submit;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
  workflowOf(task: Task): Promise<Workflow>;
  /** The task's document was changed. */
  changed(stored: StoredTask): void;
  /** Calls a person. Repeated with the same key, it is the same note. */
  tellPerson(task: Task, message: string, key: string): Promise<void>;
}

/** Checks a task's pull request, and moves the task accordingly. Nothing is reported twice. */
async function lookAtPullRequest(
  ports: LookPorts,
  project: Project,
  { forge, remote }: ProjectForge,
  stored: StoredTask,
  record: PullRequestRecord,
): Promise<void> {
  const { store, clock } = ports;
  const status = await forge.statusOf(record.number);
  const { pullRequest: found, review, checks } = status;
  const seen: PullRequestRecord = {
    ...record,
    ...{ state: found.state, headCommit: found.headCommit, base: found.base, isDraft: found.isDraft, review },
    ...{ mergedCommit: found.mergedCommit ?? "", checks: checks.state, seenAt: clock.now() },
  };
  if (seen.state === "open") {
    // A merge that was asked for before the task ended has not come through.
    if (!stored.isOpen) return store.pullRequests.put({ ...seen, told: withoutAsked(seen.told) });
    const { comments, position } = await forge.commentsSince(record.number, record.told.comments ?? "");
    const { reviews = "", checks = "" } = record.told;
    const { items, told } = renderFeedback(status, comments, { reviews, checks });
    if (items.length > 0 && (await addFeedback(ports, seen, items))) ports.changed(stored);
    await store.pullRequests.put({ ...seen, told: { ...record.told, ...told, comments: position } });
    return clearHold(ports, stored.task, status, targetOf(project, stored.task));
  }
  // It may be opened again, so it is checked for as long as the task is open.
  if (seen.state === "closed" && record.state === "closed") return;
  // The consequences come before the record is saved: a daemon that is killed in between checks again.
  const question = seen.state === "merged" ? await merged(ports, project, remote, stored, seen) : closedQuestion;
  if (seen.state === "closed") await store.addEvents(stored.task.id, [pullEvent("pr.closed", seen)], clock.now());
  await store.pullRequests.put({ ...seen, told: withoutAsked(seen.told) });
  if (question !== "") await askPerson(ports, stored.task, seen, question);
}

const closedQuestion = "was closed unmerged. What should happen to the task?";

/** Only people know why it was closed, and not every workflow lets the engine say that a task is done. */
async function askPerson(
  { log, tellPerson }: LookPorts,
  task: Task,
  record: PullRequestRecord,
  what: string,
): Promise<void> {
  const { number, url, task: id } = record;
  // The task's history has it, whether or not the person can be notified.
  await tellPerson(task, `Pull request ${number} ${what} ${url}`, mergedKey(record)).catch((error) =>
    log.warn("The person could not be notified", { task: id, error }),
  );
}

/** Retries a task that is held because of its pull request once nothing prevents the merge any more. */
async function clearHold(
  { submit }: LookPorts,
  { id, held }: Task,
  { pullRequest, review, mergeable, checks }: PullRequestStatus,
  target: string,
): Promise<void> {
  if (held === undefined || !isTemporary(held.word)) return;
  const isFree = mergeable === "yes" && (checks.state === "passing" || checks.state === "none");
  if (review === "approved" && isFree && pullRequest.base === target)
    await submit(id, { kind: "continue", actor: { role: "engine" } });
}

/**
 * The pull request was merged, by whomever: the task is done, if all of its work is in the target and its workflow lets the engine
 * say so. Returns what a person has to be asked; empty where the task goes on by itself.
 */
async function merged(
  ports: LookPorts,
  project: Project,
  remote: string | undefined,
  { task, isOpen }: StoredTask,
  record: PullRequestRecord,
): Promise<string> {
  const { store, clock, log, workspacesOf, submit } = ports;
  if (remote !== undefined) {
    const { control } = await workspacesOf(project);
    await control
      .syncFrom({ from: remote, name: remoteName })
      .catch((error) => log.warn("The control repository could not be synced", { task: task.id, error }));
  }
  await store.addEvents(task.id, [pullEvent("pr.merged", record)], clock.now());
  if (!isOpen) return `was merged into "${record.base}". ${lateAdvice(task, true)}`;
  const actor = { role: "engine" };
  // A task that was held because it could not be merged can end now. Its workflow's merge compares the work once more.
  if (task.held !== undefined && isTemporary(task.held.word))
    return isChange((await submit(task.id, { kind: "continue", actor })).decision) ? "" : isItDone;
  const rest = await leftOutNow(ports, project, remote, task, record);
  if (rest !== undefined) return rest;
  const to = endOf(await ports.workflowOf(task), task);
  const isMoved = to !== undefined && isChange((await submit(task.id, { kind: "move", to, actor })).decision);
  return isMoved ? "" : isItDone;
}

const isItDone = "was merged. Is the task done?";

/** What a person is told about the task's work that was not merged with it; undefined where nothing is missing. */
async function leftOutNow(
  ports: LookPorts,
  project: Project,
  remote: string | undefined,
  task: Task,
  record: PullRequestRecord,
): Promise<string | undefined> {
  try {
    const rest = await leftOut(ports, remote, project, task, record);
    return rest && `was merged, and not all of the task's work is in it. ${rest.reason}\n${rest.fix}\n`;
  } catch (error) {
    if (!(error instanceof Fault) || error.retry === "later") throw error;
    return `was merged. Whether all of the task's work is in it could not be read: ${tell(error)}\n`;
  }
}

function isChange({ kind }: Decision): boolean {
  return kind === "moved" || kind === "stayed";
}

/** The state in which the task has succeeded, if the engine may ask for one from here. */
function endOf(workflow: Workflow, { status }: Task): string | undefined {
  const state = workflow.states[status];
  const targets = state === undefined ? [] : targetsFor(state, "engine");
  return targets.find((name) => workflow.states[name]?.outcome === "done");
}

interface WatchPorts extends LookPorts {
  readonly forgeOf: ForgeOf;
  /** Seconds between two checks of the same pull request. */
  interval(): number;
}

interface PullRequestWatch {
  /** There may be a pull request to watch. */
  wake(): void;
  /** Starts no new check, and waits for the one in progress. */
  stop(): Promise<void>;
}

interface Watched {
  readonly stored: StoredTask;
  readonly record: PullRequestRecord;
}

/** The longest back-off for a forge that fails, in milliseconds. */
const maxPause = 15 * 60_000;

/**
 * Polls forges for the state of pull requests, one after the other, so that each is checked once in an interval. While
 * none is open, no forge is polled.
 */
export function watchPullRequests(ports: WatchPorts): PullRequestWatch {
  const { clock, log } = ports;
  const lookedAt = new Map<string, number>();
  let looks = 0;
  let failures = 0;
  let cancel = () => {};
  // A pull request may be opened during a check that finds none.
  let state: "idle" | "waiting" | "looking" | "wanted" | "stopped" = "idle";
  let looking: Promise<void> = Promise.resolve();

  const pollInterval = () => ports.interval() * 1000;
  const plan = (pause: number | undefined) => {
    if (state === "stopped") return;
    const next = pause ?? (state === "wanted" ? pollInterval() : undefined);
    state = next === undefined ? "idle" : "waiting";
    if (next !== undefined) cancel = clock.after(next, look);
  };
  const look = () => {
    state = "looking";
    looking = lookOnce()
      .catch((error) => {
        log.warn("Pull requests could not be checked", { error });
        return pollInterval();
      })
      .then(plan);
  };

  /** Checks the pull request whose last check is the oldest. Returns the pause before the next check. */
  const lookOnce = async (): Promise<number | undefined> => {
    const open = await listWatched(ports);
    const turnOf = ({ record }: Watched) => lookedAt.get(record.id) ?? 0;
    const [next] = open.toSorted((a, b) => turnOf(a) - turnOf(b));
    if (next === undefined) return undefined;
    lookedAt.set(next.record.id, ++looks);
    const share = pollInterval() / open.length;
    try {
      await lookAt(ports, next);
      failures = 0;
      return share;
    } catch (error) {
      log.warn("A pull request could not be checked", { task: next.record.task, url: next.record.url, error });
      failures++;
      const limit = (retryAtOf(error) ?? 0) - clock.now();
      return Math.max(limit, Math.min(share * 2 ** Math.min(failures, 20), maxPause));
    }
  };

  return {
    wake() {
      if (state === "looking") state = "wanted";
      // Not immediately: a pull request that was just opened has no news yet.
      else if (state === "idle") plan(pollInterval());
    },
    async stop() {
      state = "stopped";
      cancel();
      await looking;
    },
  };
}

/**
 * The pull requests on a forge that are not merged, of tasks that are not over; and of those that are, the ones whose merge the forge
 * was asked for before, and has not answered yet.
 */
async function listWatched({ store }: WatchPorts): Promise<readonly Watched[]> {
  const records = (await store.pullRequests.list({})).filter(({ state, url }) => state !== "merged" && url !== "");
  const watched = await Promise.all(
    records.map(async (record) => ({ record, stored: await store.getTask(record.task) })),
  );
  return watched.flatMap(({ record, stored }) =>
    stored !== undefined && (stored.isOpen || isAskedFor(record)) ? [{ record, stored }] : [],
  );
}

async function lookAt(ports: WatchPorts, { stored, record }: Watched): Promise<void> {
  const project = await ports.store.getProject(record.project);
  if (project === undefined) return;
  const place = await ports.forgeOf(project);
  if (place.kind === "none") return;
  // Inside the task's forge mutex, so that opening or merging at the same moment does not interfere.
  await ports.inTurn(`forge ${record.task}`, async () => {
    const now = await ports.store.pullRequests.get(record.id);
    if (now !== undefined && now.state !== "merged") await lookAtPullRequest(ports, project, place, stored, now);
  });
}
