import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { checkPromises } from "../../scripts/check-promises.ts";
import { routes } from "../../src/api/routes.ts";
import type { TaskView } from "../../src/api/tasks.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { lockHolder } from "../../src/home/lock.ts";
import { eventually } from "../agents/stage.ts";
import { openForgeScenes } from "../scenarios/forge-scenes.ts";
import { answers, finds, packed, passes, says, withQuickRetries } from "../scenarios/pipeline-agents.ts";
import { type Behaviour, build, during, type Step } from "../scenarios/steps.ts";
import { type DeathPoint, dying } from "./crew/interrupted-crew.ts";
import { exportText } from "./exported-task.ts";
import { inOrder, type NextDeath } from "./kill-teams.ts";

const cold = { title: "It is cold", severity: "high", file: "cup.md", line: 3, evidence: "20 degrees" };
const tells: Step = {
  tool: { name: "stage_message", input: { to: "PR_HUMAN_REVIEW", message: "Mind the handle.", priority: "normal" } },
};

/** Agents that need two rounds, however often they are started: a finding is fixed once it is known. */
const agents: Behaviour = {
  analyst: [packed, says],
  writer: [says],
  implementer: [during("IMPLEMENT", ...build("one"), tells), during("FIXER", ...build("mended")), passes],
  scout: [finds(cold)],
  judge: [{ ...answers({ findings: [{ id: "F1", state: "fixed" }] }), when: { prompt: "F1 (" } }, finds(cold)],
};

/** The points between a call and its record, in the order in which they come. */
export const betweenCallAndRecord: readonly (readonly [when: string, DeathPoint])[] = [
  ["a run has completed its work, and this is not recorded", { what: '^write .*"work.completed"', when: "before" }],
  ["a message is recorded, and its run was not answered", { what: '^write .*"stage.messaged"', when: "after" }],
  ["a pull request is opened, and this is not recorded", { what: '^write .*"pr.opened"', when: "before" }],
  ["a comment is posted, and this is not recorded", { what: '^write .*"pr.commented"', when: "before" }],
];

const calls = "work.completed|stage.messaged|pr.opened|pr.commented|tests.ended|finding.reviewed|finding.approved";

/** The daemon dies at points that are drawn by lot: every other time between a call and its record. */
export function byLot(seed: number, count: number): NextDeath {
  const random = createRandom(seed);
  const between = (most: number) => 1 + Math.floor(random.next() * most);
  return inOrder(
    Array.from({ length: count }, (_, index) => {
      const when = random.next() < 0.5 ? ("before" as const) : ("after" as const);
      const isNamed = index % 2 === 0;
      return { what: isNamed ? `^write .*"(${calls})"` : "", when, at: between(isNamed ? 3 : 120) };
    }),
  );
}

export interface Figures {
  readonly kills: number;
  readonly rounds: number;
  readonly comments: number;
  readonly tasks: number;
  readonly pulls: number;
}

