import { expect, test } from "vitest";
import type { Task } from "../../../src/engine/task.ts";
import type { Settings } from "../../../src/engine/workflow.ts";
import { taskRef } from "../../../src/ports/control-repository.ts";
import { openSimulatedStage, readPlayed, type Surroundings, type Turn, testTimeout } from "../simulated-stage.ts";
import { tableOf } from "../table.ts";

interface Item {
  readonly id: string;
  readonly needs?: readonly string[];
}

/** How a scenario differs from a plan with the one part "cup" in which everything succeeds. */
export interface Scene extends Surroundings {
  readonly settings?: Settings;
  readonly plan?: readonly Item[];
  /** The turns of the runs in a status, of each task; the last one is repeated. */
  readonly turns?: Readonly<Record<string, readonly Turn[]>>;
  /** The turn of a part's engineer; undefined for the usual one. */
  engineer?(task: Task): Turn | undefined;
  readonly autostart?: false;
}

const [team, subtask] = [readPlayed("team"), readPlayed("team-subtask")];

type Life = Awaited<ReturnType<typeof begin>>;

/** A parent of the workflow `team` in a simulated world. */
async function begin(scene: Scene) {
  const { settings = {}, plan = [{ id: "cup" }], autostart = true } = scene;
  const stage = await openSimulatedStage({
    ...{ workflows: [team, subtask], scene },
    turnsOf(task, program, number) {
      const own = program.role === "swe" && task.part !== undefined ? scene.engineer?.(task) : undefined;
      return scene.turns?.[task.status] ?? [own ?? usual(task, plan, number)];
    },
  });
  const { world, until, stored } = stage;
  const { store, repositories } = world;
  const create = async (): Promise<string> => {
    const given = { skip_clarification: true, failure_policy: "continue", ...settings };
    const body = { project: "coffee", summary: "Brew a cup", workflow: "team", autostart, settings: given };
    return ((await stage.request("createTask", "", body)) as { readonly task: { readonly id: string } }).task.id;
  };
  const parent = await create();
  const parts = async () => (await store.listTasks({ parent }, { limit: 99 })).map(({ task }) => task);
  /** The newest try of a part; undefined while there is none. */
  const newest = async (item: string) => (await parts()).findLast(({ part }) => part?.item === item);
  return {
    ...stage,
    ...{ parent, parts, create },
    /** A task as it is now: the parent, unless another one is named. */
    now: async (id = parent) => (await stored(id)).task,
    /** Waits until the architect has asked the person something. */
    asks: () =>
      until(async () => {
        const { task } = await stored(parent);
        return task.wait.turn === "reply" || task.wait.turn === "confirm" ? task : undefined;
      }),
    calls: (id = parent) => stage.callsOf(id),
    /** Somebody moves the branch of a parent without a workspace back to its beginning, and commits other files there. */
    loseParts(id: string, files: Readonly<Record<string, string>>) {
      const main = repositories.branches.get("main") ?? "";
      const tree = new Map([...repositories.commits.get(main).tree, ...Object.entries(files)]);
      repositories.moveRef(taskRef(id), repositories.commits.add([main], tree, "by hand"));
    },
    /** The newest try of a part as it is now. */
    part: async (item = "cup") => (await newest(item)) ?? expect.fail(`There is no part ${item}.`),
    reaches: (status: string) => stage.comesTo(parent, status),
    partReaches: (status: string, item = "cup") =>
      until(async () => {
        const task = await newest(item);
        return task?.status === status && task.phase !== "entering" ? task : undefined;
      }),
    isHeld: (id = parent) => stage.waitsForPerson(id),
    ends: (status: string) => stage.endsIn(parent, status),
    async partEnds(status: string, item = "cup") {
      const task = await until(async () => {
        const found = await newest(item);
        return found !== undefined && !(await stored(found.id)).isOpen ? found : undefined;
      });
      expect(task).toMatchObject({ status, workspace: "", runs: {} });
      return task;
    },
    isOver: async (id: string) => id !== "" && !(await stored(id)).isOpen,
  };
}

/** The turn of an agent that does what it should. */
function usual({ status, part, id }: Task, plan: readonly Item[], number: number): Turn {
  const writes = { [`${part?.item ?? "whole"}.md`]: `${id} ${status} ${number}` };
  switch (status) {
    case "CLARIFYING":
      return { answer: { status: "ready", message: "A cup of tea" } };
    case "PLANNING":
      return {
        answer: { subtasks: plan.map((item) => ({ title: `The ${item.id}`, description: "Make it", ...item })) },
      };
    case "SUBTASK_CLAIMING":
      return { answer: { passed: true } };
    case "SUBTASK_REVIEWING":
    case "SUBTASK_ASKING":
      return { answer: { approved: true } };
    case "SUBTASK_RESOLVING":
    case "RESOLVING":
      return { merges: true, writes };
    default:
      return { writes };
  }
}

/** The moves that the scenarios of a file have made. */
const seen = new Set<string>();

/** One scenario. If its name begins with a move, such as `a → b (human asked): …`, a task of the workflow must make that move. */
export function scenarioOf(workflow: "team" | "team-subtask") {
  return (name: string, scene: Scene, play: (life: Life) => Promise<void>): void => {
    test(
      name,
      async () => {
        const life = await begin(scene);
        await play(life);
        const moves = await life.moves(workflow);
        const move = /^([\w-]+ → [\w-]+ \([\w -]+\)): /.exec(name)?.[1];
        if (move !== undefined) expect(moves).toContain(move);
        await life.end();
        for (const each of moves) seen.add(each);
      },
      testTimeout,
    );
  };
}

/** The last test of a file: every possible move of the workflow was made in some scenario, and no other. */
export function everyMoveWasMade(workflow: "team" | "team-subtask"): void {
  test("every possible move was made, by each actor and cause, and no other", () => {
    expect([...seen].sort()).toEqual(tableOf(workflow === "team" ? team.text : subtask.text));
  });
}

export type { Life };
