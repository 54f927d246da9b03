import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Config } from "../../home/config-fields.ts";
import type { Turns } from "../../keyed.ts";
import type { PullRequest, PullRequestStatus } from "../../ports/forge.ts";
import type { PullRequestRecord, Usage } from "../../ports/records.ts";
import type { Project, Store, StoredArtifact, StoredEffect } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";
import { type PartOfTask, partsOf } from "../parts.ts";
import { noteTime, remoteName, type TicketsOf, targetOf } from "../project.ts";
import type { Submit } from "../submit.ts";
import { type ProjectForge, type PushPorts, pushableWork, pushedRef, pushWork, type TaskWork } from "./push-task.ts";

/** A pull request that exists only in the daemon's records. */
interface AskedPullRequest extends PullRequest {
  readonly body: string;
  readonly comments: Readonly<Record<string, string>>;
}

/** The pull requests of a project without a forge, kept in the records of its tasks. */
export function askedPullRequests({ store, clock }: { store: Store; clock: Clock }, project: string) {
  return {
    async list(): Promise<readonly AskedPullRequest[]> {
      const records = await store.pullRequests.list({ project });
      return records.filter(({ url }) => url === "").map(toAsked);
    },
    async save(asked: AskedPullRequest): Promise<void> {
      const records = await store.pullRequests.list({ project });
      const known = records.find(({ url, number }) => url === "" && number === asked.number);
      const at = clock.now();
      const id = known?.id ?? (await store.findTask(asked.head, project))?.task.id;
      if (id === undefined)
        throw new Fault("task.missing", `No open task of ${project} has the branch "${asked.head}".`);
      await store.pullRequests.put({
        ...(known ?? { ...newRecord, id, project, task: id, at }),
        ...{ number: asked.number, head: asked.head, headCommit: asked.headCommit, base: asked.base },
        ...{ title: asked.title, body: asked.body, isDraft: asked.isDraft, comments: asked.comments },
        ...{ state: asked.state, mergedCommit: asked.mergedCommit ?? "", seenAt: at },
      });
    },
  };
}

/** The unknown fields of a pull request that was not checked yet. */
export const newRecord = { url: "", review: "none", checks: "none", comments: {}, told: {} } as const;

function toAsked(record: PullRequestRecord): AskedPullRequest {
  const { number, url, state, head, headCommit, base, isDraft, mergedCommit, title, body, comments } = record;
  const merged = mergedCommit === "" ? undefined : mergedCommit;
  return { number, url, state, head, headCommit, base, isDraft, mergedCommit: merged, title, body, comments };
}

export interface MergePorts extends PushPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  mergeMethod(): Config["forgeMerge"];
}

type PullRequestMerge =
  /** The task has no pull request on a forge. */
  | { readonly kind: "none" }
  | { readonly kind: "merged"; readonly commit: string }
  | {
      readonly kind: "refused";
      readonly word: "unapproved" | "unmergeable";
      /** A sentence. */
      readonly reason: string;
      /** The forge does not know yet; it may know soon. */
      readonly isUndecided: boolean;
    };

/**
 * Merges the task's pull request on the forge if it is approved and nothing prevents it. With `only`, it must be at
 * that commit. `isPersonsWord`: a person wants it merged, which counts as the approval where the forge demands none, because
 * nobody can approve their own pull request.
 */
export function mergePullRequest(
  ports: MergePorts,
  project: Project,
  task: Task,
  only?: string,
  isPersonsWord = false,
): Promise<PullRequestMerge> {
  return ports.inTurn(`forge ${task.id}`, async () => {
    const place = await ports.forgeOf(project);
    if (place.kind === "none") return { kind: "none" };
    const found = await findOwn(ports, place, task);
    if (found === undefined) return { kind: "none" };
    const result =
      found.state === "open"
        ? await mergeOpen(ports, place, project, task, found.number, only, isPersonsWord)
        : over(found);
    if (result.kind === "merged") await noteMerge(ports, place, project, task, result.commit);
    return result;
  });
}

