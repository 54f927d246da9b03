import type { Request } from "./request.ts";
import type { Priority, Report, StageMessage, Task } from "./task.ts";
import type { RunSpec, Workflow } from "./workflow.ts";

// What runs hand over to the states after them: reports, documents and messages.

/** The names under which a workflow's `tools` give these abilities to a run. */
export const handOverTools = { complete: "work_complete", message: "stage_message" } as const;

/** Where the documents of a task are in its workspace and in the checkouts of its judges. */
export const documentsFolder = ".signalbox/documents";

/** A document as a run hands it over. */
export interface GivenDocument {
  readonly type: string;
  readonly title: string;
  readonly text: string;
}

export const priorities: readonly Priority[] = ["low", "normal", "high"];

/** Whether what a run says when its work is complete is the answer that the run was asked for. */
export function isItsAnswer(workflow: Workflow, { result }: RunSpec): boolean {
  const schema = result === undefined ? undefined : workflow.schemas[result];
  return schema !== undefined && Object.hasOwn(schema.properties ?? {}, "outcome");
}

/** The answer of a run that has completed its work: what its schema asks for of summary, outcome and reason. */
export function reportAnswer(
  workflow: Workflow,
  { result }: RunSpec,
  report: Pick<Report, "summary" | "outcome" | "reason">,
): unknown {
  const { summary, outcome, reason } = report;
  const properties = (result === undefined ? undefined : workflow.schemas[result]?.properties) ?? {};
  const said = { outcome, summary, ...(reason === "" ? {} : { reason }) };
  return Object.fromEntries(Object.entries(said).filter(([name]) => Object.hasOwn(properties, name)));
}

/** What a live run has said when its work was complete; undefined until then. */
export function reportOf({ runs }: Pick<Task, "runs">, run: string): Report | undefined {
  return Object.values(runs).find(({ key }) => key === run)?.report;
}

/** Whether a run that has said that its work is complete need not answer anything else. */
export function countsAsAnswer(workflow: Workflow, spec: RunSpec): boolean {
  return spec.result === undefined || isItsAnswer(workflow, spec);
}

/**
 * The end of a run that has completed its work: its report counts, however its program ended. Where it was asked for another
 * answer than a report, only that answer counts.
 */
export function withReport<End extends Extract<Request, { kind: "ended" }>>(
  workflow: Workflow,
  spec: RunSpec,
  report: Report | undefined,
  end: End,
): End {
  if (report === undefined || !countsAsAnswer(workflow, spec)) return end;
  const { reason: _, ...rest } = end;
  return { ...rest, word: "ok", answer: reportAnswer(workflow, spec, report) } as End;
}

/** The messages for a state, the most important first, then the oldest. */
export function messagesFor({ stageMessages = [] }: Task, state: string): readonly StageMessage[] {
  const rank = ({ priority }: StageMessage) => priorities.indexOf(priority);
  return stageMessages.filter(({ to }) => to === state || to === "all").toSorted((a, b) => rank(b) - rank(a));
}

/** Those that were sent since the task last left the state. */
export function unreadMessages(task: Task, state: string): readonly StageMessage[] {
  return messagesFor(task, state).filter(({ read }) => !read.includes(state));
}

/** The number that guards can ask for: the documents that were handed over since the task entered its state. */
export function handedNumber({ documents = [], entry }: Task, name: string): number | undefined {
  return name === "documents" ? documents.filter((document) => document.entry === entry).length : undefined;
}

/** For prompts: the documents of the task, with the paths of their files. */
export function writeDocuments({ documents = [] }: Task): string {
  return documents
    .map(({ title, type, file, state }) => `${documentsFolder}/${file}: ${title} (${type}, from ${state})`)
    .join("\n");
}

/** For prompts: the messages for the state that the task is in. */
export function writeMessages(task: Task): string {
  return messagesFor(task, task.status)
    .map(({ from, priority, text }) => `${from} (${priority}): ${text.replaceAll("\n", "\n  ")}`)
    .join("\n");
}
