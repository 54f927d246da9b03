import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { isLocked, lockHolder } from "../../src/home/lock.ts";
import { command } from "./command.ts";
import { createAsk, type Daemon, killDaemons, spawnDaemon, startDaemon } from "./daemon.ts";
import { createHome, type Home, movedTo } from "./home.ts";
import { processesWith, until } from "./look-at-system.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(async () => {
  await killDaemons();
  home.remove();
});

const pidOf = async (where: Home) => JSON.parse((await command(where, "status", "--json")).stdout).pid as number;

describe("while a daemon runs", () => {
  test("a second daemon does not start even if the lock file was deleted, and the first takes the lock again", async () => {
    const { lock, pid } = home.places;
    const daemon = await startDaemon(home);
    rmSync(lock);
    const second = spawnDaemon(home);
    expect(await second.ended).toBe(75);
    await until(() => isLocked(lock) && existsSync(pid) && readFileSync(pid, "utf8") === `${daemon.pid}\n`);
    expect(await spawnDaemon(home).ended).toBe(75);
    expect(await pidOf(home)).toBe(daemon.pid);
  });

  test.for([
    ["the socket", (where: Home) => rmSync(where.places.socket)],
    ["the socket, and a file is in its place", (where: Home) => replace(where.places.socket)],
    ["the folder with lock, socket and number", (where: Home) => rmSync(where.places.run, { recursive: true })],
  ] as const)(
    "%s can be deleted: the next command reaches the same daemon, and there is no other",
    async ([, lose]) => {
      const daemon = await startDaemon(home);
      await createAsk(home)(routes.pause, { body: { all: true, now: false } });
      await until(() => existsSync(join(home.places.run, "paused.json")));
      // The daemon has checked its files since then.
      await new Promise((done) => setTimeout(done, 1_100));
      lose(home);
      expect(await pidOf(home)).toBe(daemon.pid);
      expect(await command(home, "project", "list", "--json")).toMatchObject({ code: 0, stderr: "" });
      // No superfluous daemon is left: it would take over when this one is stopped.
      expect(processesWith(`SIGNALBOX_HOME=${home.folder}`)).toEqual([daemon.pid]);
      expect(await pidOf(home)).toBe(daemon.pid);
      await until(() => existsSync(join(home.places.run, "paused.json")) && isLocked(home.places.lock));
      await daemon.kill();
      await startDaemon(home);
      expect(await createAsk(home)(routes.status)).toMatchObject({ paused: { all: true } });
    },
  );

  test("a deleted token is replaced by a new one, which is valid immediately; the old one is not", async () => {
    const { humanToken } = home.places;
    const daemon = await startDaemon(home);
    const old = readFileSync(humanToken, "utf8");
    rmSync(humanToken);
    await until(() => existsSync(humanToken));
    expect(readFileSync(humanToken, "utf8")).not.toBe(old);
    expect(await command(home, "pause", "--all")).toMatchObject({ code: 0 });
    writeFileSync(humanToken, old, { mode: 0o600 });
    const refused = await command(home, "status");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`: rm ${humanToken}`) });
    rmSync(humanToken);
    expect(await pidOf(home)).toBe(daemon.pid);
  });

  test("moving the home ends the daemon, and another daemon serves the next command there", async () => {
    const daemon = await startDaemon(home);
    await createAsk(home)(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
    const elsewhere = join(home.base, "elsewhere");
    renameSync(home.folder, elsewhere);
    expect(await daemon.ended).toBe(0);
    expect(existsSync(home.folder)).toBe(false);
    const { stdout } = await command(movedTo(home, elsewhere), "project", "list", "--json");
    expect(JSON.parse(stdout).projects).toMatchObject([{ name: "coffee" }]);
  });
});

test("the process id of a dead daemon is ignored", async () => {
  const daemon = await startDaemon(home);
  await daemon.kill();
  // An unrelated process has got the same process id.
  writeFileSync(home.places.pid, `${process.pid}\n`);
  expect(lockHolder(home.places)).toBeUndefined();
  expect(await command(home, "status")).toMatchObject({ code: 3 });
  expect(await command(home, "down", "--force")).toMatchObject({ code: 0, stderr: "The daemon is not running.\n" });
});

describe("a daemon that is suspended (SIGSTOP)", () => {
  async function stopped(): Promise<Daemon> {
    const daemon = await startDaemon(home);
    daemon.child.kill("SIGSTOP");
    return daemon;
  }

  /** Runs a command that must answer soon, whatever the daemon does: within five seconds on a quiet machine. */
  async function soon(...words: readonly string[]) {
    const began = Date.now();
    const ran = await command(home, ...words);
    expect(Date.now() - began).toBeLessThan(30_000);
    return ran;
  }

  test("is soon reported by status, down and doctor with the command that ends it, and that command works", async () => {
    const daemon = await stopped();
    for (const words of [["status"], ["down"]]) {
      const { code, stderr } = await soon(...words);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`The daemon (process ${daemon.pid}) runs, but does not answer.`),
      ]);
      expect(stderr).toContain("signalbox down --force");
    }
    const { stdout } = await command(home, "status", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ running: true, answers: false, pid: daemon.pid });
    const { checks } = JSON.parse((await command(home, "doctor", "--json")).stdout);
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: "daemon",
        level: "error",
        found: `runs (process ${daemon.pid}), but does not answer`,
      }),
    );
    const { code, stderr } = await soon("down", "--force");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`(process ${daemon.pid}) did not answer, and was killed`),
    ]);
    expect(await daemon.ended).toBe("SIGKILL");
    expect(await command(home, "project", "list")).toMatchObject({ code: 0 });
  });

  test("can be ended even if its socket, its lock and its process id file are deleted", async () => {
    const daemon = await stopped();
    rmSync(home.places.run, { recursive: true });
    expect(lockHolder(home.places)).toEqual({ pid: daemon.pid });
    expect(await command(home, "down", "--force")).toMatchObject({ code: 0 });
    expect(await daemon.ended).toBe("SIGKILL");
  });

  test("does not block other commands for ever", async () => {
    await stopped();
    const { code, stderr } = await command(home, "project", "list");
    expect([code, stderr]).toEqual([1, expect.stringContaining("has not answered for a while")]);
  });
});

test("a run that cannot start a daemon waits until another process starts one", async () => {
  const daemon = await startDaemon(home);
  await createAsk(home)(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "minimal" } });
  await daemon.kill();
  // Its start report cannot be written, as in a sandbox with a read-only home.
  const { startReport } = home.places;
  const blocked = { ...home, places: home.places, env: { ...home.env, SIGNALBOX_RUN: "reviewer#1" } };
  rmSync(startReport, { force: true });
  mkdirSync(startReport);
  expect(await command(home, "project", "list")).toMatchObject({ code: 1 });
  const waiting = command(blocked, "task", "show", "coffee#1");
  await new Promise((done) => setTimeout(done, 500));
  await startDaemon(home);
  expect(await waiting).toMatchObject({ code: 1, stderr: expect.stringContaining("This needs a credential.") });
});

function replace(path: string): void {
  rmSync(path);
  writeFileSync(path, "");
  expect(dirname(dirname(path))).toBe(home.places.run);
}