/** Takes issues through the pipeline, with a scripted GitHub, while the daemon dies again and again. */
export async function killPipelines(issues: number, next: NextDeath): Promise<Figures> {
  const scenes = await openForgeScenes("pipeline", {
    ...{ change: withQuickRetries, nodeArguments: dying, poolSize: issues },
    env: (base) => ({ SIGNALBOX_POINTS: join(base, "points"), SIGNALBOX_DEATH: join(base, "death") }),
  });
  const { base, call } = scenes;
  const branches = Array.from({ length: issues }, (_, index) => `i${index + 1}`);
  for (const branch of branches) scenes.teach(branch, agents);
  let kills = 0;
  const arm = () => {
    const points = kills === 0 ? [] : readFileSync(join(base, "points"), "utf8").trimEnd().split("\n");
    const death = next(points.at(-1) ?? "");
    if (death !== undefined) writeFileSync(join(base, "death"), JSON.stringify(death));
  };
  const died = () => {
    kills++;
    arm();
  };
  /** Starts the next daemon. It may die while it starts, or find one that an agent has started meanwhile, which is killed too. */
  const revive = async (): Promise<void> => {
    for (;;) {
      const problem = await scenes.restart().then(
        () => "",
        (error) => String(error),
      );
      if (problem === "") return;
      if (problem.includes("ended with SIGKILL")) died();
      const other = lockHolder(scenes.places)?.pid;
      if (other !== undefined && other !== process.pid) tryTo(() => process.kill(other, "SIGKILL"));
    }
  };
  const tasksNow = async () => (await call(routes.listTasks, { query: { limit: "1000" } })).tasks;
  const describe = async () =>
    JSON.stringify(
      await Promise.all(
        (await tasksNow())
          .filter(({ phase }) => phase !== "over")
          .map(async ({ id, branch, status, held, phase }) => [
            ...[id, branch, status, phase, held],
            (await scenes.events(id))
              .slice(-6)
              .map(({ type, data }) => `${type} ${JSON.stringify(data).slice(0, 200)}`),
          ]),
      ),
      undefined,
      1,
    );
  /** What a person does, again where no answer came: a refusal means that somebody was faster. */
  const attend = async (task: TaskView): Promise<void> => {
    const params = { task: task.id };
    const open = (await call(routes.listFindings, { params })).findings.filter(({ state }) => state === "open");
    if (task.status === "PR_HUMAN_REVIEW" && open.length > 0)
      await call(routes.decideFindings, {
        params,
        body: { findings: open.map(({ id }) => id), state: "approved" },
      });
    if (task.status === "MERGE_READY") await call(routes.diffTask, { params, query: {} });
    await call(routes.continueTask, { params, body: {} });
  };
  const runToEnd = () =>
    eventually(
      async () => {
        const tasks = await tasksNow();
        for (const branch of branches)
          if (!tasks.some((task) => task.branch === branch))
            await call(routes.createTask, {
              body: {
                ...{ project: "coffee", branch, summary: `About ${branch}`, workflow: "pipeline" },
                ...{ preset: "quick-fix" },
              },
            });
        for (const task of tasks)
          if (task.needsPerson && task.phase === "waiting") await attend(task).catch(() => undefined);
        return tasks.length === issues && tasks.every(({ phase }) => phase === "over") ? tasks : undefined;
      },
      900_000,
      describe,
    );
  try {
    let isOver = false;
    arm();
    const ending = runToEnd().finally(() => {
      isOver = true;
    });
    for (;;) {
      await Promise.race([scenes.daemon().ended, ending]);
      if (isOver) break;
      died();
      await revive();
    }
    const tasks = await ending;
    expect(tasks.map(({ status, held }) => [status, held])).toEqual(branches.map(() => ["DONE", null]));
    return { kills, ...(await check(scenes, tasks)) };
  } finally {
    await scenes.close();
  }
}

/** It may have ended meanwhile. */
function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // Then there is nothing to do.
  }
}

type Scenes = Awaited<ReturnType<typeof openForgeScenes>>;

/** Checks what the forge, git and the exported histories have, with a checker that shares no code with the daemon. */
async function check(scenes: Scenes, tasks: readonly TaskView[]): Promise<Omit<Figures, "kills">> {
  const { base, call, places, repository, remote, home } = scenes;
  const { pulls, comments } = scenes.github.state;
  const [histories, notes] = [join(base, "histories"), join(base, "notes")];
  for (const folder of [histories, notes]) mkdirSync(folder);
  for (const { id } of tasks) writeFileSync(join(histories, `${id}.jsonl`), await exportText(home, id));
  const forge = {
    remote,
    pulls: pulls.map(({ number, head, mergeCommit }) => ({ number, head, isMerged: mergeCommit !== undefined })),
    comments: comments.map(({ pull }) => ({ pull })),
  };
  writeFileSync(join(notes, "forge.json"), JSON.stringify(forge));
  const found = checkPromises({ repository, control: join(places.control, "coffee.git"), histories, notes });
  expect([...found].filter(([, problems]) => problems.length > 0)).toEqual([]);
  expect(await scenes.runs()).toEqual([]);
  expect(tasks.filter(({ workspace }) => workspace !== "").map(({ id }) => id)).toEqual([]);
  expect(await call(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
  const rounds = await Promise.all(
    tasks.map(async ({ id }) => (await call(routes.listFindings, { params: { task: id } })).round),
  );
  const sum = rounds.reduce((total, round) => total + round, 0);
  return { rounds: sum, comments: comments.length, tasks: tasks.length, pulls: pulls.length };
}
