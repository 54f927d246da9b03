import type { RunView } from "../../api/agent-wires.ts";
import type { TaskView } from "../../api/task-wires.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Context } from "../context.ts";
import { draw, type ShownHappening, writeHappening } from "./draw.ts";
import type { Onlooker } from "./play.ts";
import { createScreen } from "./screen.ts";
import { happeningOf, type Stay, withStay } from "./story.ts";
import { demoTasks } from "./tasks.ts";

export interface OnlookerOptions {
  readonly workflow: Workflow;
  readonly began: number;
  /** Nothing is shown. */
  readonly isQuiet: boolean;
}

/** Shows what happens: on a terminal everything as it is now, elsewhere a line for each thing. */
export function createOnlooker(
  context: Context,
  { workflow, began, isQuiet }: OnlookerOptions,
): Onlooker & { close(): void } {
  const { print, paint, isTerminal } = context;
  const stdout = context.process.stdout as NodeJS.WriteStream;
  const isLive = isTerminal && !isQuiet;
  const screen = createScreen(stdout);
  const numbers = new Map<string, number>();
  const stays = new Map<string, readonly Stay[]>();
  const happenings: ShownHappening[] = [];
  let tasks: readonly TaskView[] = [];
  let runs: readonly RunView[] = [];

  const show = () => {
    if (!isLive) return;
    const shown = demoTasks.map((planned) => {
      const task = tasks.find(({ branch }) => branch === planned.branch);
      const own = task?.id ?? "";
      return { planned, task, stays: stays.get(own) ?? [], runs: runs.filter((run) => run.task === own) };
    });
    const [width, height] = [stdout.columns || 80, stdout.rows || 24];
    screen.show(draw({ tasks: shown, happenings, began, now: Date.now() }, width, height - 1, paint));
  };
  // Before there is a daemon to ask, something is to be seen.
  show();

  return {
    happened(event) {
      if (event.type === "task.created") numbers.set(event.task, numbers.size + 1);
      stays.set(event.task, withStay(stays.get(event.task) ?? [], event));
      const happening = happeningOf(event, workflow);
      if (happening === undefined || isQuiet) return;
      const shown = { ...happening, at: Date.parse(event.at) - began, number: numbers.get(event.task) ?? 0 };
      happenings.push(shown);
      if (isLive) show();
      else print(writeHappening(shown, Number.POSITIVE_INFINITY, paint));
    },
    saw(newTasks, newRuns) {
      tasks = newTasks;
      runs = newRuns;
      show();
    },
    close: () => screen.clear(),
  };
}
