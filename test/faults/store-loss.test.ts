import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { readStoreNote } from "../../src/home/database.ts";
import { command } from "./command.ts";
import { createAsk, killDaemons, spawnDaemon, startDaemon } from "./daemon.ts";
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

/** A home with three tasks and a backup of the first two. The daemon was stopped, or killed so that its WAL is left. */
async function usedHome(end: "stopped" | "killed"): Promise<void> {
  const daemon = await startDaemon(home);
  const ask = createAsk(home);
  await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
  const create = (summary: string) =>
    ask(routes.createTask, { body: { project: "coffee", summary, autostart: false } });
  for (const summary of ["One", "Two"]) await create(summary);
  await ask(routes.backup, { body: {} });
  const before = readStoreNote(home.places)?.number ?? 0;
  await create("Three");
  if (end === "killed") {
    await until(() => (readStoreNote(home.places)?.number ?? 0) > before + 1);
    return daemon.kill();
  }
  daemon.child.kill("SIGTERM");
  await daemon.ended;
}

const summaries = async () => {
  const { stdout } = await command(home, "task", "list", "--all", "--json");
  return (JSON.parse(stdout).tasks as { summary: string }[]).map(({ summary }) => summary);
};

/** All files of the store in the home folder. */
const storeFiles = () =>
  readdirSync(home.folder)
    .filter((name) => name.startsWith("signalbox.db"))
    .map((name) => `${name} ${statSync(join(home.folder, name)).size}`);

const losses: readonly (readonly [string, "stopped" | "killed", (database: string) => void, string])[] = [
  ["database is deleted", "stopped", (file) => rmSync(file), "is gone"],
  ["database is emptied beside its log", "killed", (file) => truncateSync(file), "is empty"],
  ["log is deleted", "killed", (file) => rmSync(`${file}-wal`), "lacks the newest"],
];

test.for(losses)("a home whose %s is refused and left unchanged, and a backup restores it", async (loss) => {
  const [, end, lose, what] = loss;
  const { database, backups, setAside } = home.places;
  await usedHome(end);
  lose(database);
  const before = storeFiles();
  const { code, stderr } = await command(home, "task", "list");
  expect([code, stderr]).toEqual([1, expect.stringContaining(`The database ${database} ${what}`)]);
  expect(stderr).toContain("signalbox restore");
  const { checks } = JSON.parse((await command(home, "doctor", "--json")).stdout);
  expect(checks).toContainEqual(
    expect.objectContaining({ name: "database", level: "error", found: expect.stringContaining(what) }),
  );
  expect(await spawnDaemon(home).ended).toBe(1);
  expect(storeFiles().filter((file) => !file.includes("-shm"))).toEqual(before);

  expect(await command(home, "restore")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  const restored = await command(home, "restore", "--yes", "--json");
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(restored.stdout).restored).toContain(backups);
  expect(await summaries()).toEqual(["Two", "One"]);
  const [aside = ""] = readdirSync(setAside);
  const kept = readdirSync(join(setAside, aside));
  for (const file of before) expect(kept).toContain(file.split(" ")[0]);
});

test("a person can continue with the remaining data, or begin with an empty store, after a warning", async () => {
  await usedHome("killed");
  const { database } = home.places;
  rmSync(`${database}-wal`);
  expect((await command(home, "up")).stderr).toContain("signalbox restore --as-it-is");
  expect((await command(home, "restore", "--as-it-is")).stderr).toContain("Entries that it lacks are lost.");
  expect(await command(home, "restore", "--as-it-is", "--yes")).toMatchObject({ code: 0 });
  expect(await command(home, "project", "list")).toMatchObject({ code: 0 });
  expect(await command(home, "restore", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("signalbox down"),
  });
  await command(home, "down");
  expect((await command(home, "restore", "--empty")).stderr).toContain(
    "All projects, tasks and their history are lost",
  );
  expect(await command(home, "restore", "--empty", "--yes")).toMatchObject({ code: 0 });
  expect(existsSync(database)).toBe(false);
  expect(JSON.parse((await command(home, "project", "list", "--json")).stdout)).toEqual({ projects: [] });
});

test("an agent cannot restore anything", async () => {
  await usedHome("stopped");
  const inRun = { ...home, env: { ...home.env, SIGNALBOX_RUN: "worker#1" } };
  expect(await command(inRun, "restore", "--empty", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Only a person may run this command, and this process belongs to an agent."),
  });
  expect(await summaries()).toHaveLength(3);
});

describe("backups", () => {
  test("are private, are listed, and a damaged one is not restored", async () => {
    await usedHome("stopped");
    const { backups, database } = home.places;
    const [name = ""] = readdirSync(backups);
    const file = join(backups, name);
    expect([statSync(backups).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    const bad = join(backups, "2999-01-01T00-00-00-000Z.db");
    copyFileSync(file, bad);
    truncateSync(bad, 5000);
    const { backups: listed } = JSON.parse((await command(home, "restore", "--list", "--json")).stdout);
    expect(listed).toMatchObject([
      { path: bad, problem: expect.any(String) },
      { path: file, kind: "asked", projects: 1, tasks: 2, problem: null },
    ]);
    const whole = readFileSync(database);
    expect(await command(home, "restore", "--yes")).toMatchObject({ code: 1 });
    expect(readFileSync(database).equals(whole)).toBe(true);
    expect(await command(home, "restore", name, "--yes")).toMatchObject({ code: 0 });
  });
});

test("status and doctor report a database that was deleted under the daemon, and their commands restore it", async () => {
  const { database } = home.places;
  await startDaemon(home);
  const ask = createAsk(home);
  await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
  await ask(routes.createTask, { body: { project: "coffee", summary: "One", autostart: false } });
  expect(await command(home, "status")).toMatchObject({ code: 0 });
  rmSync(database);

  const status = await command(home, "status");
  expect([status.code, status.stdout]).toEqual([1, expect.stringContaining(`${database} was deleted`)]);
  expect(JSON.parse((await command(home, "status", "--json")).stdout).storeProblem).toContain(database);
  const doctor = await command(home, "doctor", "--json");
  const { ok, checks } = JSON.parse(doctor.stdout) as { ok: boolean; checks: { name: string; fix: string }[] };
  expect([doctor.code, doctor.stderr, ok]).toEqual([1, "", false]);
  expect(checks).toContainEqual(
    expect.objectContaining({ name: "database", level: "error", found: expect.stringContaining("still has the lost") }),
  );
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["git", "config", "projects", "runs", "calls"]),
  );

  const fix = checks.find(({ name }) => name === "database")?.fix ?? "";
  for (const next of ["signalbox backup", "signalbox down", "signalbox restore"]) expect(fix).toContain(next);
  expect(await command(home, "backup")).toMatchObject({ code: 0 });
  expect(await command(home, "down")).toMatchObject({ code: 0 });
  expect(await command(home, "restore", "--yes")).toMatchObject({ code: 0 });
  expect(await summaries()).toEqual(["One"]);
});

test("doctor runs all other checks if the configuration cannot be read", async () => {
  mkdirSync(home.places.config, { recursive: true });
  const { checks } = JSON.parse((await command(home, "doctor", "--json")).stdout) as { checks: { name: string }[] };
  expect(checks).toContainEqual(expect.objectContaining({ name: "config", level: "error" }));
  expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(["git", "database", "calls"]));
});
