import type { TaskEvent } from "../../engine/decision.ts";
import { emptyLedger, type Finding, isUnsettled, type Ledger } from "../../engine/findings.ts";
import { unreadMessages } from "../../engine/handed.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { ForgeOf, ProjectForge } from "../forge/push-task.ts";
import { eventsOf, projectOf, targetOf } from "../project.ts";

interface PostCommentPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly inTurn: Turns;
  readonly forgeOf: ForgeOf;
}

/**
 * Comments on the task's pull request. A text of the workflow's is posted once for each key. Without one, the comment is about
 * the last review, with the messages for the people who decide next. It is posted once for that review, however often the action
 * is repeated. Where the project has no forge, the comment is only recorded.
 */
export async function postComment(
  ports: PostCommentPorts,
  workflow: Workflow,
  task: Task,
  given: { readonly text: string; readonly key: string },
): Promise<void> {
  const { ledger = emptyLedger } = task;
  const isOfRound = given.text === "" && ledger.round > 0;
  const comment = {
    key: isOfRound ? `${task.id}:round:${ledger.round}` : given.key,
    round: isOfRound ? ledger.round : 0,
    text: given.text || joinParts([writeRound(ledger), ...messagesForGate(workflow, task)]),
  };
  const project = await projectOf(ports.store, task.project);
  // The watch of pull requests writes the same record.
  await ports.inTurn(`forge ${task.id}`, () => post(ports, project, task, comment));
}

/** The unread messages for the state in which a person decides next. */
function messagesForGate({ states }: Workflow, task: Task): readonly string[] {
  const next = (states[task.status]?.rules ?? []).flatMap(({ does }) => (does.kind === "then" ? [does.to] : []));
  const gates = [...new Set([task.status, ...next])].filter((name) => states[name]?.wait.kind === "human");
  return [...new Set(gates.flatMap((gate) => unreadMessages(task, gate)))].map(({ text }) => quoted(text));
}

/** As a quotation, which ends what the text leaves open in Markdown, such as a fence. */
function quoted(text: string): string {
  return visible(text)
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** The text of an agent for Markdown. An open HTML comment would hide all that follows it. */
function visible(text: string): string {
  return text.replace(/<(?=[!?])/g, "&lt;");
}

/** One comment of several texts, with a rule between them. */
function joinParts(parts: readonly string[]): string {
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n\n---\n\n");
}

interface Comment {
  /** The same for every repetition of the comment. */
  readonly key: string;
  /** The number of the review that it is about; 0 for a text of the workflow's. */
  readonly round: number;
  readonly text: string;
}

/** Saves the text, posts it, then records that it was posted: whatever happens in between, there is one comment with one text. */
async function post(ports: PostCommentPorts, project: Project, task: Task, comment: Comment): Promise<void> {
  const { store, clock } = ports;
  const place = await ports.forgeOf(project);
  const found = await recordFor(ports, place, project, task);
  const isPosted = `comment ${comment.key}`;
  if (Object.hasOwn(found.told, isPosted)) return;
  const known = Object.hasOwn(found.comments, comment.key) ? found.comments[comment.key] : undefined;
  const text = known ?? comment.text;
  const saved: PullRequestRecord = { ...found, comments: { ...found.comments, [comment.key]: text } };
  if (known === undefined) await store.pullRequests.put(saved);
  const { url } = await place.forge.comment(saved.number, text, comment.key);
  const data = { number: saved.number, url, round: comment.round, comment: comment.key };
  const event: TaskEvent = { type: "pr.commented", by: "engine", data, set: {} };
  if (known === undefined || !(await isRecorded(store, task.id, event)))
    await store.addEvents(task.id, [event], clock.now());
  await store.pullRequests.put({ ...saved, told: { ...saved.told, [isPosted]: url } });
}

/** The task's pull request. Without a forge it is made where none was asked for: nothing else could take the comment. */
async function recordFor(
  { store }: PostCommentPorts,
  { kind, forge }: ProjectForge,
  project: Project,
  task: Task,
): Promise<PullRequestRecord> {
  const found = await store.pullRequests.get(task.id);
  // A number that was given without a forge belongs to another pull request there.
  if (found !== undefined && (kind === "none" || found.url !== "")) return found;
  if (kind === "none") {
    const title = task.summary.trim() || `${task.project}#${task.number}`;
    await forge.openPullRequest({ head: task.branch, base: targetOf(project, task), title, body: "", draft: false });
    const made = await store.pullRequests.get(task.id);
    if (made !== undefined) return made;
  }
  throw new Fault("pr.missing", "The task has no pull request to comment on.", {
    hint: `Open one: signalbox task create-pr ${task.id}`,
  });
}

/** A daemon that was killed after the event was saved posts the comment again, which changes nothing. */
async function isRecorded(store: Store, task: string, { type, data }: TaskEvent): Promise<boolean> {
  for await (const { event } of eventsOf(store, task))
    if (event.type === type && event.data.comment === data.comment) return true;
  return false;
}

/** What the last review found, for people: what is to be dealt with, what is only noted, and what it closed. */
function writeRound({ round, commit, findings }: Ledger): string {
  const open = findings.filter(({ state }) => isUnsettled(state));
  const noted = findings.filter((each) => each.state === "noted" && each.round === round);
  const isClosed = (each: Finding, state: Finding["state"]) =>
    each.state === state && each.by !== "human" && each.commit === commit && each.round < round;
  const parts = [
    open.length === 0 ? "The review found nothing." : ["The review found:", "", ...open.map(writeFinding)].join("\n"),
    noted.length === 0 ? "" : ["Only noted:", "", ...noted.map(writeFinding)].join("\n"),
    closedLine("Fixed", findings, (each) => isClosed(each, "fixed")),
    closedLine("Dismissed", findings, (each) => isClosed(each, "dismissed")),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function closedLine(word: string, findings: readonly Finding[], isWanted: (finding: Finding) => boolean): string {
  const names = findings.filter(isWanted).map(({ id }) => id);
  return names.length === 0 ? "" : `${word}: ${names.join(", ")}.`;
}

function writeFinding({ id, title, evidence, file, line, severity }: Finding): string {
  const more = evidence === "" ? "" : `\n\n  ${visible(evidence).replaceAll("\n", "\n  ")}\n`;
  return `- ${id} **${severity}** ${visible(title)} (\`${file}${line > 0 ? `:${line}` : ""}\`)${more}`;
}
