import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { eventually } from "../agents/stage.ts";
import { joins, meets, openTeam, type ScriptedPart, type TeamStage, titleOf, writes } from "../scenarios/team-stage.ts";
import { type DeathPoint, dying } from "./crew/interrupted-crew.ts";

/** A plan, and what must come out of it however often the daemon dies. */
export interface TeamLife {
  readonly parts: readonly ScriptedPart[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly testCommand: string;
  /** `api 1 SUBTASK_DONE`: each item, each try, and how it ends. */
  readonly children: readonly string[];
  /** The files of the branch in the end. */
  readonly files: readonly string[];
  /** How often agents are asked for each of these, over the whole tree of tasks. */
  readonly prompts: Readonly<Record<string, number>>;
}

const done = (id: string) => `${id} 1 SUBTASK_DONE`;

/** Two parts, of which one needs the other. */
export const shortLife: TeamLife = {
  parts: [{ id: "a" }, { id: "b", needs: ["a"], steps: [{ run: ["test", "-e", "a.txt"] }, writes("b")] }],
  settings: { agents: 2, skip_clarification: true },
  testCommand: "true",
  children: [done("a"), done("b")],
  files: ["a.txt", "b.txt", "recipe.md"],
  prompts: { "Split it into subtasks": 1, "Whole requirement:": 2, "Review this change": 2 },
};

/**
 * Every state of parent and parts: a question, failing tests, a conflict, a part that fails twice, one that is skipped, and
 * a whole that must be mended.
 */
export const fullLife: TeamLife = {
  parts: [
    {
      id: "a",
      steps: [writes("a"), { write: { file: "broken.txt", text: "" } }],
      mends: [{ delete: "broken.txt" }],
    },
    ...pair("b", "c", ["a"], (id) => [{ write: { file: "recipe.md", text: `${id}\n` } }]),
    ...pair("x", "y", ["b", "c"], () => []),
    { id: "d", steps: [{ error: { kind: "other", message: "No luck." } }] },
    { id: "e", needs: ["d"] },
  ],
  settings: { agents: 2 },
  testCommand: "! test -e broken.txt && { test -e whole.txt || ! test -e x.txt || ! test -e y.txt; }",
  children: [
    ...["a", "b", "c", "x", "y"].map(done),
    "d 1 SUBTASK_FAILED",
    "d 2 SUBTASK_FAILED",
    "e 1 SUBTASK_CANCELLED",
  ],
  files: ["a.txt", "b.txt", "c.txt", "recipe.md", "whole.txt", "x.txt", "y.txt"],
  prompts: {
    ...{ "Is anything unclear": 1, "Split it into subtasks": 1, "Work these in": 1, "Review this change": 6 },
    // Five parts, and two attempts in each of two tries at the one that fails.
    ...{ "Whole requirement:": 9, "Merging ": 1, "Joining the engineers' branches": 1 },
  },
};

/** Two parts that begin before either is merged. */
function pair(
  one: string,
  other: string,
  needs: readonly string[],
  more: (id: string) => NonNullable<ScriptedPart["steps"]>,
): readonly ScriptedPart[] {
  return [one, other].map((id) => ({
    ...{ id, needs, resolves: joins },
    steps: [meets(id, id === one ? other : one), writes(id), ...more(id)],
  }));
}

/** The states of the full life. Where parent and parts have the same name for one, the state before it tells them apart. */
const states = [
  ...["QUEUED", "REPO_SYNC", "WORKSPACE_CREATED", "BRANCH_CREATED", "CLARIFYING", "CLARIFIED", "PLANNING", "PLANNED"],
  ...["AGENTS_SPAWNED", "AGENTS_SPAWNED → SUBTASK_IMPLEMENTING", "SUBTASK_IMPLEMENTING → SUBTASK_DONE"],
  ...["MERGING_AGENTS", "RESOLVING", "CREATING_PR", "COMPLETED"],
  ...["SUBTASK_QUEUED", "SUBTASK_QUEUED → SUBTASK_IMPLEMENTING", "SUBTASK_COMMITTING", "SUBTASK_TESTING"],
  ...["SUBTASK_FEEDBACK", "SUBTASK_REVIEWING", "SUBTASK_MERGING", "SUBTASK_MERGING → SUBTASK_DONE"],
  ...["SUBTASK_RESOLVING", "SUBTASK_FAILED", "SUBTASK_CANCELLED"],
];

/** Where a daemon dies next; it is given the point at which the one before it died, or an empty text. */
export type NextDeath = (last: string) => DeathPoint | undefined;

/** One point after the other. */
export function inOrder(deaths: readonly DeathPoint[]): NextDeath {
  const left = [...deaths];
  return () => left.shift();
}

/**
 * The daemon dies whenever a task enters a state that none has entered before, before or after that is saved. `left` has the
 * states in which it did not die yet.
 */
export function atEachState(when: DeathPoint["when"]) {
  const left = new Set(states);
  const enters = (state: string) => {
    const [to, from] = state.split(" → ").toReversed();
    return from === undefined ? `"(to|status)":"${to}"` : `"from":"${from}","to":"${to}"`;
  };
  const next: NextDeath = (last) => {
    for (const state of left) if (new RegExp(enters(state)).test(last)) left.delete(state);
    if (left.size === 0) return undefined;
    return { what: `^write .*"type":"task\\.(moved|created)".*(${[...left].map(enters).join("|")})`, when };
  };
  return { next, left };
}

/** The daemon dies after numbers of operations that are drawn by lot. */
export function byLot(seed: number, count: number): NextDeath {
  const random = createRandom(seed);
  return inOrder(
    Array.from({ length: count }, () => ({
      what: "",
      when: random.next() < 0.5 ? ("before" as const) : ("after" as const),
      at: 1 + Math.floor(random.next() * 400),
    })),
  );
}

/** Runs a plan to its end while the daemon dies again and again; returns how often it died. */
export async function killTeam(life: TeamLife, next: NextDeath): Promise<number> {
  const stage = await openTeam(life.parts, {
    clarify: [
      { when: { prompt: "Is anything unclear" }, steps: [{ answer: { status: "ready", message: "Brew it" } }] },
    ],
    poolSize: 3,
    nodeArguments: dying,
    config: `test_command: [sh, -c, ${JSON.stringify(life.testCommand)}]\n`,
    env: (base) => ({ SIGNALBOX_POINTS: join(base, "points"), SIGNALBOX_DEATH: join(base, "death") }),
  });
  let kills = 0;
  const arm = () => {
    const points = kills === 0 ? [] : readFileSync(join(stage.base, "points"), "utf8").trimEnd().split("\n");
    const death = next(points.at(-1) ?? "");
    if (death !== undefined) writeFileSync(join(stage.base, "death"), JSON.stringify(death));
  };
  try {
    let isOver = false;
    arm();
    const ending = runToEnd(stage, life).finally(() => {
      isOver = true;
    });
    for (;;) {
      await Promise.race([stage.daemon().ended, ending]);
      if (isOver) break;
      kills++;
      arm();
      // The next daemon may die while it starts.
      await stage.restart().catch(() => {});
    }
    await check(stage, life, await ending);
    return kills;
  } finally {
    await stage.close();
  }
}

/** What a person does: creates the task, again where the answer did not come, and answers questions. */
async function runToEnd(stage: TeamStage, { settings }: TeamLife): Promise<string> {
  const { call } = stage;
  const { id } = await eventually(
    async () => {
      const { tasks } = await call(routes.listTasks, { query: { limit: "1000" } });
      const parent = tasks.find(({ part }) => part === null);
      if (parent === undefined) return void (await stage.begin(settings));
      const { questions } = await call(routes.listQuestions, { query: {} });
      for (const { task, id: question } of questions)
        await call(routes.replyTask, { params: { task }, body: { text: "yes", question } });
      return parent.phase === "over" || parent.held !== null ? parent : undefined;
    },
    300_000,
    () => describe(stage),
  );
  return id;
}

async function describe({ call, events, daemon }: TeamStage): Promise<string> {
  const { tasks } = await call(routes.listTasks, { query: { limit: "1000" } });
  const open = tasks.filter(({ phase }) => phase !== "over");
  const told = await Promise.all(
    open.map(async (task) => [task.id, task.part?.item, task.status, task.held, (await events(task.id)).slice(-8)]),
  );
  return `${JSON.stringify(told, undefined, 1)}\n${daemon().said().slice(-4_000)}`;
}

async function check(stage: TeamStage, { children, files, prompts }: TeamLife, id: string): Promise<void> {
  const { call, git, repository } = stage;
  const parent = await stage.task(id);
  expect(parent).toMatchObject({ status: "COMPLETED", held: null });
  const { tasks } = await call(routes.listTasks, { query: { limit: "1000" } });
  const parts = tasks.filter((task) => task.id !== id);
  const ends = parts.map(({ part, status }) => `${part?.item} ${part?.try} ${status}`);
  expect(ends.sort()).toEqual([...children].sort());
  expect(git(repository, "ls-tree", "-r", "--name-only", parent.branch).split("\n")).toEqual(files);
  const merges = git(repository, "log", "--first-parent", "--merges", "--format=%s", parent.branch).split("\n");
  const wanted = children.filter((child) => child.endsWith("_DONE")).map((child) => titleOf(child.split(" ")[0] ?? ""));
  expect(merges.map((subject) => subject.replace(/^.*: /, "")).sort()).toEqual(wanted.sort());
  const heard = (await Promise.all(tasks.map((task) => stage.prompts(task.id)))).flat();
  const counts = Object.keys(prompts).map((part) => [part, heard.filter((text) => text.includes(part)).length]);
  expect(Object.fromEntries(counts)).toEqual(prompts);
  expect(await stage.runs()).toEqual([]);
  expect(tasks.filter(({ workspace }) => workspace !== "").map((task) => task.id)).toEqual([]);
  expect(await call(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
}
