import { copyFileSync, renameSync, rmSync } from "node:fs";
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
  "a database that is %s under the daemon takes nothing more; all that was saved can be saved",
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
    expect([told.code, told.stderr]).toEqual([1, expect.stringContaining("was deleted, replaced or cut short")]);
    const { tasks } = await ask(routes.listTasks);
    expect(tasks.map(({ summary }) => summary)).toEqual(["Three", "Two", "One"]);

    // The daemon has copied it by itself.
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
    expect(await ask(routes.check)).toEqual({ damage: [], stuck: [] });
  },
);
