import { sha256 } from "../sha256.ts";
import { cutText, oneLine, plainText } from "../text.ts";
import { answerProblem } from "./check-answer.ts";
import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { type GivenDocument, handOverTools, isItsAnswer, priorities, reportAnswer } from "./handed.ts";
import { rejected, standing } from "./move.ts";
import type { Facts, Request } from "./request.ts";
import { isAwaited, nameOf } from "./run-ended.ts";
import { specOf } from "./run-spec.ts";
import type { HandedDocument, Report, StageMessage, Task } from "./task.ts";
import type { RunSpec, Workflow } from "./workflow.ts";

type Complete = Extract<Request, { kind: "complete" }>;
type Send = Extract<Request, { kind: "message" }>;

const maxDocumentBytes = 1024 * 1024;
const maxDocuments = 50;
const maxTitle = 200;
const maxSummary = 4_000;
const maxMessage = 8_000;
/** How often one run may complete its work, each time with something new. */
const maxReports = 20;
/** Messages that one run may send, and that a task keeps. */
const maxSent = 20;
const maxMessages = 100;
/** Characters of all messages that a task keeps, because prompts have them. */
const maxMessagesLength = 200_000;

/**
 * A run says that its work is complete, and hands documents over. That is stored with the run: it is the run's answer when
 * the run ends, however it ends.
 */
