import { hash as hashed } from "node:crypto";
import type { TaskDocument } from "../documents/task-document.ts";
import { asksForFact } from "../engine/asked-facts.ts";
import type { TaskEvent } from "../engine/decision.ts";
import { startOf } from "../engine/persons-turn.ts";
import { mergesTask } from "../engine/proofs.ts";
import type { Artifact, FactName, Facts, Unreadable } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Author, Store, StoredArtifact, StoredDocument } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import { childNumbers } from "./children/child-tasks.ts";
import { withHandedDown } from "./dependencies.ts";
import { type Addition, addToSection, parsedDocument, writeDocument } from "./task-documents.ts";
import { nothingOutside, type Outside, type OutsideOf, type WorkspaceFacts } from "./workspaces/outside.ts";
import { whyUnsealed } from "./workspaces/sealed-file.ts";
import type { WrittenFile } from "./workspaces/task-files.ts";

export interface LookPorts {
  readonly store: Store;
  /** The workflow that a task is pinned to. */
  workflowOf(task: Task): Promise<Workflow>;
  readonly factsOf: FactsOf;
  /** Reads the task's workspace; missing where there are no workspaces. */
  readonly outsideOf?: OutsideOf;
}

/** Everything that a decision about a task rests on. */
export interface Seen {
  readonly workflow: Workflow;
  readonly facts: Facts;
  /** Includes what the agents have written since it was saved. */
  readonly document: StoredDocument;
  /** The sections that they have written, for the history. */
  readonly changes: readonly TaskEvent[];
  /** The problems of the workspace or its task files, with what to do about them. */
  readonly troubles: readonly Unreadable[];
}

/** For callers that must have an answer, whatever is wrong with the workspace and however slow git is. */
export interface TimeLimit {
  readonly clock: Clock;
  /** Milliseconds to wait for the workspace; without a limit where it is missing. */
  readonly limit?: number;
}

export const lookTimeout = 5_000;

interface HandedIn {
  readonly role: string;
  readonly run?: string;
  /** A task file, or an addition to a section; undefined where nothing is handed in. */
  readonly text: string | Addition | undefined;
  /** The caller asks for a state, and thereby says that its task file is its own work. */
  readonly asks?: boolean;
  /** The run whose end is being reported. All its processes have ended. */
  readonly ended?: string;
  /** The request may start the task, so its dependencies hand their sections down. */
  readonly starts?: boolean;
  /** The requested state, if the work must be merged before the task may end there. */
  readonly mergedFor?: string;
}

/**
 * Reads a task's workspace, and its document with what was handed in. Saves nothing. With `timeLimit`, an unreadable
 * workspace is no error: then the stored document counts, and no gate opens.
 */
export async function gatherFacts(
  { store, workflowOf, factsOf, outsideOf = noOutside }: LookPorts,
  task: Task,
  given: HandedIn = { role: "engine", text: undefined },
  timeLimit?: TimeLimit,
): Promise<Seen> {
  const workflow = await workflowOf(task);
  let document = await store.getDocument(task.id);
  const mustBeMerged = given.mergedFor !== undefined && workflow.states[given.mergedFor]?.outcome === "done";
  const looking = outsideOf(task, {
    main: mustBeMerged || asksForFact(workflow, task.status, "merged") || isPromised(workflow, task),
    changes: given.ended !== undefined,
    newCommits: asksForFact(workflow, task.status, "new_commits"),
  });
  const outside = await (timeLimit === undefined ? looking : withinLimit(looking, timeLimit));
  const head = outside.facts?.head ?? "";
  const changes: TaskEvent[] = [];
  const left = outside.files.find(({ run, isShared }) => isShared && run === given.ended);
  const unsealed = left === undefined ? "" : await whyUnsealed(store, task, left);
  const counts = (file: WrittenFile) =>
    !file.isShared || (given.asks === true && given.run === file.run) || (file === left && unsealed === "");
  const texts = [...outside.files.filter(counts), given].filter(({ text }) => text !== undefined);
  const about = texts.length === 0 ? () => head : await aboutOf(store, task, head);
  for (const { role, run, text } of texts) {
    if (text === undefined) continue;
    const author = run === undefined || run === "" ? { role } : { role, run };
    const written =
      typeof text === "string"
        ? writeDocument(workflow, document, text, author, about(run))
        : addToSection(document, text, author, about(run));
    if (written.changed.length === 0) continue;
    document = written.document;
    const writer = typeof text === "string" || text.by === undefined ? author : { role: text.by };
    changes.push(documentChanged(writer, written.changed));
  }
  if (given.starts === true && startOf(workflow, task) !== undefined) {
    const handed = await withHandedDown(store, task, document);
    document = handed.document;
    if (handed.changed.length > 0) changes.push(documentChanged({ role: "engine" }, handed.changed));
    if (handed.cut.length > 0)
      changes.push({ type: "document.incomplete", by: "engine", data: { sections: [], cut: handed.cut }, set: {} });
    if (handed.missing.length > 0)
      changes.push({ type: "document.incomplete", by: "engine", data: { sections: handed.missing, cut: [] }, set: {} });
  }
  if (left !== undefined && unsealed !== "") {
    const { changed } = writeDocument(workflow, document, left.text, left, head);
    if (changed.length > 0) changes.push(documentUnclaimed(left, changed, unsealed));
  }
  const { unreadable } = outside;
  const read = unreadable === undefined ? outside.facts : { ...(outside.facts ?? unseen(task)), unreadable };
  const seen = hasFanOut(workflow) ? await withChildren({ store, workflowOf }, task, read) : read;
  return { workflow, facts: await factsOf(task, document, seen), document, changes, troubles: troublesOf(outside) };
}

