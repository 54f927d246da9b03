import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Uses every file descriptor up, and then starts a program in each of the ways in which the daemon starts one. */
const program = `
import { closeSync, openSync } from "node:fs";
import { spawnCommands } from "./system.ts";
import { createRunner, defaultLimits } from "./git/runner.ts";
import { checkVersion, runTmux } from "./tmux/run-tmux.ts";
import { openControlClient } from "./tmux/control-client.ts";
import { createDeathWatch } from "./tmux/windows.ts";
const run = createRunner({ program: "git", env: process.env, signal: undefined, limits: defaultLimits });
const tmux = { program: "tmux", socket: "/nowhere/tmux.sock" };
const ways = {
  command: async () => spawnCommands.run({ argv: ["true"], cwd: "/", env: {}, timeout: 5000 }),
  git: () => run({ folder: "/", configuration: "ours" }, ["version"]),
  tmux: () => runTmux({ ...tmux, args: ["ls"], timeout: 5000 }),
  version: () => checkVersion("tmux"),
  control: async () => openControlClient({ ...tmux, session: "s", onNotice() {}, onEnd() {} }),
  deaths: async () => {
    const deaths = createDeathWatch("tmux", tmux.socket, async () => ({ code: 0, stdout: "", stderr: "" }));
    deaths.watch(() => {});
    deaths.serverSeen(1);
  },
};
const held = [];
try {
  for (;;) held.push(openSync("/dev/null"));
} catch {}
const ends = {};
for (const [name, way] of Object.entries(ways))
  ends[name] = await way().then(() => "ok", (error) => [error.name, error.code, error.retry].join(" "));
await new Promise((done) => setTimeout(done, 200));
for (const each of held) closeSync(each);
console.log(JSON.stringify(ends));
`;

test("a program that cannot be started because no file descriptor is left is a Fault to retry, and no unhandled event", () => {
  const argv = ["-c", 'ulimit -n 60; exec "$0" --input-type=module-typescript -e "$1"', process.execPath, program];
  const { stdout, stderr, status } = spawnSync("sh", argv, { cwd: join(import.meta.dirname), encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  const fault = "Fault system.exhausted later";
  const { deaths, ...others } = JSON.parse(stdout);
  expect(others).toEqual({ command: fault, git: fault, tmux: fault, version: fault, control: fault });
  // A watch that cannot begin is begun when the next server is seen.
  expect(deaths).toBe("ok");
});