async function findOwn({ store }: MergePorts, { forge }: ProjectForge, task: Task): Promise<PullRequest | undefined> {
  const record = await store.pullRequests.get(task.id);
  if (record !== undefined && record.url !== "") return forge.getPullRequest(record.number);
  return forge.findPullRequest(task.branch);
}

function over({ state, number, mergedCommit = "" }: PullRequest): PullRequestMerge {
  return state === "merged"
    ? { kind: "merged", commit: mergedCommit }
    : refused("unmergeable", `Pull request ${number} is closed.`);
}

async function mergeOpen(
  ports: MergePorts,
  { forge }: ProjectForge,
  project: Project,
  task: Task,
  number: number,
  only: string | undefined,
  isPersonsWord: boolean,
): Promise<PullRequestMerge> {
  const status = await forge.statusOf(number);
  const obstacle = obstacleIn(status, isPersonsWord);
  if (obstacle !== undefined) return obstacle;
  const { control } = await ports.workspacesOf(project);
  // Commits that others have pushed since were not reviewed here.
  const expectedHead = (await control.commitAt(pushedRef(task.id))) ?? status.pullRequest.headCommit;
  if (only !== undefined && only !== expectedHead) {
    const [at, approved] = [expectedHead.slice(0, 10), only.slice(0, 10)];
    const push = `Push it: signalbox task create-pr ${task.id}`;
    return refused(
      "unmergeable",
      `Pull request ${number} is at ${at}, not at ${approved}, which was approved. ${push}`,
    );
  }
  const result = await forge.merge(number, { method: ports.mergeMethod(), expectedHead });
  if (result.kind === "merged") return result;
  return refused(result.kind === "unapproved" ? "unapproved" : "unmergeable", result.reason);
}

/** An absence of objections is no approval. */
function obstacleIn(
  { pullRequest: { number }, review, mergeable }: PullRequestStatus,
  isPersonsWord: boolean,
): PullRequestMerge | undefined {
  if (review === "changes-requested") return refused("unapproved", `Changes are asked for in pull request ${number}.`);
  if (review !== "approved" && !(review === "none" && isPersonsWord))
    return refused("unapproved", `Pull request ${number} is not approved.`);
  if (mergeable === "no") return refused("unmergeable", `Pull request ${number} has conflicts.`);
  if (mergeable === "yes") return undefined;
  return refused("unmergeable", `The forge does not know yet whether pull request ${number} can be merged.`, true);
}

function refused(word: "unapproved" | "unmergeable", reason: string, isUndecided = false): PullRequestMerge {
  return { kind: "refused", word, reason, isUndecided };
}

/** Records the merge. A failure here does not matter: the next check of the forge reports the same. */
async function noteMerge(
  { store, clock, log, workspacesOf }: MergePorts,
  { remote }: ProjectForge,
  project: Project,
  task: Task,
  commit: string,
): Promise<void> {
  const record = await store.pullRequests.get(task.id);
  if (record !== undefined)
    await store.pullRequests.put({ ...record, state: "merged", mergedCommit: commit, seenAt: clock.now() });
  if (remote === undefined) return;
  const { control } = await workspacesOf(project);
  await control
    .syncFrom({ from: remote, name: remoteName })
    .catch((error) => log.warn("The control repository could not be synced", { task: task.id, error }));
}

export interface OpenPorts extends PushPorts {
  readonly log: Log;
  readonly ticketsOf: TicketsOf;
  workflowOf(task: Task): Promise<Workflow>;
  readonly clock: Clock;
  readonly submit: Submit;
  readonly inTurn: Turns;
  /** A pull request was opened, and must be watched. */
  opened(): void;
}

interface WantedText {
  /** Empty: the task's summary. */
  readonly title?: string | undefined;
  /** Empty: the task's summary. The facts about the task follow in any case. */
  readonly body?: string | undefined;
  readonly isDraft?: boolean | undefined;
}

/**
 * Opens the task's pull request, or updates the one that it has: pushes its branch, and stores the address in the task.
 * Idempotent.
 */
