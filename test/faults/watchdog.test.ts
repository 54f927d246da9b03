import { mkdirSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { command } from "./command.ts";
import { createAsk } from "./daemon.ts";
import { createHome, type Home } from "./home.ts";
import { isGone, until } from "./look-at-system.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

/** The process id of the daemon that answers; undefined if none does. */
const answering = () =>
  createAsk(home)(routes.status).then(
    ({ pid }) => pid,
    () => undefined,
  );

test("the watchdog restarts a killed daemon without a command, but not one that was stopped or killed on purpose", async () => {
  expect((await command(home, "up")).code).toBe(0);
  const first = (await answering()) ?? 0;
  process.kill(first, "SIGKILL");
  await until(() => isGone(first));
  await expect.poll(answering, { timeout: 20_000 }).toBeDefined();
  const second = (await answering()) ?? 0;
  expect(second).not.toBe(first);
  for (const words of [["down"], ["down", "--force"]]) {
    expect((await command(home, "up")).code).toBe(0);
    expect((await command(home, ...words)).code).toBe(0);
    // Longer than a watchdog waits.
    await new Promise((done) => setTimeout(done, 2_000));
    expect((await command(home, "status")).code).toBe(3);
  }
});

test("the watchdog restarts a daemon that dies soon after each start three times, and then gives up", async () => {
  expect((await command(home, "up")).code).toBe(0);
  const killed = new Set<number | undefined>();
  for (let deaths = 0; deaths < 4; deaths++) {
    await expect.poll(async () => [undefined, ...killed].includes(await answering()), { timeout: 20_000 }).toBe(false);
    const pid = (await answering()) ?? 0;
    killed.add(pid);
    process.kill(pid, "SIGKILL");
    await until(() => isGone(pid));
  }
  // Longer than a watchdog waits.
  await new Promise((done) => setTimeout(done, 5_000));
  expect(await answering()).toBeUndefined();
});

test("the restarted daemon serves a run whose sandbox makes the home read-only", async () => {
  expect((await command(home, "up")).code).toBe(0);
  const pid = (await answering()) ?? 0;
  process.kill(pid, "SIGKILL");
  await until(() => isGone(pid));
  // The start report is the first file that a command writes, which a sandbox prevents.
  rmSync(home.places.startReport);
  mkdirSync(home.places.startReport);
  const env = { ...home.env, SIGNALBOX_RUN: "reviewer#1" };
  const asked = await command({ ...home, env }, "task", "show", "coffee#1");
  // Only a daemon says so.
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("This needs a credential.") });
});
