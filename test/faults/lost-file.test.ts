import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { listBackups } from "../../src/home/backups.ts";
import { command } from "./command.ts";
import { createAsk, killDaemons, startDaemon } from "./daemon.ts";
import { createHome, type Home } from "./home.ts";
import { until } from "./look-at-system.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(async () => {
  await killDaemons();
  home.remove();
});

const losses: readonly (readonly [string, (database: string) => void])[] = [
  ["deleted", (database) => rmSync(database)],
  ["deleted with its log", (database) => [database, `${database}-wal`].map((file) => rmSync(file))],
  ["robbed of its log", (database) => rmSync(`${database}-wal`)],
  [
    "replaced by a copy",
    (database) => {
      copyFileSync(database, `${database}.copy`);
      renameSync(`${database}.copy`, database);
    },
  ],
];

test.for(losses)(
  "a daemon whose database is %s stops writing; everything that was saved can be backed up",
  async ([, lose]) => {
    const { database } = home.places;
    const daemon = await startDaemon(home);
    const ask = createAsk(home);
    await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
    const create = (summary: string) =>
      ask(routes.createTask, { body: { project: "coffee", summary, autostart: false } });
    for (const summary of ["One", "Two", "Three"]) await create(summary);
    lose(database);
    await expect(create("Four")).rejects.toMatchObject({
      code: "store.lost",
      message: expect.stringContaining(database),
      hint: expect.stringContaining("signalbox restore"),
    });
    const told = await command(home, "task", "update", "coffee#1", "--summary", "Other");
    expect([told.code, told.stderr]).toEqual([1, expect.stringContaining("was deleted, replaced or truncated")]);
    const { tasks } = await ask(routes.listTasks);
    expect(tasks.map(({ summary }) => summary)).toEqual(["Three", "Two", "One"]);

    // The daemon has made a backup by itself.
    await until(() => listBackups(home.places).length > 0);
    expect(await command(home, "down")).toMatchObject({ code: 0 });
    expect(await daemon.ended).toBe(0);
    expect(await command(home, "restore", "--yes")).toMatchObject({ code: 0 });
    await startDaemon(home);
    await create("Four");
    const after = await ask(routes.listTasks);
    expect(after.tasks.map(({ number, summary }) => `${number} ${summary}`)).toEqual([
      "4 Four",
      "3 Three",
      "2 Two",
      "1 One",
    ]);
    expect(await ask(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
  },
);

test("a person is called when the database is deleted under the daemon, and every task says so", async () => {
  const called = join(home.base, "called");
  const config = `notify: { command: [sh, -c, 'echo "$*" >> "${called}"', call] }\n`;
  writeFileSync(home.places.config, config);
  await startDaemon(home);
  const ask = createAsk(home);
  await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
  await ask(routes.createTask, { body: { project: "coffee", summary: "One", autostart: false } });
  rmSync(home.places.database);
  const calls = () => (existsSync(called) ? readFileSync(called, "utf8") : "");
  await expect.poll(calls, { timeout: 30_000 }).toContain("Signalbox cannot save anything");
  expect(calls()).toContain("was deleted, replaced or truncated");
  const { tasks } = await ask(routes.listTasks);
  expect(tasks[0]?.needs[0]).toMatchObject({ reason: "disk", text: expect.stringContaining("was deleted") });
});
