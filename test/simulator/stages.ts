import { answerProblem, reviewProblem } from "../../src/engine/check-answer.ts";
import { isUnsettled } from "../../src/engine/findings.ts";
import { countsAsAnswer, handOverTools, isItsAnswer } from "../../src/engine/handed.ts";
import { specOf } from "../../src/engine/run-spec.ts";
import type { Task } from "../../src/engine/task.ts";
import type { RunSpec, Settings, State } from "../../src/engine/workflow.ts";
import type { AskAsPerson } from "./agents.ts";
import type { LifeKind, Misbehaviour } from "./faults.ts";
import { bringIn, commitAll } from "./memory-workspaces.ts";
import { hasPlans, type Wanted } from "./team.ts";
import { type Lots, mainBranch, type Program, sign, type World } from "./world.ts";

// Lives whose tasks go through stages: runs hand their work over, a panel reviews it, and a person decides about findings.

export function hasStages({ workflow }: Pick<World, "workflow">): boolean {
  return Object.values(workflow.states).some(({ wait }) => wait.kind === "panel");
}

export function lifeKind(world: Pick<World, "workflow">): LifeKind {
  if (hasPlans(world)) return "plans";
  return hasStages(world) ? "stages" : "short";
}

/** The tasks of a life with stages, each with settings of its own. */
export function drawIssues(world: World, count: number): readonly Wanted[] {
  const lots = world.lots("issues");
  return Array.from({ length: count }, (_, index) => ({ id: `k${index + 1}`, settings: drawSettings(lots) }));
}

function drawSettings(lots: Lots): Settings {
  return {
    ...{ spec: lots.chance(0.4), auto_merge: lots.chance(0.4), judge: lots.pick(["small", "large"]) ?? "large" },
    scouts: lots.pick([["small"], ["small"], ["small", "large"], ["small", "large", "small"]]) ?? ["small"],
  };
}

/** How a run of a task's present state is made. */
function specFor(
  world: World,
  task: Task,
  role: string,
): { readonly state: State; readonly spec: RunSpec } | undefined {
  const workflow = world.workflowOf(task);
  const state = workflow.states[task.status];
  return state === undefined ? undefined : { state, spec: specOf(workflow, state, role) };
}

/** How likely an agent changes something: where the workflow asks for commits, it mostly does. */
export function chanceOfWork(world: World, task: Task | undefined): number {
  const evidence = (task && world.workflowOf(task).states[task.status])?.evidence ?? [];
  return evidence.some(({ field }) => field === "new_commits") ? 0.92 : 0.3;
}

/** What an agent answers in its stage. */
export function drawStageAnswer(world: World, lots: Lots, task: Task, role: string): unknown {
  const isCareful = world.isCalm || lots.chance(0.8);
  switch (specFor(world, task, role)?.spec.result) {
    case "review":
      return { outcome: lots.chance(isCareful ? 0.8 : 0.4) ? "done" : "revise", reason: "Say more." };
    case "tests":
      return { passed: lots.chance(isCareful ? 0.9 : 0.4) };
    case "reports":
      return { findings: drawFindings(lots, 3) };
    case "findings":
      return { findings: drawVerdicts(lots, task, isCareful, world.isCalm) };
    default:
      return undefined;
  }
}

/** Some are the same as others in other words. */
const defects = [
  { title: "The coffee is cold", file: "recipe.md", line: 1, evidence: "20 degrees" },
  { title: "Cold coffee", file: "recipe.md", line: 2, evidence: "It was measured twice" },
  { title: "The cup is too small", file: "recipe.md", line: 9, evidence: "One sip fits" },
  { title: "The mill is loud", file: "mill.md", line: 4, evidence: "90 decibels" },
  { title: "No sugar", file: "k1-1.md", line: 1, evidence: "" },
] as const;

function drawFindings(lots: Lots, most: number): readonly object[] {
  return Array.from({ length: lots.between(0, most) }, () => ({
    ...lots.pick(defects),
    severity: lots.pick(["critical", "high", "medium", "low", "info"]) ?? "high",
  }));
}

function drawVerdicts(lots: Lots, { ledger }: Task, isCareful: boolean, isCalm: boolean): readonly object[] {
  const known = (ledger?.findings ?? []).filter(({ state }) => isUnsettled(state));
  // An answer without a verdict on each of them is refused.
  const answered = isCareful ? known : known.filter(() => lots.chance(0.7));
  const verdicts = answered.map(({ id }) => {
    const state = lots.chance(isCareful ? 0.75 : 0.3) ? "fixed" : (lots.pick(["open", "dismissed"]) ?? "open");
    return { id, state, reason: "looked again" };
  });
  const isNew = lots.chance(isCalm ? 0.2 : 0.6);
  return [...verdicts, ...(isNew ? drawFindings(lots, 3) : [])];
}

