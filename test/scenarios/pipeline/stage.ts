import { expect, test } from "vitest";
import { Refusal } from "../../../src/api/client.ts";
import type { Task } from "../../../src/engine/task.ts";
import type { Settings } from "../../../src/engine/workflow.ts";
import { createMemoryForge } from "../../simulator/memory-forge.ts";
import { checkCommented, checkMerging, checkOpened } from "../../simulator/stage-promises.ts";
import { mainBranch, type Program, type World } from "../../simulator/world.ts";
import { openSimulatedStage, readPlayed, type Surroundings, type Turn, testTimeout } from "../simulated-stage.ts";
import { tableOf } from "../table.ts";

/** How a scenario differs from a small change in which everything succeeds. */
export interface Scene extends Surroundings {
  /** `quick-fix` where it is missing. */
  readonly preset?: string;
  readonly settings?: Settings;
  /** The turns of the runs in a status, or of a panel's role; the last one is repeated. */
  readonly turns?: Readonly<Record<string, readonly Turn[]>>;
  /** The project is on a forge. */
  readonly hasForge?: true;
  /** The issue was written as a ticket. */
  readonly ticket?: string;
}

const pipeline = readPlayed("pipeline");

export type Life = Awaited<ReturnType<typeof begin>>;

/** A task of the workflow `pipeline` in a simulated world. */
async function begin(scene: Scene) {
  const { preset = "quick-fix", settings, ticket } = scene;
  /** Turns that were taught later. */
  let taught: Scene["turns"] = {};
  const stage = await openSimulatedStage({
    ...{ workflows: [pipeline], scene },
    turnsOf(task, program, number) {
      const name = task.status === "PR_REVIEW" ? program.role : task.status;
      return taught?.[name] ?? scene.turns?.[name] ?? [usual(task, program, number)];
    },
    furnish(world) {
      if (scene.hasForge) furnishForge(world);
      if (ticket !== undefined) world.tickets.files.set(`${ticket}.md`, "---\nstatus: open\n---\n# Brew a cup\n");
    },
  });
  const { world, until, stored } = stage;
  const { repositories } = world;
  const create = async (about: object = { summary: "Brew a pot" }): Promise<string> => {
    const body = { project: "coffee", workflow: "pipeline", preset, ...(settings && { settings }), ...about };
    return ((await stage.request("createTask", "", body)) as { readonly task: { readonly id: string } }).task.id;
  };
  const id = await create(ticket === undefined ? { summary: "Brew a cup" } : { ticket });
  const now = async () => (await stored(id)).task;
  const filesAt = (commit = "") => [...(commit === "" ? [] : repositories.commits.get(commit).tree.keys())];
  const life = {
    ...stage,
    ...{ id, now, create },
    teach(turns: Scene["turns"]) {
      taught = { ...taught, ...turns };
    },
    does: (route: string, body: object = {}) => stage.ask(route, id, body),
    spawn: () => stage.ask("spawnTask", id),
    goOn: (body: object = {}) => stage.ask("continueTask", id, body),
    decide: (state: "approved" | "dismissed", ...findings: readonly string[]) =>
      stage.ask("decideFindings", id, { findings, state, reason: "It is meant to be" }),
    /** Asks for something that must be refused: it changes only the history, and says why. */
    async isRefused(route: string, body: object = {}): Promise<string> {
      const before = standing(await now());
      const refusal = await stage.ask(route, id, body).then(
        () => expect.fail(`${route} was not refused.`),
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(Refusal);
      expect(standing(await now())).toEqual(before);
      return (refusal as Refusal).reasons.map(({ text, fix }) => `${text} ${fix}`).join("\n");
    },
    /** Waits until the task is in a state and not held. */
    async reaches(status: string) {
      const task = await until(async () => {
        const task = await now();
        return task.held !== undefined || (task.status === status && task.phase !== "entering") ? task : undefined;
      });
      expect({ status: task.status, held: task.held }).toEqual({ status, held: undefined });
      return task;
    },
    /** Waits until the review with this number is over, and a person may decide. */
    isReviewed: (round: number) =>
      until(async () => {
        const task = await now();
        const isThere = task.status === "PR_HUMAN_REVIEW" && task.phase === "waiting";
        return isThere && task.ledger?.round === round ? task : undefined;
      }),
    isHeld: () => stage.waitsForPerson(id),
    calls: () => stage.callsOf(id),
    ends: (status: string) => stage.endsIn(id, status),
    /** The names of its states, in the order in which it was in them. */
    async stages(): Promise<string> {
      const moves = await stage.events(id, "task.moved");
      return [moves[0]?.data.from, ...moves.map(({ data }) => data.to)].join(" ");
    },
    runs: (role: string) => [...world.programs.values()].filter((each) => each.task === id && each.role === role),
    /** What each run of a role was told, in order. */
    heard: (role: string) => life.runs(role).map(({ heard }) => heard.join("\n")),
    folder: async () => repositories.folders.get((await now()).workspace) ?? expect.fail("It has no workspace."),
    async head() {
      return repositories.head(await life.folder());
    },
    /** The files of the work as it is committed. */
    committed: async () => filesAt(await life.head()),
    async isDirty() {
      return repositories.isDirty(await life.folder());
    },
    /** The files of the default branch: that of the forge, if there is one. */
    merged: () => filesAt((scene.hasForge ? repositories.remote : repositories.branches).get(mainBranch)),
    /** The files of the task's branch where others see it: on the remote. */
    pushed: async () => filesAt(repositories.remote.get((await now()).branch)),
    pull: () => world.forge?.pullsOf(id)[0] ?? expect.fail("There is no pull request."),
  };
  return life;
}

function furnishForge(world: World): void {
  const { branches, remote } = world.repositories;
  remote.set(mainBranch, branches.get(mainBranch) ?? "");
  world.forge = createMemoryForge({
    ...{ repositories: world.repositories, needsApproval: false },
    opened: (pull) => checkOpened(world, pull),
    commented: (pull) => checkCommented(world, pull),
    merging: (pull, head) => checkMerging(world, pull, head),
  });
}

/** What a refused request must not change. */
function standing({ status, counters, workspace, held, summary, branch, dependsOn, ledger }: Task) {
  return { status, counters, workspace, held, summary, branch, dependsOn, ledger };
}

/** Hands a document over. */
export const hands: Turn = {
  calls: [
    [
      "completeWork",
      { summary: "Packed.", documents: [{ type: "pack", title: "The kitchen", text: "Cups are on the left." }] },
    ],
  ],
};
export const finds = (...findings: readonly object[]): Turn => ({ answer: { findings } });

/** The turn of an agent that does what its stage asks for. */
function usual({ status, id }: Task, { role }: Program, number: number): Turn {
  if (role === "scout" || role === "judge") return finds();
  switch (status) {
    case "CONTEXT_PACK":
    case "SPEC":
      return hands;
    case "SPEC_REVIEW":
      return { answer: { outcome: "done" } };
    case "IMPLEMENT":
    case "FIXER":
      return { writes: { [`${status}.md`]: `${id} ${status} ${number}` } };
    case "TESTING":
      return { answer: { passed: true } };
    default:
      return {};
  }
}

/** The moves that the scenarios have made. */
const seen = new Set<string>();

/** One scenario. If its name begins with a move, such as `a → b (human asked): …`, the task must make that move. */
export function scenario(name: string, scene: Scene, play: (life: Life) => Promise<void>): void {
  test(
    name,
    async () => {
      const life = await begin(scene);
      await play(life);
      const moves = await life.moves("pipeline");
      const move = /^([\w-]+ → [\w-]+ \([\w -]+\)): /.exec(name)?.[1];
      if (move !== undefined) expect(moves).toContain(move);
      await life.end();
      for (const each of moves) seen.add(each);
    },
    testTimeout,
  );
}

/** The last test of the file: every possible move of the workflow was made in some scenario, and no other. */
export function everyMoveWasMade(): void {
  test("every possible move was made, by each actor and cause, and no other", () => {
    expect([...seen].sort()).toEqual(tableOf(pipeline.text));
  });
}
