import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

const waitTimeout = { timeout: 30_000 };

test("a person is called once by their command and by the bell, and all lists of needs agree", async () => {
  const { base, env, home, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  const called = join(base, "called");
  const calls = () => (existsSync(called) ? readFileSync(called, "utf8").trim().split("\n") : []);
  const line = `notify: { command: [sh, -c, 'echo "$*" >> "${called}"', call] }`;
  writeFileSync(join(home, "config.yml"), `workflow: brew\n${line}\n`);

  const follower = atTerminal([process.execPath, cliFile, "events", "--follow", "--bell"], {
    ...{ base, env, folder: coffee },
  });
  const heard = join(base, "heard");
  follower.tmux("pipe-pane", `cat > '${heard}'`);
  const rung = () => (existsSync(heard) ? readFileSync(heard, "utf8").split("\u0007").length - 1 : 0);

  await signalbox(["task", "create", "Brew it"], coffee);
  await expect.poll(calls, waitTimeout).toHaveLength(1);
  expect(calls()[0]).toContain("coffee#1");
  await expect.poll(rung, waitTimeout).toBe(1);
  expect((await signalbox(["task", "list", "--needs-me"], coffee)).stdout).toContain("coffee#1");
  expect((await signalbox(["status"], coffee)).stdout).toContain("1 open, 1 needs you");
  expect((await signalbox(["guide"], coffee)).stdout).toContain("1 needs you");

  // A second task is a separate call, and the first one is not repeated.
  await signalbox(["task", "create", "Brew more"], coffee);
  await expect.poll(calls, waitTimeout).toHaveLength(2);
  expect(calls()[1]).toContain("coffee#2");
  await expect.poll(rung, waitTimeout).toBe(2);

  // A later follower rings once for the existing needs, and once for each new one.
  const late = atTerminal([process.execPath, cliFile, "events", "--follow", "--bell"], { base, env, folder: coffee });
  const heardLate = join(base, "heard-late");
  late.tmux("pipe-pane", `cat > '${heardLate}'`);
  await late.shows(/2 tasks need you: signalbox task list --needs-me --all/);
  const rungLate = () => (existsSync(heardLate) ? readFileSync(heardLate, "utf8").split("\u0007").length - 1 : 0);
  await expect.poll(rungLate, waitTimeout).toBe(1);
  await signalbox(["task", "create", "Brew even more"], coffee);
  await expect.poll(rung, waitTimeout).toBe(3);
  await expect.poll(rungLate, waitTimeout).toBe(2);
});

test("doctor and status name a broken channel", async () => {
  const { base, home, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  const program = join(base, "pager");
  writeFileSync(program, "#!/bin/sh\necho 'No network.' >&2\nexit 7\n", { mode: 0o755 });
  writeFileSync(join(home, "config.yml"), `workflow: brew\nnotify: { command: ["${program}"] }\n`);
  await signalbox(["task", "create", "Brew it"], coffee);
  const check = async () => {
    const { checks } = JSON.parse((await signalbox(["doctor", "--json"], coffee)).stdout);
    return checks.filter(({ name }: { name: string }) => name === "calls");
  };
  await expect.poll(check, waitTimeout).toMatchObject([
    { level: "warning", found: expect.stringMatching(/^command: .*No network/) },
    { level: "warning", found: "coffee#1 needs you, and the call did not get through" },
  ]);
  expect((await signalbox(["status"], coffee)).stdout).toMatch(/^calls .*command/m);
  // Whether the command can be run is checked at any time.
  rmSync(program);
  await signalbox(["down"], coffee);
  expect(await check()).toMatchObject([{ level: "warning", found: `command: there is no ${program}` }]);
  // The task continues.
  expect((await signalbox(["task", "continue", "1"], coffee)).code).toBe(0);
});

test("list, explain and doctor report a workspace that was deleted by hand, and respawn restores it", async () => {
  const { signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  await signalbox(["task", "create", "Brew it"], coffee);
  await signalbox(["task", "continue", "1"], coffee);
  const path = async () => (await signalbox(["task", "path", "1"], coffee)).stdout.trim();
  await expect.poll(path, waitTimeout).not.toBe("");
  const folder = await path();
  rmSync(folder, { recursive: true });
  const { stdout: explained } = await signalbox(["task", "explain", "1"], coffee);
  expect(explained).toContain(folder);
  const [, command = ""] = /signalbox (task respawn \w+)/.exec(explained) ?? [];
  const list = async () => (await signalbox(["task", "list"], coffee)).stderr;
  await expect.poll(list, waitTimeout).toMatch(/^coffee#1: .*\n {2}signalbox task respawn \w+$/m);
  const { checks } = JSON.parse((await signalbox(["doctor", "--json"], coffee)).stdout);
  expect(checks).toContainEqual(
    expect.objectContaining({ name: "tasks", level: "warning", found: expect.stringContaining(folder) }),
  );
  expect((await signalbox(command.split(" "), coffee)).code).toBe(0);
  await expect.poll(() => existsSync(join(folder, "recipe.md")), waitTimeout).toBe(true);
});
