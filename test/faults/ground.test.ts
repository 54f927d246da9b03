import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { cliFile } from "../programs.ts";
import { command } from "./command.ts";
import { createAsk, killDaemons, spawnDaemon, startDaemon } from "./daemon.ts";
import { createHome, type Home, movedTo } from "./home.ts";
import { canMount, mount, unmount } from "./mount.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(async () => {
  await killDaemons();
  unmount(home.base);
  home.remove();
});

/** The messages of a command and of the daemon itself about an unusable home. */
async function refusalOf(where: Home): Promise<string> {
  const { code, stdout, stderr } = await command(where, "task", "list");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^error: /);
  expect(stderr).not.toContain("Signalbox has a bug");
  const daemon = spawnDaemon(where);
  expect(await daemon.ended).toBe(1);
  expect(JSON.parse(daemon.said().trim().split("\n").at(-1) ?? "")).toMatchObject({
    error: { code: expect.any(String) },
  });
  return stderr;
}

describe("an unusable home", () => {
  test("that is a file, or below one, is refused by name", async () => {
    const file = join(home.base, "file");
    writeFileSync(file, "");
    for (const folder of [file, join(file, "below")]) expect(await refusalOf(movedTo(home, folder))).toContain(file);
    expect((await command(movedTo(home, file), "status")).code).toBe(3);
  });

  test.skipIf(!canMount())("that is read-only is refused by name (needs the right to mount)", async () => {
    const { folder, remount } = mount(home.base, "size=8m");
    chmodSync(folder, 0o700);
    remount("ro");
    expect(await refusalOf(movedTo(home, folder))).toContain(folder);
    remount("rw");
    const daemon = await startDaemon(movedTo(home, folder));
    await daemon.kill();
    remount("ro");
    expect(await refusalOf(movedTo(home, folder))).toContain(folder);
  });

  test.skipIf(process.getuid?.() !== 0)("that belongs to another user is refused by name (needs root)", () => {
    chmodSync(home.base, 0o755);
    for (const mode of [0o700, 0o755]) {
      chmodSync(home.folder, mode);
      const nobody = 65_534;
      const { status, stderr } = spawnSync(process.execPath, [cliFile, "task", "list"], {
        cwd: home.base,
        env: { ...home.env, NODE_COMPILE_CACHE: "" },
        uid: nobody,
        gid: nobody,
        encoding: "utf8",
        timeout: 30_000,
      });
      expect([status, stderr]).toEqual([1, expect.stringContaining(home.folder)]);
      expect(stderr).not.toContain("Signalbox has a bug");
    }
  });
});

/** A home with data, whose daemon has been stopped. */
async function usedHome(): Promise<void> {
  const daemon = await startDaemon(home);
  const ask = createAsk(home);
  await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
  for (let i = 0; i < 40; i++) {
    await ask(routes.createTask, { body: { project: "coffee", summary: `Pot ${i}`, autostart: false } });
  }
  daemon.child.kill("SIGTERM");
  expect(await daemon.ended).toBe(0);
}

function overwrite(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

describe("a damaged database", () => {
  const damages: readonly (readonly [string, (file: string) => void])[] = [
    ["with nonsense at its beginning", (file) => overwrite(file, 0, Buffer.from("Dear diary, today"))],
    [
      "with nonsense in its middle",
      (file) => overwrite(file, Math.floor(statSync(file).size / 8192) * 4096, Buffer.alloc(4096, 0xc0)),
    ],
  ];
  test.for(damages)("%s is refused, with the newest backup and the command that restores it", async ([, damage]) => {
    const { database, backups } = home.places;
    await usedHome();
    mkdirSync(backups);
    for (const name of ["2025-01-01T00-00-00-000Z.db", "2026-01-01T00-00-00-000Z.db", "notes.txt"])
      execFileSync("cp", [database, join(backups, name)]);
    damage(database);
    const before = readFileSync(database);
    const refusal = await refusalOf(home);
    expect(refusal).toContain(database);
    expect(refusal).toContain(join(backups, "2026-01-01T00-00-00-000Z.db"));
    expect(refusal).not.toContain("2025-01-01");
    expect(readFileSync(database).equals(before)).toBe(true);

    // The command in the message restores it.
    expect(refusal).toMatch(/: signalbox restore\n/);
    expect(await command(home, "restore", "--yes")).toMatchObject({ code: 0 });
    const { code, stdout } = await command(home, "task", "list", "--all", "--json");
    expect([code, JSON.parse(stdout).tasks.length]).toEqual([0, 40]);
  });

  test("without a backup is refused too, and the message says that there is none", async () => {
    await usedHome();
    overwrite(home.places.database, 0, Buffer.from("Dear diary, today"));
    expect(await refusalOf(home)).toContain(`There is no backup in ${home.places.backups}.`);
  });
});

test("a database of a newer version is refused with advice, and left unchanged", async () => {
  await usedHome();
  const database = new DatabaseSync(home.places.database);
  database.exec("pragma user_version = 999");
  database.close();
  const refusal = await refusalOf(home);
  expect(refusal).toContain(home.places.database);
  expect(refusal).toContain("version 999");
  expect(refusal).toContain("Update Signalbox");
  const after = new DatabaseSync(home.places.database);
  expect(after.prepare("pragma user_version").get()).toMatchObject({ user_version: 999 });
  after.close();
});

test("a task whose workflow no longer loads harms no other task", async () => {
  await usedHome();
  const database = new DatabaseSync(home.places.database);
  database.prepare("update workflow set text = ? where name = ?").run("nonsense: [", "minimal");
  database.close();
  await startDaemon(home);
  const ask = createAsk(home);
  const { task } = await ask(routes.createTask, {
    body: { project: "coffee", summary: "Sound", workflow: "default", autostart: false },
  });
  const { tasks } = await ask(routes.listTasks);
  expect(tasks.map(({ number }) => number)).toEqual(Array.from({ length: 41 }, (_, i) => 41 - i));
  expect(tasks.filter(({ needsPerson }) => needsPerson)).toHaveLength(40);
  expect((await ask(routes.getTask, { params: { task: task.id } })).task.summary).toBe("Sound");
  const sick = { params: { task: "coffee#1" } };
  await expect(ask(routes.explainTask, sick)).rejects.toMatchObject({ code: "workflow.invalid" });
});
