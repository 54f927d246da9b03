import { existsSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";

// Git makes everything last, and disks are slow at that. In memory the suite takes half as long, where there is room.
const memory = "/dev/shm";
const needed = 4 * 1024 ** 3;
if (process.env.TMPDIR === undefined && existsSync(memory)) {
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize > needed) process.env.TMPDIR = memory;
}

// Daemons that tests start call nobody: they belong to no desktop session, on Linux and on macOS.
for (const name of ["DISPLAY", "WAYLAND_DISPLAY"]) delete process.env[name];
process.env.SSH_CONNECTION = "tests";

/** How long a poll may take on a machine that does other work too. */
const expect = { poll: { timeout: 30_000 } };

/** These compute for half a minute each. In processes of their own they run beside tests that wait. */
const proofs = [
  "test/language/{planted-bugs,random-workflows,loading}.test.ts",
  "test/language/naive/*.test.ts",
  "test/engine/{properties,rename}.test.ts",
];

export default defineConfig({
  test: {
    // Tests wait for processes of their own more than they work.
    maxWorkers: 3 * availableParallelism(),
    globalSetup: "test/build-programs.ts",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          expect,
          include: [
            "src/**/*.test.{ts,tsx}",
            "test/*.test.ts",
            "test/{engine,language,contracts,api,forge,tui}/**/*.test.ts",
          ],
          // The last two start many programs.
          exclude: [...proofs, "test/api/process.test.ts", "src/adapters/harness/acp/bridge.test.ts"],
          pool: "threads",
          isolate: false,
          testTimeout: 120_000,
        },
      },
      { test: { name: "proofs", expect, include: proofs, pool: "forks", testTimeout: 300_000 } },
      // To start a program Node forks, which takes the longer the larger the process is: a small process for each file. One
      // that all files share takes three times the system time for each git once it has run sixty files.
      {
        test: {
          name: "git",
          expect,
          include: ["test/{daemon,git,workspaces,poisoned}/**/*.test.ts"],
          pool: "forks",
          // Each fork copies the page tables of the process: a small young generation halves its memory. Without V8's threads
          // no other core has to forget copied pages.
          execArgv: ["--max-semi-space-size=2", "--single-threaded"],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: "e2e",
          expect,
          include: ["test/{e2e,faults}/**/*.test.ts", "test/api/process.test.ts"],
          pool: "forks",
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "agents",
          expect,
          include: ["test/{agents,processes,terminal,harness}/**/*.test.ts", "src/adapters/harness/acp/bridge.test.ts"],
          pool: "forks",
          // Many times what any of them takes: one that hangs must not take the whole run with it.
          testTimeout: 180_000,
          // Daemons, terminals and agents at once are at the mercy of whatever else a machine does.
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "scenarios",
          expect,
          include: ["test/scenarios/*.test.ts"],
          pool: "forks",
          testTimeout: 240_000,
          hookTimeout: 60_000,
          // In one daemon, side by side: agents wait for each other more than they work.
          maxConcurrency: 5,
        },
      },
      {
        test: {
          name: "web",
          expect,
          include: ["test/web/**/*.test.ts"],
          pool: "forks",
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "long",
          expect,
          // Whether a way past a review holds depends on who is faster, if the machine does much else.
          include: ["test/long/**/*.test.ts", "test/scenarios/self-approval/**/*.test.ts"],
          pool: "forks",
          testTimeout: 3_600_000,
        },
      },
    ],
  },
});
