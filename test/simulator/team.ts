import { answerProblem, reviewProblem } from "../../src/engine/check-answer.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Settings } from "../../src/engine/workflow.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import type { Crowd } from "./faults.ts";
import { type Lots, mainBranch, type SimulatedWorkflow, type World } from "./world.ts";

/** A task that the person creates. */
export interface Wanted {
  readonly id: string;
  /** Missing for the workflow of the life. */
  readonly other?: SimulatedWorkflow;
  readonly settings?: Settings;
  /** The task that it was created under; not a part of its plan. */
  readonly parent?: string;
}

/** Whether tasks of the life have plans, whose items become tasks of their own. */
export function hasPlans({ workflow }: Pick<World, "workflow">): boolean {
  return Object.values(workflow.states).some(({ wait }) => wait.kind === "fan_out");
}

/** The tasks of a life with plans: one or two parents, and ordinary tasks beside them, some of which are below a parent. */
export function drawFamilies(world: World, crowd: Crowd | undefined): readonly Wanted[] {
  const lots = world.lots("families");
  const parents = crowd === undefined ? (lots.pick([1, 1, 2]) ?? 1) : 2;
  const ordinary = crowd === undefined ? (lots.pick([0, 0, 1, 2]) ?? 0) : crowd.tasks - parents;
  const other = world.others.find(({ name }) => name === "default");
  return [
    ...Array.from({ length: parents }, (_, index) => ({ id: `k${index + 1}`, settings: drawSettings(lots) })),
    ...Array.from({ length: Math.max(0, ordinary) }, (_, index): Wanted => {
      const id = `k${parents + index + 1}`;
      const below = lots.chance(0.4) ? { parent: "k1" } : {};
      return other === undefined ? { id } : { id, other, ...below };
    }),
  ];
}

function drawSettings(lots: Lots): Settings {
  return {
    agents: lots.between(1, 4),
    max_clarification_rounds: lots.between(1, 3),
    skip_clarification: lots.chance(0.5),
    failure_policy: lots.pick(["retry", "retry", "continue", "stop"]) ?? "retry",
    plan_approval: lots.chance(0.3),
    waves: lots.chance(0.25),
  };
}

interface DrawnItem {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly needs: readonly string[];
  readonly files: readonly string[];
  readonly size: string;
}

/** Two to eight items. Each may need earlier ones, and some expect to change the same file. */
export function drawPlan(lots: Lots): readonly DrawnItem[] {
  const ids = Array.from({ length: lots.pick([2, 2, 3, 3, 4, 5, 6, 8]) ?? 2 }, (_, index) => `i${index + 1}`);
  return ids.map((id, index) => ({
    ...{ id, title: `Build ${id}`, description: `About ${id}` },
    needs: ids.slice(0, index).filter(() => lots.chance(0.25)),
    files: [`${id}.md`, "recipe.md", "docs/**"].filter(() => lots.chance(0.35)),
    size: lots.pick(["S", "M", "L"]) ?? "M",
  }));
}

/** A plan that could never be finished. */
function drawBadPlan(lots: Lots): readonly unknown[] {
  const [first, ...rest] = drawPlan(lots);
  const last = rest.at(-1)?.id ?? "";
  switch (lots.between(0, 4)) {
    case 0:
      return [];
    case 1:
      return [first, first];
    case 2:
      return [{ ...first, needs: [last] }, ...rest.map((item) => ({ ...item, needs: [first?.id] }))];
    case 3:
      return [{ ...first, needs: ["unknown"] }, ...rest];
    default:
      return [{ ...first, files: ["../elsewhere"] }, ...rest];
  }
}

/** What an agent answers whose state waits for an answer with a schema; undefined if any text will do. */
export function drawAnswer(world: World, lots: Lots, task: Task): unknown {
  const wait = world.workflowOf(task).states[task.status]?.wait;
  const result = wait?.kind === "agent" ? wait.run.result : undefined;
  const isCareful = world.isCalm || lots.chance(0.8);
  switch (result) {
    case "clarification":
      return { status: lots.chance(isCareful ? 0.7 : 0.3) ? "ready" : "questions", message: `Beans? ${world.next()}` };
    case "plan":
      return { subtasks: lots.chance(isCareful ? 0.95 : 0.5) ? drawPlan(lots) : drawBadPlan(lots) };
    case "tests":
      return { passed: lots.chance(isCareful ? 0.9 : 0.4), errors: "weak" };
    case "review":
      return drawReview(lots, task, isCareful);
    default:
      return undefined;
  }
}

/** Whether the daemon can use an answer; otherwise it asks again, perhaps in the same words. */
export function isUsable(world: World, task: Task, answer: unknown): boolean {
  const workflow = world.workflowOf(task);
  const { wait } = workflow.states[task.status] ?? {};
  if (wait?.kind !== "agent") return true;
  const problem = answerProblem(workflow, wait.run, answer) ?? reviewProblem(workflow, task, wait.run, answer);
  return problem === undefined;
}

function drawReview(lots: Lots, { ledger }: Task, isCareful: boolean): unknown {
  const open = (ledger?.findings ?? []).filter(({ state }) => state === "open" || state === "approved");
  const isFine = lots.chance(isCareful ? 0.75 : 0.3);
  const known = open.map(({ id }) => ({ id, state: isFine ? "fixed" : "open", reason: "looked again" }));
  const isNew = !isFine && lots.chance(0.6);
  const found = { severity: "high", file: "recipe.md", line: lots.between(1, 9), title: "Too weak", evidence: "taste" };
  return { approved: isFine, feedback: "stronger", findings: [...known, ...(isNew ? [found] : [])] };
}

/** What a person does about a task that waits in a dialogue or for the approval of its plan; undefined if it does not. */
export function planWish(world: World, lots: Lots, task: Task): readonly [route: string, body: unknown] | undefined {
  if (task.wait.turn === "reply" || task.wait.turn === "confirm") {
    const isYes = lots.chance(world.isCalm ? 0.9 : 0.6);
    return ["replyTask", { text: isYes ? "yes" : `More beans ${world.next()}` }];
  }
  const { wait } = world.workflowOf(task).states[task.status] ?? {};
  if (wait?.kind !== "human" || task.held !== undefined || !Object.hasOwn(task.results, "plan")) return undefined;
  if (lots.chance(0.3)) return ["putPlan", { items: lots.chance(0.7) ? drawPlan(lots) : drawBadPlan(lots) }];
  return ["continueTask", {}];
}

/**
 * The commits that an agent merges when it brings its branch up to date: its parent's branch for a part, the parts that are
 * done for a parent, else the default branch.
 */
export async function commitsToBring(world: World, id: string): Promise<readonly string[]> {
  const { branches, remote, refs } = world.repositories;
  const task = (await world.store.getTask(id))?.task;
  if (task?.part !== undefined) return [refs.get(taskRef(task.parent)) ?? ""].filter((each) => each !== "");
  const parts = (await world.store.listTasks({ parent: id }, { limit: 99 })).filter(({ task }) => isDone(world, task));
  const own = parts.flatMap(({ task }) => refs.get(taskRef(task.id)) ?? []);
  const main = remote.get(mainBranch) ?? branches.get(mainBranch);
  return own.length > 0 ? own : [main ?? ""].filter((each) => each !== "");
}

/** Whether a task is a part that has ended as done. */
export function isDone(world: World, task: Task): boolean {
  return task.part !== undefined && world.workflowOf(task).states[task.status]?.outcome === "done";
}
