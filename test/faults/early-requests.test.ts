import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { createAsk, killDaemons, startDaemon } from "./daemon.ts";
import { eventOf } from "./follow.ts";
import { createHome } from "./home.ts";

const workflows = () => ({
  slots: `name: slots
version: 1
states:
  todo: { waits_for: slot, next: busy }
  busy: { waits_for: human, next: over }
  over: { terminal: true }
`,
});

test("a task that is created as soon as the daemon listens gets no slot that another task has", async () => {
  const home = createHome(workflows);
  onTestFinished(() => home.remove());
  onTestFinished(killDaemons);
  const first = await startDaemon(home);
  const ask = createAsk(home);
  const tea = join(home.base, "tea");
  mkdirSync(tea);
  execFileSync("git", ["init", "--quiet", tea]);
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  execFileSync("git", ["-C", tea, ...author, "commit", "--quiet", "--allow-empty", "-m", "first"]);
  for (const [name, path] of Object.entries({ coffee: home.repository, tea }))
    await ask(routes.addProject, { body: { name, path, workflow: "slots", poolSize: 1 } });
  const create = async (project: string) => {
    const { task } = await ask(routes.createTask, { body: { project, summary: "Brew" } });
    return task.id;
  };
  const oldest = await create("coffee");
  await eventOf(home, oldest, ({ type }) => type === "task.moved");
  // Newer tasks, which a starting daemon handles before the oldest one.
  for (let i = 0; i < 50; i++) await create("tea");
  await first.kill();

  await startDaemon(home);
  const early = await create("coffee");
  await ask(routes.continueTask, { params: { task: oldest }, body: {} });
  await eventOf(home, early, ({ type }) => type === "task.moved");
  const { events } = await ask(routes.listEvents, { query: { project: "coffee" } });
  const moves = events.filter(({ type }) => type === "task.moved");
  expect(moves.map(({ task, data }) => [task, data.to])).toEqual([
    [oldest, "busy"],
    [oldest, "over"],
    [early, "busy"],
  ]);
});