/** The children of a fan-out are counted in the state that waits for them, and in those after it. */
async function withChildren(
  ports: Pick<LookPorts, "store" | "workflowOf">,
  task: Task,
  facts: WorkspaceFacts = unseen(task),
): Promise<WorkspaceFacts> {
  return { ...facts, numbers: { ...facts.numbers, ...(await childNumbers(ports, task)) } };
}

function hasFanOut(workflow: Workflow): boolean {
  const before = fanningOut.get(workflow);
  if (before !== undefined) return before;
  const has = Object.values(workflow.states).some(({ wait }) => wait.kind === "fan_out");
  fanningOut.set(workflow, has);
  return has;
}

const fanningOut = new WeakMap<Workflow, boolean>();

/** The commit that a run's words are about: what a judge was given, else the present one. */
async function aboutOf(store: Store, { id }: Task, head: string): Promise<(run: string | undefined) => string> {
  const given = new Map((await store.workspaces.list({ task: id })).map(({ run, commit }) => [run, commit]));
  return (run) => (run === undefined || run === "" ? head : (given.get(run) ?? head));
}

async function withinLimit(looking: Promise<Outside>, { clock, limit }: TimeLimit): Promise<Outside> {
  if (limit === undefined) return looking.catch(unseenBecause);
  let cancel = () => {};
  const late = new Promise<Outside>((resolve) => {
    const reason = `The workspace could not be read within ${limit / 1000} s.`;
    const fix = "See whether its disk answers, and what git does there: signalbox doctor";
    cancel = clock.after(limit, () => resolve({ ...nothingOutside, unreadable: { reason, fix } }));
  });
  try {
    return await Promise.race([looking.catch(unseenBecause), late]);
  } finally {
    cancel();
  }
}

function unseenBecause(error: unknown): Outside {
  const why = error instanceof Error ? error.message : String(error);
  const fix = error instanceof Fault ? (error.hint ?? "") : "See the log and run the checks: signalbox doctor";
  return { ...nothingOutside, unreadable: { reason: `The workspace cannot be read. ${why}`, fix } };
}

function troublesOf({ unreadable, gone }: Outside): readonly Unreadable[] {
  const missing = gone.map((name) => ({
    reason: `${name} was missing from the workspace. Its last content that was read still counts.`,
    fix: "The daemon writes it again from the stored document.",
  }));
  return [...(unreadable === undefined ? [] : [unreadable]), ...missing];
}

/**
 * Whether a decision about a task in its state depends on facts that are gathered for that state alone. Facts that were
 * gathered while it was in another state do not tell them.
 */
export function needsOwnLook(workflow: Workflow, task: Task): boolean {
  const { status } = task;
  return ownFacts.some((fact) => asksForFact(workflow, status, fact)) || isPromised(workflow, task);
}

const ownFacts: readonly FactName[] = ["merged", "commits", "new_commits"];

