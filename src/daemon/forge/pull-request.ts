import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { PullRequest } from "../../ports/forge.ts";
import type { PullRequestRecord, Usage } from "../../ports/records.ts";
import type { Project, Store, StoredArtifact, StoredEffect } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";
import { type PartOfTask, partsOf } from "../parts.ts";
import { noteTime, type TicketsOf, targetOf } from "../project.ts";
import type { Submit } from "../submit.ts";
import { leftOut } from "./left-out.ts";
import { type PushPorts, pushableWork, pushWork, type TaskWork } from "./push-task.ts";

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
  const { forge, remote } = await ports.forgeOf(project);
  const parts = await partsOf(ports, task);
  const usage = await Promise.all(
    [task, ...parts.map((part) => part.task)].map(({ id }) => store.usage.list({ task: id })),
  );
  const there = await forge.findPullRequest(work.branch);
  const isMerged = there?.state === "merged" && (await leftOut(ports, remote, project, task, there)) === undefined;
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
