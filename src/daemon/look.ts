import type { TaskEvent } from "../engine/decision.ts";
import type { Facts, Unreadable } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { State, Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store, StoredDocument } from "../ports/store.ts";
import { type FactsOf, unseen } from "./facts.ts";
import { nothingOutside, type Outside, type OutsideOf } from "./workspaces/outside.ts";
import type { WrittenFile } from "./workspaces/task-files.ts";
import { type Addition, addToSection, writeDocument } from "./write-document.ts";

export interface LookPorts {
  readonly store: Store;
  /** The workflow a task is pinned to. */
  workflowOf(task: Task): Promise<Workflow>;
  readonly factsOf: FactsOf;
  /** What the task's workspace says; nothing where there are no workspaces. */
  readonly outsideOf?: OutsideOf;
}

/** Everything that a decision about a task rests on. */
export interface Seen {
  readonly workflow: Workflow;
  readonly facts: Facts;
  /** With what the agents have written since it was saved. */
  readonly document: StoredDocument;
  /** What they have written, for history. */
  readonly changes: readonly TaskEvent[];
  /** What is wrong with the workspace or its task files, with what to do about it. */
  readonly troubles: readonly Unreadable[];
}

/** Who must have an answer whatever is wrong with the workspace, or however long git takes. */
export interface Patience {
  readonly clock: Clock;
  /** Milliseconds to wait for the workspace; as long as it takes where it is missing. */
  readonly limit?: number;
}

export const lookPatience = 5_000;

interface HandedIn {
  readonly role: string;
  readonly run?: string;
  /** A task file, or what is added to a section; undefined where nothing is handed in. */
  readonly text: string | Addition | undefined;
  /** It asks for a state, and says with that that its task file is its own word. */
  readonly asks?: boolean;
  /** The run that has ended, where that is what is told. */
  readonly ended?: string;
}

/**
 * Looks at a task's workspace, and at its document with what was handed in. Saves nothing. With `patience`, a workspace that
 * cannot be looked at is no error: then what is stored counts, and no gate opens.
 */
export async function look(
  { store, workflowOf, factsOf, outsideOf = noOutside }: LookPorts,
  task: Task,
  given: HandedIn = { role: "engine", text: undefined },
  patience?: Patience,
): Promise<Seen> {
  const workflow = await workflowOf(task);
  let document = await store.getDocument(task.id);
  const looking = outsideOf(task, asksForMain(workflow, task));
  const outside = await (patience === undefined ? looking : lookedAtInTime(looking, patience));
  const head = outside.facts?.head ?? "";
  const changes: TaskEvent[] = [];
  const isMeant = ({ run, isShared }: WrittenFile) => !isShared || (given.asks === true && given.run === run);
  for (const { role, run, text } of [...outside.files.filter(isMeant), given]) {
    if (text === undefined) continue;
    const author = run === undefined || run === "" ? { role } : { role, run };
    const written =
      typeof text === "string"
        ? writeDocument(workflow, document, text, author, head)
        : addToSection(document, text, author, head);
    if (written.changed.length === 0) continue;
    document = written.document;
    const writer = typeof text === "string" || text.by === undefined ? author : { role: text.by };
    changes.push(documentChanged(writer, written.changed));
  }
  for (const file of outside.files.filter((file) => file.run === given.ended && !isMeant(file))) {
    const { changed } = writeDocument(workflow, document, file.text, file, head);
    if (changed.length > 0) changes.push(documentUnclaimed(file, changed));
  }
  const { unreadable } = outside;
  const seen = unreadable === undefined ? outside.facts : { ...(outside.facts ?? unseen(task)), unreadable };
  return { workflow, facts: await factsOf(task, document, seen), document, changes, troubles: troublesOf(outside) };
}

async function lookedAtInTime(looking: Promise<Outside>, { clock, limit }: Patience): Promise<Outside> {
  if (limit === undefined) return looking.catch(unseenBecause);
  let cancel = () => {};
  const late = new Promise<Outside>((resolve) => {
    const reason = `The workspace could not be looked at within ${limit / 1000} s.`;
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
  const fix = error instanceof Fault ? (error.hint ?? "") : "Look at the log: signalbox doctor";
  return { ...nothingOutside, unreadable: { reason: `The workspace cannot be looked at. ${why}`, fix } };
}

function troublesOf({ unreadable, gone }: Outside): readonly Unreadable[] {
  const missing = gone.map((name) => ({
    reason: `${name} was gone from the workspace. What was read from it before still counts.`,
    fix: "The daemon writes it again from what is stored.",
  }));
  return [...(unreadable === undefined ? [] : [unreadable]), ...missing];
}

/** Whether a way out of the task's state, or a rule of it, depends on what was merged. */
function asksForMain({ states }: Workflow, { status }: Task): boolean {
  const state = states[status];
  if (state === undefined) return false;
  const before = askingForMain.get(state);
  if (before !== undefined) return before;
  const guards = [...Object.values(state.out).flat(), ...state.rules].flatMap(({ when }) => when);
  const asks = guards.some(({ source, field }) => source === "fact" && field === "merged");
  askingForMain.set(state, asks);
  return asks;
}

const askingForMain = new WeakMap<State, boolean>();

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

/** Nobody can tell whether these were the run's words: they do not count, and whoever wonders why finds them in its file. */
function documentUnclaimed({ role, run }: WrittenFile, sections: readonly string[]): TaskEvent {
  return { type: "document.unclaimed", by: "engine", data: { role, run, sections }, set: {} };
}
