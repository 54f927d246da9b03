import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { createAsk, type Daemon, killDaemons, startDaemon } from "./daemon.ts";
import { readExport } from "./exported-task.ts";
import { eventOf } from "./follow.ts";
import { createHome, type Home } from "./home.ts";
import { isGone } from "./look-at-system.ts";
import { killGroup, pacedHook, type Step, watchSteps } from "./paced-hook.ts";

const threeHooks = (base: string) => {
  const command = pacedHook(base);
  const hooks = [1, 2, 3].map((number) => `      - { action: run_command, command: ${command(number)} }`);
  return {
    paced: `name: paced
version: 1
states:
  todo: { waits_for: human, next: over }
  ready: { waits_for: human, next: over }
  over: { terminal: true }
transitions:
  - from: todo
    to: ready
    by: human
    hooks:
${hooks.join("\n")}
`,
  };
};

let home: Home;
let daemon: Daemon;
beforeAll(async () => {
  home = createHome(threeHooks);
  daemon = await startDaemon(home);
  await createAsk(home)(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "paced" } });
}, 60_000);
afterAll(async () => {
  await killDaemons();
  home.remove();
});

/** Where the daemon is killed, and how many lines of each hook must exist then: at least and at most. */
interface Moment {
  readonly name: string;
  /** Kills daemon and hook together while the hook waits here; this many times. */
  readonly at?: Pick<Step, "at" | "number">;
  readonly times?: number;
  /** Kills the daemon as soon as this hook has ended, whether or not it has noticed. */
  readonly ended?: number;
  readonly acknowledged?: true;
  readonly settled?: true;
  readonly lines: readonly (readonly [number, number])[];
}

const once = [1, 1] as const;
const only = (number: number, lines: readonly [number, number]) =>
  [1, 2, 3].map((each) => (each === number ? lines : once));

const between = (...maybeTwice: readonly number[]) =>
  [1, 2, 3].map((each) => (maybeTwice.includes(each) ? ([1, 2] as const) : once));

const moments: readonly Moment[] = [
  // The first hook may have begun; it outlives the daemon and runs beside its repetition.
  { name: "when the move was acknowledged", acknowledged: true, lines: between(1) },
  ...[1, 2, 3].flatMap((number): Moment[] => [
    { name: `before hook ${number} did anything`, at: { at: "begun", number }, lines: only(number, once) },
    { name: `inside hook ${number}`, at: { at: "written", number }, lines: only(number, [2, 2]) },
    // The daemon may not have noticed, or may have begun the next hook, which then runs beside its repetition.
    { name: `when hook ${number} had ended`, ended: number, lines: between(number, number + 1) },
  ]),
  { name: "inside hook 2, and there again", at: { at: "written", number: 2 }, times: 2, lines: only(2, [3, 3]) },
  { name: "when all was done", settled: true, lines: only(0, once) },
];

test("the export of a task that was held by its hook and continued replays to the stored task", async () => {
  const ask = createAsk(home);
  const mended = join(home.base, "mended");
  writeFileSync(
    join(home.places.workflows, "broken.yml"),
    `name: broken
version: 1
states: { todo: { waits_for: human, next: ready }, ready: { waits_for: human, next: over }, over: { terminal: true } }
transitions:
  - { from: todo, to: ready, by: human, hooks: [{ action: run_command, command: [test, -e, ${mended}] }] }
`,
  );
  const body = { project: "coffee", workflow: "broken", summary: "Held" };
  const { task } = await ask(routes.createTask, { body });
  const params = { task: task.id };
  await ask(routes.moveTask, { params, body: { to: "ready" } });
  await eventOf(home, task.id, ({ type }) => type === "effect.failed");
  expect((await ask(routes.getTask, { params })).task.held).toMatchObject({ again: "effects" });
  writeFileSync(mended, "");
  const { task: continued } = await ask(routes.continueTask, { params, body: {} });
  await eventOf(home, task.id, ({ type, revision }) => type === "task.settled" && revision >= continued.revision);
  const exported = await readExport(home, task.id);
  expect(exported.replayed).toEqual(exported.task);
});

test.for(moments)("a daemon killed $name performs every hook, and repeats only the interrupted one", async (moment) => {
  const ask = createAsk(home);
  const { task: created } = (await ask(routes.createTask, { body: { project: "coffee", summary: moment.name } })) as {
    task: { id: string };
  };
  const { id } = created;
  const params = { task: id };
  await eventOf(home, id, ({ type }) => type === "task.settled");
  const steps = watchSteps(home.base, id);
  onTestFinished(steps.close);
  const moved = await ask(routes.moveTask, { params, body: { to: "ready" } });
  expect(moved).toMatchObject({ kind: "moved", from: "todo", task: { status: "ready", phase: "entering" } });

  const restart = async (whatElseDies = () => {}) => {
    await daemon.kill();
    whatElseDies();
    daemon = await startDaemon(home);
  };
  const settled = () => eventOf(home, id, ({ type, revision }) => type === "task.settled" && revision > 2);
  if (moment.acknowledged) await restart();
  let kills = 0;
  let end = settled();
  let next = steps.next();
  for (;;) {
    const step = await Promise.race([next, end]);
    if (!("at" in step && "goOn" in step)) break;
    next = steps.next();
    const isHere = step.at === moment.at?.at && step.number === moment.at.number && kills < (moment.times ?? 1);
    if (!isHere) step.goOn();
    const hasEnded = step.at === "written" && step.number === moment.ended && kills === 0;
    if (hasEnded) while (!isGone(step.pid)) await new Promise((resolve) => setImmediate(resolve));
    if (!isHere && !hasEnded) continue;
    kills++;
    end.catch(() => undefined);
    // Kill the daemon first: if it saw the hook die, that would count as the hook's failure.
    await restart(() => isHere && killGroup(step.pid));
    end = settled();
  }
  if (moment.settled) await restart();

  const { task, effects } = await ask(routes.getTask, { params });
  expect(task).toMatchObject({ status: "ready", previousStatus: "todo", phase: "waiting", crashCount: 0, held: null });
  expect(effects.map(({ state, tries }) => [state, tries])).toEqual([1, 2, 3].map(() => ["done", 0]));
  // Each line has the key of its own effect, and they come in order.
  const lines = steps.lines();
  expect(lines).toEqual([...lines].sort());
  const expected = effects.map((effect, i) => `${i + 1} ${id}:${effect.id}`);
  expect([...new Set(lines)]).toEqual(expected);
  for (const [i, line] of expected.entries()) {
    const [least = 0, most = 0] = moment.lines[i] ?? [];
    const times = lines.filter((each) => each === line).length;
    expect(times).toBeGreaterThanOrEqual(least);
    expect(times).toBeLessThanOrEqual(most);
  }
  const { events } = await readExport(home, id);
  expect(events.map(({ revision, event }) => [revision, event.type])).toEqual([
    [1, "task.created"],
    [2, "task.settled"],
    [3, "task.moved"],
    [4, "task.settled"],
  ]);
});