/** Whether the daemon can use the answer of a run; otherwise it asks again, perhaps in the same words. */
export function isStageAnswer(world: World, task: Task, role: string, answer: unknown): boolean {
  const found = specFor(world, task, role);
  if (found === undefined) return true;
  const workflow = world.workflowOf(task);
  const { spec } = found;
  return (answerProblem(workflow, spec, answer) ?? reviewProblem(workflow, task, spec, answer)) === undefined;
}

/** The name that a model proposes for a branch: a good one, one that another task has too, or none that could be used. */
export function drawName(lots: Lots): string {
  return lots.pick(["weak-coffee", "strong-coffee", "weak-coffee", "../../etc", "a branch", "x".repeat(300), ""]) ?? "";
}

/** Calls the API as a run. Resolves with whether it was accepted; undefined where no answer came. */
export type CallAsRun = (
  program: Program,
  route: string,
  task: string,
  body: object,
) => Promise<"accepted" | "refused" | undefined>;

const kept = "what a run hands over is kept, and once";

/** A run sends messages and completes its work. It repeats what was not answered, and some of what was. */
export async function handOver(
  world: World,
  program: Program,
  lots: Lots,
  how: Misbehaviour | undefined,
  call: CallAsRun,
): Promise<void> {
  const task = (await world.store.getTask(program.task))?.task;
  const found = task && specFor(world, task, program.role);
  if (task === undefined || found === undefined) return;
  const { state, spec } = found;
  const tools = spec.tools ?? [];
  /** The request, again while nothing answers, and sometimes once more. */
  const send = async (route: string, body: object) => {
    let answer: Awaited<ReturnType<CallAsRun>>;
    for (let tries = 0; tries < 4 && answer === undefined && program.isLive; tries++)
      answer = await call(program, route, ".", body);
    if (answer === "accepted" && program.isLive && lots.chance(0.3)) await call(program, route, ".", body);
    return answer === "accepted";
  };
  if (how === "impostor") return pose(world, program, lots, call);
  if (tools.includes(handOverTools.message) && lots.chance(0.5)) {
    const states = Object.keys(world.workflowOf(task).states);
    const message = `Mind this ${world.next()} ${sign(program, world.next())}`;
    const to = how === "greedy" ? "NOWHERE" : (lots.pick([...states, "all"]) ?? "all");
    if (await send("sendStageMessage", { to, message, priority: lots.pick(["low", "normal", "high"]) }))
      await checkMessage(world, program, message);
  }
  if (!tools.includes(handOverTools.complete) || !lots.chance(world.isCalm ? 0.97 : 0.85) || !program.isLive) return;
  const wantsDocuments = state.evidence.some(({ field }) => field === "documents");
  const documents = Array.from(
    { length: wantsDocuments && lots.chance(0.93) ? lots.between(1, 2) : 0 },
    (_, index) => ({
      ...{ type: "pack", title: `Kitchen ${index + 1}` },
      text: `Cups ${world.next()} ${sign(program, world.next())}`,
    }),
  );
  const isAnswer = isItsAnswer(world.workflowOf(task), spec);
  const outcome = isAnswer && !lots.chance(0.75) ? "revise" : "done";
  const report = { summary: `Packed ${world.next()}`, outcome, reason: "", documents };
  if (!(await send("completeWork", report))) return;
  await checkReport(world, program, documents);
  const isEnough = wantsDocuments ? documents.length > 0 : state.evidence.length === 0;
  if (isEnough && countsAsAnswer(world.workflowOf(task), spec)) program.completed = task.entry;
  if (isAnswer && program.isLive && lots.chance(0.15)) {
    const other = { ...report, outcome: outcome === "done" ? "revise" : "done" };
    if ((await call(program, "completeWork", ".", other)) === "accepted")
      world.violate(kept, `${program.run} of ${program.task} completed its work twice, with different outcomes.`);
  }
}

/** Speaks for another task. */
async function pose(world: World, program: Program, lots: Lots, call: CallAsRun): Promise<void> {
  const others = (await world.store.listTasks({ isOpen: true }, { limit: 9 })).map(({ task }) => task.id);
  const other = lots.pick(others.filter((id) => id !== program.task));
  if (other === undefined) return;
  const body = { summary: "Mine now", outcome: "done", reason: "", documents: [] };
  if ((await call(program, "completeWork", other, body)) === "accepted")
    world.violate("no agent decides about another's task", `${program.run} of ${program.task} completed ${other}.`);
}

/** Whether a person has continued the task, which was held after this run had completed its work. */
async function isAskedAgain({ store }: World, { task, run }: Program): Promise<boolean> {
  let wasHeld = false;
  let isAgain = false;
  for (const { event } of await store.listEvents({ task }, 0, Number.MAX_SAFE_INTEGER)) {
    if (event.type === "work.completed" && event.data.run === run) [wasHeld, isAgain] = [false, false];
    if (event.type === "task.held") wasHeld = true;
    if (event.type === "task.continued" && event.by === "human" && wasHeld) isAgain = true;
  }
  return isAgain;
}

