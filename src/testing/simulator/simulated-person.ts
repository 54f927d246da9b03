import type { Task } from "../../engine/task.ts";
import type { State } from "../../engine/workflow.ts";
import type { StoredTask } from "../../ports/store.ts";
import { bringMainIn, commitAll } from "./handiwork.ts";
import type { Lots } from "./lots.ts";
import type { World } from "./world.ts";

/** Asks over the API as a person. Resolves when it is answered, if ever. */
export type AskAsPerson = (route: string, task: string, body: unknown) => Promise<unknown>;

/** What a person does about a task that may want one: something that is allowed, by lot. */
export function attend(world: World, lots: Lots, { task }: StoredTask, ask: AskAsPerson): void {
  const state = world.workflow.states[task.status];
  if (state === undefined) return;
  const hasAgent = [...world.programs.values()].some((each) => each.isLive && each.task === task.id);
  const asks = task.held !== undefined || state.wait.kind === "human" || (state.wait.kind === "open" && !hasAgent);
  if (!asks) return;
  const [route, body] = wishOf(world, lots, task, state);
  ask(route, task.id, body).catch(() => undefined);
}

function wishOf(world: World, lots: Lots, task: Task, state: State): readonly [route: string, body: unknown] {
  const outcomeOf = (name: string) => world.workflow.states[name]?.outcome;
  const targets = Object.values(state.out)
    .flat()
    .filter(({ by, to }) => (by === undefined || by.includes("human")) && outcomeOf(to) !== "cancelled")
    .map(({ to }) => to);
  const move = () => ["moveTask", { to: lots.pick(targets) ?? task.status }] as const;
  if (task.held !== undefined) {
    const what = lots.between(0, 9);
    if (what < 5) return ["continueTask", {}];
    return what < 8 ? ["retryTask", {}] : move();
  }
  if (targets.some((to) => outcomeOf(to) === "done") && lots.chance(0.7)) {
    if (world.isCalm) makeMergeable(world, task);
    return ["mergeTask", {}];
  }
  return state.wait.kind === "human" && lots.chance(0.5) ? ["continueTask", {}] : move();
}

/** What is uncommitted or conflicts keeps a task from being merged: a person who has time does what that refusal says. */
function makeMergeable(world: World, { id, workspace }: Task): void {
  const rest = commitAll(world, workspace, "rest");
  if (rest !== undefined) world.note(`the person commits what is left of ${id}: ${rest.slice(0, 7)}`);
  const merged = bringMainIn(world, workspace);
  if (merged !== undefined) world.note(`the person brings main into ${id}: ${merged.slice(0, 7)}`);
}
