import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../test/remove-folder.ts";
import { systemProcessTable } from "../adapters/processes/process-table.ts";
import { createProcesses } from "../adapters/processes/processes.ts";
import { spawnCommands } from "../adapters/system.ts";
import type { Command, Commands } from "../ports/system.ts";
import { stoppableCommands } from "./stoppable-commands.ts";

/** Commands that run until they are aborted. */
function stage() {
  const started: string[] = [];
  const endless: Commands = {
    run: ({ argv, signal }) =>
      new Promise((_, reject) => {
        started.push(argv.join(" "));
        signal?.addEventListener("abort", () => reject(new Error(`${argv.join(" ")} was killed`)));
      }),
  };
  const paused = new Set<string>();
  const isPaused = async (task: string) => paused.has(task);
  const ended = new Set<string>();
  const hasEndedSince = async (task: string, status: string) => ended.has(task) && status !== "cancelled";
  const commands = stoppableCommands(endless, {
    ...{ home: "/home", isPaused, hasEndedSince },
    sweep: async () => {},
    sweepFolder: async () => {},
    onError: () => {},
  });
  const ends: string[] = [];
  const run = async (task: string, name: string, more: Partial<Command> = {}) => {
    const command = { argv: [name], env: { SIGNALBOX_TASK: task }, ...more } as Command;
    commands.run(command).catch((error) => ends.push(error.code ?? error.message));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { commands, paused, ended, started, ends, run };
}

test("stopping a task kills its commands, and no other task's", async () => {
  const { commands, ends, run } = stage();
  await run("t1", "make");
  await run("t1", "lint");
  await run("t2", "test");
  commands.stop("t1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toEqual(["make was killed", "lint was killed"]);
});

test("a stopped task starts no command until every stop is released, and each release counts once", async () => {
  const { commands, started, ends, run } = stage();
  const [first, second] = [commands.stop("t1"), commands.stop("t1")];
  await run("t1", "make");
  first();
  first();
  await run("t1", "make");
  expect([started, ends]).toEqual([[], ["command.stopped", "command.stopped"]]);
  await run("t2", "test");
  second();
  await run("t1", "make");
  expect(started).toEqual(["test", "make"]);
});

test("a command that was owed before its task ended is not started; a command of the end state is", async () => {
  const { ended, started, ends, run } = stage();
  ended.add("t1");
  await run("t1", "setup", { env: { SIGNALBOX_TASK: "t1", SIGNALBOX_STATUS: "working" } });
  await run("t1", "teardown", { env: { SIGNALBOX_TASK: "t1", SIGNALBOX_STATUS: "cancelled" } });
  await run("t2", "setup", { env: { SIGNALBOX_TASK: "t2", SIGNALBOX_STATUS: "working" } });
  expect([started, ends]).toEqual([["teardown", "setup"], ["command.stopped"]]);
});

test("commands of a paused task wait until it is resumed; a running command is killed and run again", async () => {
  const { commands, paused, started, ends, run } = stage();
  await run("t1", "make");
  await run("t2", "test");
  paused.add("t1");
  expect(await commands.killPaused()).toBe(1);
  await run("t1", "lint");
  expect([started, ends]).toEqual([["make", "test"], []]);
  paused.clear();
  commands.resumed();
  await new Promise((resolve) => setImmediate(resolve));
  expect([started.slice(2).sort(), ends]).toEqual([["lint", "make"], []]);
});

test("a command that waits for its paused task ends immediately when the task is stopped or its caller aborts it", async () => {
  const { commands, paused, started, ends, run } = stage();
  const own = new AbortController();
  paused.add("t1").add("t2");
  await run("t1", "make");
  await run("t2", "test", { signal: own.signal });
  commands.stop("t1");
  own.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect([started, ends]).toEqual([[], ["command.stopped", "command.stopped"]]);
});

test("a command ends when its own caller aborts it", async () => {
  const { ends, run } = stage();
  const own = new AbortController();
  await run("t1", "make", { signal: own.signal });
  own.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toEqual(["make was killed"]);
});

/** Real commands, each of which leaves a process in another process group and session. */
function realStage() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-commands-"));
  const table = systemProcessTable();
  const processes = createProcesses({ folder, supervisor: [], table });
  const commands = stoppableCommands(spawnCommands, {
    isPaused: async () => false,
    hasEndedSince: async () => false,
    home: folder,
    sweep: async (entry) => void (await processes.sweep(undefined, entry)),
    sweepFolder: processes.sweepFolder,
    onError: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(async () => {
    for (const task of ["t1", "t2"]) await commands.endLeftBehind(task, []);
    removeFolder(folder);
  });
  const pidOf = (name: string) => Number(readFileSync(join(folder, name), "utf8"));
  return {
    ...{ commands, folder },
    run: (key: string, name: string, script: string, timeout = 60_000) => {
      const left = `setsid sh -c 'echo $$ >${name}.draft; mv ${name}.draft ${name}; exec sleep 600' >/dev/null 2>&1 &`;
      const wait = `while ! [ -e ${name} ]; do sleep 0.01; done`;
      const env = { PATH: process.env.PATH ?? "", SIGNALBOX_TASK: key.split(":")[0] ?? "", SIGNALBOX_EFFECT: key };
      return commands.run({ argv: ["sh", "-c", [left, wait, script].join("\n")], cwd: folder, env, timeout });
    },
    hasLeft: (name: string) => expect.poll(() => existsSync(join(folder, name)), { timeout: 30_000 }).toBe(true),
    lives: async (name: string) => (await table.identify(pidOf(name))) !== undefined,
  };
}

test("processes that a command has started end when it is stopped, and those of other commands do not", async () => {
  const { commands, run, hasLeft, lives } = realStage();
  await run("t1:1", "server", "exit 0");
  await run("t2:1", "other", "exit 0");
  const stopped = expect(run("t1:2", "tests", "sleep 600")).rejects.toMatchObject({ code: "command.stopped" });
  await hasLeft("tests");
  commands.stop("t1");
  await stopped;
  expect([await lives("tests"), await lives("server"), await lives("other")]).toEqual([false, true, true]);
});

test("processes that a command has started end with it at its time limit", async () => {
  const { run, lives } = realStage();
  expect(await run("t1:1", "tests", "sleep 600", 1_000)).toMatchObject({ timedOut: true });
  expect(await lives("tests")).toBe(false);
});

test("processes that a task's commands have left can be ended, even after the commands have ended", async () => {
  const { commands, run, lives } = realStage();
  await run("t1:1", "server", "exit 0");
  await run("t1:2", "watcher", "exit 1");
  await run("t2:1", "other", "exit 0");
  await commands.endLeftBehind("t1", []);
  expect([await lives("server"), await lives("watcher"), await lives("other")]).toEqual([false, false, true]);
});

test("what an earlier daemon's commands have left in a folder is ended once, so that those of this daemon stay", async () => {
  const { commands, folder, run, lives } = realStage();
  await run("t1:1", "former", "exit 0");
  await commands.endFormer(folder);
  await run("t1:2", "own", "exit 0");
  await commands.endFormer(folder);
  expect([await lives("former"), await lives("own")]).toEqual([false, true]);
});

test("a command that a killed daemon has left is ended before its effect starts it again, once", async () => {
  const swept: string[] = [];
  const order: string[] = [];
  const commands = stoppableCommands(
    {
      run: async ({ argv }) => {
        order.push(argv.join(" "));
        return { code: 0, stdout: "", stderr: "", timedOut: false } as never;
      },
    },
    {
      ...{ home: "/home", isPaused: async () => false, hasEndedSince: async () => false, onError: () => {} },
      sweepFolder: async () => {},
      sweep: async (entry) => {
        swept.push(entry);
        order.push("swept");
      },
    },
  );
  const setup = { argv: ["setup"], env: { SIGNALBOX_TASK: "t1", SIGNALBOX_EFFECT: "t1:4" } } as unknown as Command;
  await commands.run(setup);
  // What this daemon's own command has left may be needed by the next one.
  await commands.run(setup);
  await commands.run({ argv: ["lint"], env: { SIGNALBOX_TASK: "t1" } } as unknown as Command);
  expect(order).toEqual(["swept", "setup", "setup", "lint"]);
  expect(swept).toEqual(["SIGNALBOX_COMMAND=/home:t1:4"]);
});