/**
 * Whether a promise about a way out of the task's state needs the branch: to see that the work is merged, where the state does
 * not merge it itself, and to compare commits, where the task has no workspace.
 */
function isPromised({ states, promises }: Workflow, { status, workspace }: Task): boolean {
  const state = states[status];
  return promises.some((promise) => {
    if (promise.kind !== "after" || state?.out[promise.to] === undefined) return false;
    return workspace === "" || (promise.evidence.kind === "merged" && !state.do.some(mergesTask));
  });
}

const noOutside: OutsideOf = async () => nothingOutside;

export function documentChanged(
  { role, run }: { readonly role: string; readonly run?: string },
  sections: readonly string[],
): TaskEvent {
  return {
    type: "document.changed",
    by: role,
    data: { sections, ...(run === undefined ? {} : { run }) },
    set: {},
  };
}

/** These may not be the run's own words: they do not count, and the event shows where they are. */
function documentUnclaimed({ role, run }: WrittenFile, sections: readonly string[], reason: string): TaskEvent {
  return { type: "document.unclaimed", by: "engine", data: { role, run, sections, reason }, set: {} };
}

/** Gathers the facts outside of a task. */
export type FactsOf = (task: Task, document?: StoredDocument, workspace?: WorkspaceFacts) => Promise<Facts>;

export function createFacts(store: Store, poolFull: (task: Task) => Promise<boolean>): FactsOf {
  return async (task, given, workspace = unseen(task)) => {
    const stored = given ?? (await store.getDocument(task.id));
    const isFull = task.workspace === "" && (await poolFull(task));
    // Half of all decisions do not need the document, and parsing it is a third of the cost of a decision.
    const document = () => parsedDocument(stored);
    let artifacts: Facts["artifacts"] | undefined;
    return {
      get document() {
        return document();
      },
      get artifacts() {
        artifacts ??= artifactsOf(document(), stored.authors);
        return artifacts;
      },
      ...workspace,
      numbers: { ...workspace.numbers, protected: (task.protectedChanges ?? []).length > 0 ? 1 : 0 },
      poolFull: isFull,
    };
  };
}

/** Without access to workspaces, all that is known is whether there is one. */
function unseen(task: Task): WorkspaceFacts {
  return { head: "", numbers: { workspace: task.workspace === "" ? 0 : 1 }, taskFileTracked: false };
}

/** The authors of the sections that are unchanged since their author wrote them. */
function artifactsOf(
  document: TaskDocument,
  authors: Readonly<Record<string, Author>>,
): Readonly<Record<string, Artifact>> {
  const artifacts: Record<string, Artifact> = Object.create(null);
  for (const [heading, { role, commit, fingerprint }] of Object.entries(authors)) {
    if (document.byHeading.get(heading)?.fingerprint === fingerprint) artifacts[heading] = { role, commit };
  }
  return artifacts;
}

/** The sections that let a task pass a gate, stored with the decision so that its reason can be found later. */
export function evidenceOf(
  task: string,
  events: readonly TaskEvent[],
  facts: Facts,
  authors: StoredDocument["authors"],
  at: number,
): readonly StoredArtifact[] {
  return events.flatMap(({ data }) => {
    if (!Array.isArray(data.evidence)) return [];
    return data.evidence.flatMap((heading: string) => {
      const section = facts.document.byHeading.get(heading);
      if (section === undefined) return [];
      const { role = "", run = "" } = (Object.hasOwn(authors, heading) ? authors[heading] : undefined) ?? {};
      const hash = hashed("sha256", section.body);
      return [{ task, section: heading, text: section.body, hash, role, run, commit: facts.head, at }];
    });
  });
}

/** Adds to the history which content counted, and which run asked. */
export function withEvidence(
  events: readonly TaskEvent[],
  artifacts: readonly StoredArtifact[],
  run: string | undefined,
): readonly TaskEvent[] {
  if (artifacts.length === 0 && run === undefined) return events;
  const evidence = artifacts.map(({ section, hash, role, run, commit }) => ({ section, hash, role, run, commit }));
  return events.map((event, index) => {
    const data = {
      ...event.data,
      ...(run !== undefined && index === 0 ? { run } : {}),
      ...(Array.isArray(event.data.evidence) ? { evidence } : {}),
    };
    return { ...event, data } as TaskEvent;
  });
}