export function openPullRequest(
  ports: OpenPorts,
  project: Project,
  task: Task,
  wanted: WantedText,
): Promise<PullRequestRecord> {
  return ports.inTurn(`forge ${task.id}`, async () => {
    const before = await ports.store.pullRequests.get(task.id);
    const work = await pushableWork(ports, project, task);
    const record = await open(ports, project, task, work, wanted);
    await ports.store.pullRequests.put(record);
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { prUrl: record.url } });
    if (!isSame(before, record)) await ports.store.addEvents(task.id, [opening(record)], ports.clock.now());
    ports.opened();
    await nameOnIssue(ports, project, task, record);
    return record;
  });
}

/** The issue that the task was made from gets one comment with the pull request. A ticket file is written only when it is closed. */
async function nameOnIssue(
  { store, log, clock, ticketsOf }: OpenPorts,
  project: Project,
  { id, number, ticket = "" }: Task,
  record: PullRequestRecord,
): Promise<void> {
  if (ticket === "" || record.url === "" || record.told[issueTold] === record.url) return;
  try {
    const tickets = ticketsOf(project);
    if (tickets.place !== "issue") return;
    const text = `Task ${project.name}#${number} (${id}) has opened pull request #${record.number}: ${record.url}`;
    await tickets.change(ticket, { note: { text, at: noteTime(clock.now()) } });
  } catch (error) {
    if (error instanceof Fault && error.retry === "later") throw error;
    log.warn("The issue of a task could not be told of its pull request", { task: id, ticket, error });
  }
  await store.pullRequests.put({ ...record, told: { ...record.told, [issueTold]: record.url } });
}

const issueTold = "issue";

async function open(
  ports: OpenPorts,
  project: Project,
  task: Task,
  work: TaskWork,
  { title = "", body = "", isDraft = false }: WantedText,
): Promise<PullRequestRecord> {
  const { store, clock } = ports;
  const { forge } = await ports.forgeOf(project);
  const parts = await partsOf(ports, task);
  const usage = await Promise.all(
    [task, ...parts.map((part) => part.task)].map(({ id }) => store.usage.list({ task: id })),
  );
  const there = await forge.findPullRequest(work.branch);
  const isMerged = there?.state === "merged" && there.headCommit === work.commit;
  const text = {
    title: title.trim() || task.summary.trim() || `${task.project}#${task.number}`,
    body: renderPullRequestBody({
      task,
      text: body,
      artifacts: (await store.listArtifacts(task.id)).filter(({ document }) => document === undefined),
      effects: await store.listEffects(task.id),
      usage: usage.flat(),
      parts,
    }),
  };
  // A branch that was merged and deleted must not come back because of a repeated request.
  if (!isMerged) await pushWork(ports, project, task, work);
  const found =
    there !== undefined && isMerged
      ? there
      : await forge.openPullRequest({ head: work.branch, base: targetOf(project, task), draft: isDraft, ...text });
  return recordOf(await store.pullRequests.get(task.id), task, found, work.commit, text, clock.now());
}

function recordOf(
  before: PullRequestRecord | undefined,
  { id, project }: Task,
  found: PullRequest,
  commit: string,
  text: { readonly title: string; readonly body: string },
  at: number,
): PullRequestRecord {
  const { number, url, state, head, base, isDraft, mergedCommit = "" } = found;
  const known = before !== undefined && before.number === number && before.url === url ? before : undefined;
  return {
    ...(known ?? { ...newRecord, ...text, id, project, task: id, at }),
    ...{ number, url, state, head, headCommit: commit, base, isDraft, mergedCommit, seenAt: at },
  };
}

function isSame(before: PullRequestRecord | undefined, after: PullRequestRecord): boolean {
  return before !== undefined && before.number === after.number && before.url === after.url;
}

function opening({ number, url, head, base }: PullRequestRecord): TaskEvent {
  return { type: "pr.opened", by: "engine", data: { number, url, head, base }, set: {} };
}

