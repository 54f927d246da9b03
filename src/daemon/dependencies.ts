import { withSection } from "../documents/task-document.ts";
import { type ChildTask, fanOutOptions, newestTries, planOf, stateOfChild } from "../engine/children.ts";
import {
  type Dependency,
  type DependencyFacts,
  type DependencyProblem,
  dependencyProblem,
  handedDownHeading,
  judgeDependency,
  readDependency,
  sectionProblem,
  storedDependency,
  writeDependency,
} from "../engine/dependency.ts";
import { startOf } from "../engine/persons-turn.ts";
import { type Item, planOrder } from "../engine/plan-order.ts";
import type { Part, Task } from "../engine/task.ts";
import type { FanOut, Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Store, StoredDocument, StoredTask } from "../ports/store.ts";
import { shellWord } from "../shell-quote.ts";
import { idsOf } from "./authorise.ts";
import { childrenOf } from "./children/child-tasks.ts";
import type { Core } from "./core.ts";
import { allTasks, eventsOf, shownTask } from "./project.ts";
import { parsedDocument, storedAs } from "./task-documents.ts";

interface DependencyPorts {
  readonly store: Store;
  workflowOf(task: Task): Promise<Workflow>;
}

/** A dependency with what has become of it. */
export interface SeenDependency {
  readonly dependency: Dependency;
  readonly stored: StoredTask;
  readonly facts: DependencyFacts;
  readonly verdict: ReturnType<typeof judgeDependency>;
}

/**
 * The dependencies of a task whose tasks exist: a task that others wait for can be deleted only if they need it no more.
 * `isWhole`: with the sections of each document, also where the dependency is on something else.
 */
export async function seeDependencies(
  ports: DependencyPorts,
  dependsOn: readonly string[],
  isWhole = false,
): Promise<readonly SeenDependency[]> {
  const found: SeenDependency[] = [];
  for (const text of dependsOn) {
    const dependency = storedDependency(text);
    const stored = await ports.store.getTask(dependency.task);
    if (stored === undefined) continue;
    const facts = await factsOf(ports, dependency, stored, isWhole);
    found.push({ dependency, stored, facts, verdict: judgeDependency(dependency, facts) });
  }
  return found;
}

async function factsOf(
  { store, workflowOf }: DependencyPorts,
  { state, section }: Dependency,
  { task }: StoredTask,
  isWhole: boolean,
): Promise<DependencyFacts> {
  return {
    name: shownTask(task),
    workflow: await workflowOf(task),
    status: task.status,
    reached: state === undefined || state === task.status ? none : await reachedBy(store, task.id),
    sections: section === undefined && !isWhole ? none : sectionsOf(await store.getDocument(task.id)),
  };
}

const none: ReadonlySet<string> = new Set();

async function reachedBy(store: Store, task: string): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  for await (const { event } of eventsOf(store, task))
    if (event.set.status !== undefined) reached.add(event.set.status);
  return reached;
}

function sectionsOf(document: StoredDocument): ReadonlySet<string> {
  const all = [...parsedDocument(document).byHeading.values()];
  return new Set(all.filter(({ body }) => body !== "").map(({ heading }) => heading));
}

/** Whether all dependencies let a task start. */
export async function areMet(ports: DependencyPorts, dependsOn: readonly string[]): Promise<boolean> {
  return (await seeDependencies(ports, dependsOn)).every(({ verdict }) => verdict === "met");
}

interface GivenDependencies {
  readonly dependsOn?: readonly string[] | undefined;
  readonly handDown?: readonly string[] | undefined;
}

/**
 * The dependencies that a person has given, as they are stored. Refuses those that could never be met. `before`: the task
 * that they are for; undefined where it is new.
 */