async function checkMessage(world: World, { task: id, run }: Program, text: string): Promise<void> {
  const messages = (await world.store.getTask(id))?.task.stageMessages ?? [];
  const count = messages.filter((each) => each.run === run && each.text === text).length;
  if (count !== 1) world.violate(kept, `A message of ${run} of ${id} was accepted, and is there ${count} times.`);
}

async function checkReport(
  world: World,
  { task: id, run }: Program,
  documents: readonly { readonly title: string; readonly text: string }[],
): Promise<void> {
  const handed = (await world.store.getTask(id))?.task.documents ?? [];
  for (const { title, text } of documents) {
    const own = handed.filter((each) => each.run === run && each.title === title);
    const [document] = own;
    const stored = document && (await world.store.artifactText(id, document.sha256));
    if (own.length !== 1 || stored !== text) world.violate(kept, `The document "${title}" of ${run} of ${id} is gone.`);
  }
}

/**
 * A run that has completed its work is the last of its stay, unless no rule covers its report and a person continues the held
 * task: its report counts, however its program ended.
 */
export async function checkCompleted(world: World, program: Program): Promise<void> {
  const entry = (await world.store.getTask(program.task))?.task.entry;
  for (const other of world.programs.values()) {
    const isSame = other !== program && other.task === program.task && other.role === program.role;
    if (isSame && entry !== undefined && other.completed === entry && !(await isAskedAgain(world, other)))
      world.violate(
        kept,
        `${program.run} of ${program.task} was started although ${other.run} had completed its work.`,
      );
  }
}

/** What a person does about a task that waits for one, one request after the other. */
export async function attendStage(world: World, lots: Lots, task: Task, state: State, ask: AskAsPerson): Promise<void> {
  const { id, held } = task;
  if (held === undefined && state.wait.kind !== "human") return;
  const open = (task.ledger?.findings ?? []).filter(({ state }) => state === "open").map((finding) => finding.id);
  const tells = (route: string, body: object) => ask(route, id, body).catch(() => undefined);
  if (open.length > 0 && (world.isCalm || lots.chance(0.8))) {
    const approved = open.filter(() => lots.chance(0.5));
    const rest = open.filter((each) => !approved.includes(each));
    if (approved.length > 0) await tells("decideFindings", { findings: approved, state: "approved" });
    if (rest.length > 0)
      await tells("decideFindings", { findings: rest, state: "dismissed", reason: "It is meant so" });
  }
  if (merges(state)) {
    if (world.isCalm || lots.chance(0.5)) approve(world, task);
    // Commits that are made while the work is merged come too late, and are only saved.
    if (world.isCalm && (held !== undefined || task.phase === "waiting")) bringUpToDate(world, task);
    if (world.isCalm || lots.chance(0.7)) await tells("diffTask", {});
  }
  if (!world.isCalm && lots.chance(0.1)) await tells("editTask", { settings: { auto_merge: lots.chance(0.5) } });
  await tells(...wishOf(world, lots, task, state));
}

function wishOf(world: World, lots: Lots, task: Task, state: State): readonly [route: string, body: object] {
  const back = Object.values(state.out)
    .flat()
    .filter(({ by, to }) => by?.includes("human") && world.workflowOf(task).states[to]?.outcome === undefined);
  const isBack = lots.chance(world.isCalm ? (task.held === undefined ? 0.02 : 0.25) : 0.15);
  const way = lots.pick(back);
  if (isBack && way !== undefined) return ["moveTask", { to: way.to }];
  if (task.held !== undefined && lots.chance(0.3)) return ["retryTask", {}];
  return ["continueTask", lots.chance(0.1) ? { unanswered: true } : {}];
}

function merges(state: State): boolean {
  return state.do.some(({ name }) => name === "merge_pr");
}

function approve({ forge, note }: World, { id }: Task): void {
  for (const pull of forge?.pullsOf(id) ?? []) {
    if (!pull.isApproved) note(`the person approves pull request ${pull.number}`);
    pull.isApproved = true;
  }
}

/** The person commits in a workspace while tests run there, but not while its work is merged: that would come too late. */
export async function meddle(world: World, folder: string): Promise<void> {
  const task = (await world.store.listTasks({ isOpen: true }, { limit: 99 })).find(
    (each) => each.task.workspace === folder,
  )?.task;
  const state = task && world.workflowOf(task).states[task.status];
  const files = world.repositories.folders.get(folder)?.files;
  if (task === undefined || state === undefined || merges(state) || files === undefined) return;
  files.set("meddled.md", `meddled ${world.next()}`);
  const commit = commitAll(world, folder, "meddled");
  if (commit !== undefined) world.note(`the person commits ${commit.slice(0, 7)} to ${task.id} while its tests run`);
}

/** A person with time commits what is left in the workspace, and resolves conflicts. */
function bringUpToDate(world: World, { id, workspace }: Task): void {
  const { branches, remote } = world.repositories;
  const rest = commitAll(world, workspace, "rest");
  const merged = bringIn(world, workspace, remote.get(mainBranch) ?? branches.get(mainBranch));
  if (rest !== undefined || merged !== undefined) world.note(`the person brings ${id} up to date`);
}