interface PullRequestFacts {
  readonly task: Pick<Task, "id" | "project" | "number" | "summary" | "workflow">;
  /** A text that replaces the summary; empty for the summary. */
  readonly text: string;
  /** The evidence that passed gates, the oldest first. */
  readonly artifacts: readonly Pick<StoredArtifact, "section" | "role" | "commit">[];
  readonly effects: readonly Pick<StoredEffect, "effect" | "state" | "failure">[];
  readonly usage: readonly Pick<Usage, "run" | "inputTokens" | "outputTokens" | "cost">[];
  /** The parts of its plan. */
  readonly parts: readonly PullRequestPart[];
}

type PullRequestPart = Pick<PartOfTask, "title" | "outcome"> & { readonly task: Pick<Task, "reason"> };

/** The body of a task's pull request. Unknown facts are said to be unknown. */
export function renderPullRequestBody({ task, text, artifacts, effects, usage, parts }: PullRequestFacts): string {
  const about = text.trim() || task.summary.trim();
  return [
    ...(about === "" ? [] : [about, ""]),
    `Task ${task.project}#${task.number} (\`${task.id}\`), workflow \`${task.workflow}\`.`,
    "",
    ...partLines(parts),
    ...(parts.length > 0 && artifacts.length === 0 ? [] : gateLines(artifacts)),
    `**Tests:** ${testsText(effects)}`,
    `**Cost:** ${costText(usage)}`,
    "",
  ].join("\n");
}

const partWords = { done: "done", failed: "failed", cancelled: "skipped" } as const;

/** What was not done says why: the reviewer must know what is missing. */
function partLines(parts: PullRequestFacts["parts"]): readonly string[] {
  if (parts.length === 0) return [];
  const rows = parts.map(({ title, outcome, task: { reason } }) => {
    const why = outcome === "done" ? "" : cell(oneLine(reason)).slice(0, maxReason);
    return `| ${cell(title)} | ${outcome === undefined ? "not finished" : partWords[outcome]} | ${why} |`;
  });
  return ["| part | result | reason |", "| --- | --- | --- |", ...rows, ""];
}

const maxReason = 300;

/** Of a section that passed several times, only the last one counts. */
function gateLines(artifacts: PullRequestFacts["artifacts"]): readonly string[] {
  const last = new Map(artifacts.map((each) => [each.section, each]));
  if (last.size === 0) return ["No gate has been passed yet.", ""];
  const rows = [...last.values()].map(
    ({ section, role, commit }) =>
      `| ${cell(section)} | ${cell(role) || "unknown"} | ${commit === "" ? "–" : `\`${commit.slice(0, 12)}\``} |`,
  );
  return ["| evidence | by | for commit |", "| --- | --- | --- |", ...rows, ""];
}

/** Only tests that the engine has run count. */
function testsText(effects: PullRequestFacts["effects"]): string {
  const last = effects.findLast(({ effect, state }) => effect.action === "run_tests" && state !== "dropped");
  if (last === undefined) return "not run by Signalbox.";
  if (last.state === "done") return "passed.";
  if (last.failure === undefined) return "not run yet.";
  if (last.failure.word === "untested") return "none were found.";
  return last.failure.word === "tests" ? "failed." : "did not run to their end.";
}

function costText(usage: PullRequestFacts["usage"]): string {
  if (usage.length === 0) return "unknown.";
  const known = usage.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  const tokens = usage.reduce((sum, each) => sum + each.inputTokens + each.outputTokens, 0);
  const sum = known.reduce((total, cost) => total + cost, 0).toFixed(2);
  const runs = new Set(usage.map(({ run }) => run)).size;
  const of = `${tokens} tokens in ${runs} ${runs === 1 ? "run" : "runs"}`;
  if (known.length === 0) return `unknown (${of}).`;
  return known.length === usage.length ? `$${sum} (${of}).` : `at least $${sum}, the rest is unknown (${of}).`;
}

/** Escapes whatever would end a cell or a row of the table. */
function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}