export async function readDependencies(
  core: Core,
  given: GivenDependencies,
  project: string,
  before?: Task,
): Promise<Pick<Task, "dependsOn"> & Pick<Partial<Task>, "handDown">> {
  const ports = portsOf(core);
  const dependsOn: string[] = [];
  for (const text of given.dependsOn ?? []) {
    const read = mustBe(readDependency(text));
    const [id = ""] = await idsOf(core, [read.task], project);
    const dependency = { ...read, task: id };
    const [seen] = await seeDependencies(ports, [writeDependency(dependency)]);
    const problem = seen && dependencyProblem(dependency, seen.facts);
    if (problem !== undefined) throw invalid(problem);
    dependsOn.push(writeDependency(dependency));
  }
  const all = given.dependsOn === undefined ? (before?.dependsOn ?? []) : [...new Set(dependsOn)];
  if (before !== undefined) await refuseCircle(ports, before, all);
  const handDown = given.handDown && (await readHandDown(ports, given.handDown, all));
  return { dependsOn: all, ...(handDown === undefined ? {} : { handDown }) };
}

async function readHandDown(
  ports: DependencyPorts,
  given: readonly string[],
  dependsOn: readonly string[],
): Promise<readonly string[]> {
  const names = [...new Set(given.map((name) => name.trim().replace(/^##\s+/, "")))].filter((name) => name !== "");
  if (names.length === 0) return [];
  const facts = (await seeDependencies(ports, dependsOn, true)).map((seen) => seen.facts);
  if (facts.length === 0)
    throw invalid({
      problem: `No task is there to hand ## ${names[0]} down: the task depends on none.`,
      fix: "Name it: --depends-on TASK",
    });
  for (const name of names) {
    const problem = sectionProblem(name, facts);
    if (problem !== undefined) throw invalid(problem);
  }
  return names;
}

/**
 * Refuses dependencies by which tasks would wait for each other, also through a parent that waits for its parts, a part
 * that needs others, and waves. A dependency that is met, and those of a task that waits for no slot any more, hold nothing up. For the
 * task itself they always count: a person may put it back to where it waits.
 */
async function refuseCircle(ports: DependencyPorts, task: Task, dependsOn: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  const follow = async (awaited: readonly Task[], path: readonly Task[]): Promise<void> => {
    for (const next of awaited) {
      const circle = [...path, next];
      if (next.id === task.id)
        throw invalid({
          problem: `The tasks would wait for each other, and none could go on: ${circle.map(shownTask).join(" → ")}.`,
          fix: "Leave this dependency out.",
        });
      if (seen.has(next.id)) continue;
      seen.add(next.id);
      const waits = await waitsForSlot(ports, next);
      await follow(
        [...(waits ? await unmet(ports, next.dependsOn) : []), ...(await awaitedParts(ports, next))],
        circle,
      );
    }
  };
  await follow([...(await unmet(ports, dependsOn)), ...(await awaitedParts(ports, task))], [task]);
}

async function unmet(ports: DependencyPorts, dependsOn: readonly string[]): Promise<readonly Task[]> {
  const seen = await seeDependencies(ports, dependsOn);
  return seen.flatMap(({ stored, verdict }) => (verdict === "met" ? [] : [stored.task]));
}

/** Whether a task waits for a slot, or may do so again later. Its dependencies count there. */
async function waitsForSlot({ workflowOf }: DependencyPorts, task: Task): Promise<boolean> {
  const workflow = await workflowOf(task);
  const isLater = Object.values(workflow.states).some(
    ({ name, wait }) => wait.kind === "slot" && name !== workflow.initial[0],
  );
  return startOf(workflow, task) !== undefined || (isLater && workflow.states[task.status]?.terminal !== true);
}

/** The parts that have to end before a task goes on: its own, and those that it needs by its parent's plan. */
async function awaitedParts(ports: DependencyPorts, task: Task): Promise<readonly Task[]> {
  const isDone = (child: ChildTask) => !["waiting", "running"].includes(stateOfChild(child));
  const own = (await childrenOf(ports, task.id)).filter((child) => !isDone(child)).map((child) => child.task);
  const { part } = task;
  const parent = part && (await ports.store.getTask(task.parent))?.task;
  if (part === undefined || parent === undefined) return own;
  const wait = (await ports.workflowOf(parent)).states[parent.status]?.wait;
  const plan = wait?.kind === "fan_out" ? planOf(parent, wait) : undefined;
  const needs = plan?.ok === true ? (plan.items.find(({ id }) => id === part.item)?.needs ?? []) : [];
  const before =
    wait?.kind === "fan_out" && plan?.ok === true ? await earlierWaves(ports, parent, wait, plan.items, part) : [];
  const siblings = newestTries(await childrenOf(ports, parent.id), part.stay);
  const needed = siblings.filter((child) => [...needs, ...before].includes(child.task.part.item) && !isDone(child));
  return [...own, ...needed.map((child) => child.task)];
}

/** With waves, the items of all levels before that of a part: they must have ended before the part starts. */
async function earlierWaves(
  { workflowOf }: DependencyPorts,
  parent: Task,
  fanOut: FanOut,
  items: readonly Item[],
  { item }: Part,
): Promise<readonly string[]> {
  if (!fanOutOptions(await workflowOf(parent), parent, fanOut).waves) return [];
  const { levels, places } = planOrder(items);
  const level = levels[places.get(item) ?? 0] ?? 0;
  return items.filter((_, place) => (levels[place] ?? 0) < level).map(({ id }) => id);
}

/**
 * A task's document with the sections that its dependencies hand down, under headings that name the task they are from. A
 * section that a dependency does not have is left out; one that none of them has is `missing`.
 */
export async function withHandedDown(
  store: Store,
  { handDown = [], dependsOn }: Task,
  before: StoredDocument,
): Promise<{
  readonly document: StoredDocument;
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  /** The sections of which only the beginning fits into the task file. */
  readonly cut: readonly string[];
}> {
  const cut: string[] = [];
  const missing = new Set(handDown);
  let document = parsedDocument(before);
  let authors = before.authors;
  const changed: string[] = [];
  for (const id of new Set(dependsOn.map((each) => storedDependency(each).task))) {
    const from = handDown.length === 0 ? undefined : (await store.getTask(id))?.task;
    if (from === undefined) continue;
    const given = parsedDocument(await store.getDocument(id));
    for (const section of handDown) {
      const body = given.byHeading.get(section)?.body ?? "";
      const heading = handedDownHeading(section, shownTask(from));
      if (body !== "") missing.delete(section);
      const old = document.byHeading.get(heading)?.body ?? "";
      const handed = body === "" ? "" : fitting(storedAs(document, authors).text, { section, body, before: old, from });
      if (handed === "" || old === handed) continue;
      if (handed !== body) cut.push(section);
      document = withSection(document, heading, handed);
      const fingerprint = document.byHeading.get(heading)?.fingerprint ?? "";
      authors = { ...authors, [heading]: { role: "engine", run: "", commit: "", fingerprint } };
      changed.push(heading);
    }
  }
  const after = changed.length === 0 ? before : storedAs(document, authors);
  return { document: after, changed, missing: [...missing], cut };
}

/** Bytes of a document up to which sections are handed down: a task file of more than 1 MB is not read, and agents add to it. */
const maxText = 768 * 1024;

interface HandedDown {
  readonly section: string;
  readonly body: string;
  /** What was handed down before. */
  readonly before: string;
  readonly from: Task;
}

/** A section as it is handed down: cut where the task file would become too large to be read. */
function fitting(text: string, { section, body, before, from }: HandedDown): string {
  const room = maxText - Buffer.byteLength(text) + Buffer.byteLength(before);
  if (Buffer.byteLength(body) <= room) return body;
  const note = `(Cut here: the task file would be too large. The whole section is in ${shownTask(from)}: signalbox task show ${from.id} --section ${shellWord(section)})`;
  const kept = cutBytes(body, Math.max(0, room - Buffer.byteLength(note) - 2));
  return `${kept}\n\n${note}`.trim();
}

/** The beginning of a text, cut at the end of a line. */
function cutBytes(text: string, bytes: number): string {
  const cut = Buffer.from(text).subarray(0, bytes).toString("utf8");
  return cut.slice(0, Math.max(0, cut.lastIndexOf("\n")));
}

/** The sections that a task was to be handed down, and that it started without; a sentence for each. */
export async function warnOfMissing(core: Core, task: Task): Promise<readonly string[]> {
  const { handDown = [], dependsOn, id } = task;
  if (handDown.length === 0 || (await isToStart(core, task))) return [];
  const others = await seeDependencies(portsOf(core), dependsOn);
  const names = [...new Set(others.map(({ stored }) => shownTask(stored.task)))];
  const { byHeading } = parsedDocument(await core.store.getDocument(id));
  return handDown.flatMap((section) => {
    if (names.some((name) => byHeading.has(handedDownHeading(section, name)))) return [];
    const whose = names.length === 1 ? `${names[0]} did not have it` : "none of the tasks that it depends on had it";
    return [
      `The task started without ## ${section}, which was to be handed down: ${whose}. To add it now: signalbox task edit ${id}`,
    ];
  });
}

/**
 * Refuses to delete tasks that others wait for, or take sections from when they start: a dependency that is gone counts as
 * met, so these would start without it.
 */
export async function refuseAwaited(core: Core, isDeleted: (task: Task) => boolean): Promise<void> {
  const ports = portsOf(core);
  for (const { task } of await allTasks(core.store, { isOpen: true })) {
    if (task.dependsOn.length === 0 || isDeleted(task) || !(await isToStart(core, task))) continue;
    for (const text of task.dependsOn) {
      const other = (await core.store.getTask(storedDependency(text).task))?.task;
      if (other === undefined || !isDeleted(other)) continue;
      const isMet = await areMet(ports, [text]).catch(unlessLost);
      if (isMet && (task.handDown ?? []).length === 0) continue;
      const [name, waiting] = [other, task].map(shownTask);
      const why = isMet
        ? `${waiting} gets sections of ${name} when it starts.`
        : `${waiting} depends on ${name}, ${lackOf(storedDependency(text))}.`;
      throw new Fault("task.in-use", why, {
        hint: `Remove the dependency first: signalbox task update ${task.id} --depends-on ""\nOr cancel the task: signalbox task cancel ${task.id}`,
      });
    }
  }
}

/** The other open tasks that still wait for a task. One whose dependency is met, or that has started, waits for it no more. */
export async function awaitingTasks(
  core: Core,
  id: string,
  except: ReadonlySet<string>,
): Promise<readonly StoredTask[]> {
  const found: StoredTask[] = [];
  for (const stored of await allTasks(core.store, { isOpen: true })) {
    const { task } = stored;
    const texts = task.dependsOn.filter((each) => storedDependency(each).task === id);
    if (texts.length === 0 || except.has(task.id) || !(await isToStart(core, task))) continue;
    if (!(await areMet(portsOf(core), texts).catch(unlessLost))) found.push(stored);
  }
  return found;
}

function lackOf({ state, section }: Dependency): string {
  if (state !== undefined) return `which never reached "${state}"`;
  return section === undefined ? "which was never done" : `which has no ## ${section}`;
}

async function isToStart({ workflows }: Core, task: Task): Promise<boolean> {
  const workflow = await workflows.get(task.workflowHash).catch(unlessLost);
  return workflow !== undefined && startOf(workflow, task) !== undefined;
}

/** A workflow that is lost says nothing about its tasks. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
}

function portsOf({ store, workflows }: Core): DependencyPorts {
  return { store, workflowOf: (task) => workflows.get(task.workflowHash) };
}

function mustBe<T extends object>(read: T | DependencyProblem): T {
  if ("problem" in read) throw invalid(read);
  return read;
}

function invalid({ problem, fix }: DependencyProblem): Fault {
  return new Fault("task.invalid", problem, { hint: fix });
}