export function complete(workflow: Workflow, task: Task, request: Complete, facts: Facts): Decision {
  const found = runOf(workflow, task, request, handOverTools.complete);
  if ("code" in found) return rejected(found);
  const { name, run, spec } = found;
  const state = stateOf(workflow, task.status);
  if (!isAwaited(state, task, name) || task.phase === "doing" || spec.mode === "dialogue") {
    const text = `"${task.status}" does not wait for ${name} to complete its work.`;
    return rejected({ code: "not-waiting", text, fix: "Do what you were asked last." });
  }
  const problem = reportProblem(workflow, spec, request) ?? documentsProblem(task, request.documents);
  if (problem !== undefined) return rejected(problem);
  const { outcome } = request;
  const [summary, reason] = [plainText(request.summary).trim(), plainText(request.reason).trim()];
  const hash = sha256(JSON.stringify([summary, outcome, reason, request.documents.map(contentOf)]));
  if (run.report?.hash === hash) return { kind: "ignored", why: "It has said the same before." };
  if (run.report !== undefined && run.report.outcome !== outcome) {
    const text = `${run.key} has completed its work with "${run.report.outcome}" before; it cannot say "${outcome}" as well.`;
    return rejected({ code: "answered", text, fix: "Stop here: the first outcome counts." });
  }
  const times = (run.report?.times ?? (run.report === undefined ? 0 : 1)) + 1;
  if (times > maxReports) {
    const text = `${run.key} has completed its work ${maxReports} times, which is the limit.`;
    return rejected({ code: "answered", text, fix: "Stop here: what you said last counts." });
  }
  const report: Report = { summary, outcome, reason, hash, ...(times === 1 ? {} : { times }) };
  const documents = withDocuments(task, request, run.key, facts.head);
  const handed = documents.filter((document) => !(task.documents ?? []).includes(document));
  const event: TaskEvent = {
    type: "work.completed",
    by: spec.role,
    data: {
      ...{ run: run.key, outcome, summary, reason },
      documents: handed.map(({ type, title, file, sha256: hash, bytes }) => ({ type, title, file, hash, bytes })),
    },
    set: {
      runs: { ...task.runs, [name]: { ...run, report } },
      ...(handed.length === 0 ? {} : { documents }),
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/** The live run that asks, and how it is made; or why it may not use the tool. */
function runOf(workflow: Workflow, task: Task, { actor }: Complete | Send, tool: string) {
  const state = stateOf(workflow, task.status);
  const refusal = standing({ ...state, wait: { kind: "none" } }, task, actor);
  if (refusal !== undefined) return refusal;
  const name = actor.run === undefined ? undefined : nameOf(task, actor.run);
  const run = name === undefined ? undefined : task.runs[name];
  if (name === undefined || run === undefined) {
    const text = "Only the run of an agent can do this.";
    return { code: "not-allowed", text, fix: "People move a task: signalbox task update --status STATE" } as const;
  }
  const spec = specOf(workflow, state, name);
  if (spec.tools?.includes(tool) === true) return { name, run, spec };
  const text = `"${task.status}" does not give ${name} the tool ${tool}.`;
  const given = spec.tools === undefined ? "" : ` It has: ${spec.tools.join(", ")}.`;
  return { code: "not-allowed", text, fix: `Do what your prompt asks.${given}` } as const;
}

function reportProblem(workflow: Workflow, spec: RunSpec, request: Complete): Reason | undefined {
  const { summary, outcome, reason } = request;
  if (summary.trim() === "") return bad("The summary is empty.", "Say in a sentence or two what was done.");
  for (const [name, text] of Object.entries({ summary, reason })) {
    if (text.length > maxSummary)
      return bad(
        `The ${name} has ${text.length} characters; at most ${maxSummary} are allowed.`,
        "Hand long texts over as documents.",
      );
    if (!text.isWellFormed())
      return bad(`The ${name} is not valid Unicode.`, "Send it as UTF-8 without half characters.");
  }
  if (!isItsAnswer(workflow, spec)) {
    if (outcome === "done") return undefined;
    return bad(
      `The outcome "${outcome}" means nothing here: nothing in the workflow follows from it.`,
      "Complete the work with the outcome done, and say with stage_message what is missing.",
    );
  }
  const problem = answerProblem(workflow, spec, reportAnswer(workflow, spec, request));
  return problem === undefined ? undefined : bad(problem, "Correct it, and complete the work again.");
}

function documentsProblem({ documents: before = [] }: Task, given: readonly GivenDocument[]): Reason | undefined {
  const seen = new Set<string>();
  for (const [i, document] of given.entries()) {
    const problem = documentProblem(document, `Document ${i + 1}`);
    if (problem !== undefined) return problem;
    const name = nameKey(document);
    if (seen.has(name))
      return bad(
        `Two documents have the type "${document.type}" and the title "${document.title}".`,
        "Give each its own title.",
      );
    seen.add(name);
  }
  const all = new Set([...before.map(nameKey), ...seen]).size;
  if (all <= maxDocuments) return undefined;
  return bad(
    `The task would have ${all} documents; at most ${maxDocuments} are allowed.`,
    "Hand a document over again under its old type and title to replace it.",
  );
}

function documentProblem({ type, title, text }: GivenDocument, which: string): Reason | undefined {
  if (!/^[a-z][a-z0-9_-]{0,39}$/.test(type))
    return bad(
      `The type of ${which.toLowerCase()} is ${JSON.stringify(cutText(type, 60))}, which is no word.`,
      "Use lower-case letters, digits, - and _, such as context-pack.",
    );
  if (title.trim() === "") return bad(`${which} has an empty title.`, "Give it a title.");
  if (title.length > maxTitle || title !== oneLine(title) || !title.isWellFormed())
    return bad(`The title of ${which.toLowerCase()} is not one line of at most ${maxTitle} characters.`, "Shorten it.");
  if (!text.isWellFormed() || text.includes("\0"))
    return bad(`"${title}" is not text in UTF-8.`, "Hand over text; commit other files to the branch.");
  const bytes = byteLength(text);
  if (bytes > maxDocumentBytes)
    return bad(
      `"${title}" has ${bytes} bytes; a document may have 1 MB (${maxDocumentBytes} bytes).`,
      "Shorten it, or split it into several documents.",
    );
  return text.trim() === "" ? bad(`"${title}" is empty.`, "Hand over a text.") : undefined;
}

function bad(text: string, fix: string): Reason {
  return { code: "bad-value", text, fix };
}

function contentOf({ type, title, text }: GivenDocument): readonly string[] {
  return [type, title, sha256(text)];
}

function nameKey({ type, title }: Pick<GivenDocument, "type" | "title">): string {
  return `${type} ${title}`;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The documents with the new ones at the end. A new one replaces that of the same type and title, and keeps its file's name. */
function withDocuments(task: Task, request: Complete, run: string, commit: string): readonly HandedDocument[] {
  let documents = task.documents ?? [];
  for (const { type, title, text } of request.documents) {
    const before = documents.find((document) => nameKey(document) === nameKey({ type, title }));
    const hash = sha256(text);
    if (before?.run === run && before.sha256 === hash) continue;
    const file = before?.file ?? freeName(type, title, documents);
    const document: HandedDocument = {
      ...{ type, title, file, sha256: hash, bytes: byteLength(text) },
      ...{ role: request.actor.role, run, commit, state: task.status, entry: task.entry },
    };
    documents = [...documents.filter((each) => each !== before), document];
  }
  return documents;
}

/** The name of a document's file in `.signalbox/documents`. */
function freeName(type: string, title: string, documents: readonly HandedDocument[]): string {
  const words = title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60)
    .replace(/-+$/, "");
  const name = words === "" || words === type ? type : `${type}-${words}`;
  const isTaken = (file: string) => documents.some((document) => document.file === file);
  for (let i = 1; ; i++) {
    const file = i === 1 ? `${name}.md` : `${name}-${i}.md`;
    if (!isTaken(file)) return file;
  }
}

/** A run sends a message to the agents, or the people, of another state, or of all. */
export function sendMessage(workflow: Workflow, task: Task, request: Send): Decision {
  const found = runOf(workflow, task, request, handOverTools.message);
  if ("code" in found) return rejected(found);
  const { run, spec } = found;
  const { to, priority } = request;
  const text = plainText(request.text).trim();
  const problem = messageProblem(workflow, to, text, request.text);
  if (problem !== undefined) return rejected(problem);
  const messages = task.stageMessages ?? [];
  const own = messages.filter((message) => message.run === run.key);
  if (own.some((message) => message.to === to && message.priority === priority && message.text === text))
    return { kind: "ignored", why: "It has sent the same before." };
  if (own.length >= maxSent)
    return rejected(
      bad(`${run.key} has sent ${own.length} messages, which is the limit.`, "Put the rest into a document."),
    );
  const message: StageMessage = {
    ...{ from: task.status, to, priority, text, role: spec.role, run: run.key, entry: task.entry, read: [] },
  };
  const dropped = roomFor(messages, message);
  if (dropped === undefined)
    return rejected(
      bad(
        `The task keeps at most ${maxMessages} messages of ${maxMessagesLength} characters, and none of them can be dropped for this one: they are not read yet.`,
        "Put it into a document.",
      ),
    );
  const event: TaskEvent = {
    type: "stage.messaged",
    by: spec.role,
    data: {
      ...{ run: run.key, from: task.status, to, priority, text },
      ...(dropped.length === 0 ? {} : { dropped: dropped.length }),
    },
    set: { addedMessage: message, ...(dropped.length === 0 ? {} : { droppedMessages: dropped }) },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/**
 * The places of the messages that are dropped for a new one; undefined where too many must stay. First go those that were read,
 * then those to all that one state at least has read, then unread ones of a lower priority; in each group the oldest first.
 */
function roomFor(messages: readonly StageMessage[], message: StageMessage): readonly number[] | undefined {
  const rank = ({ priority }: StageMessage) => priorities.indexOf(priority);
  const groupOf = (each: StageMessage) => {
    const isRead = each.read.length > 0;
    if (isRead && each.to !== "all") return 0;
    if (isRead && rank(each) <= rank(message)) return 1;
    return rank(each) < rank(message) ? 2 + rank(each) : undefined;
  };
  const spare = messages
    .flatMap((each, place) => {
      const group = groupOf(each);
      return group === undefined ? [] : [{ place, group, length: each.text.length }];
    })
    .toSorted((a, b) => a.group - b.group);
  const dropped: number[] = [];
  let length = messages.reduce((sum, { text }) => sum + text.length, message.text.length);
  while (messages.length - dropped.length >= maxMessages || length > maxMessagesLength) {
    const next = spare[dropped.length];
    if (next === undefined) return undefined;
    dropped.push(next.place);
    length -= next.length;
  }
  return dropped;
}

function messageProblem({ states, name }: Workflow, to: string, text: string, given: string): Reason | undefined {
  if (to !== "all" && !Object.hasOwn(states, to)) {
    const known = [...Object.keys(states), "all"].join(", ");
    return {
      code: "no-such-state",
      text: `The workflow "${name}" has no state ${JSON.stringify(cutText(to, 100))}.`,
      fix: `Send it to one of: ${known}.`,
    };
  }
  if (!given.isWellFormed())
    return bad("The message is not valid Unicode.", "Send it as UTF-8 without half characters.");
  if (text === "") return bad("The message is empty.", "Give a text.");
  if (given.length <= maxMessage) return undefined;
  return bad(
    `The message has ${given.length} characters; at most ${maxMessage} are allowed.`,
    "Hand long texts over as documents.",
  );
}
