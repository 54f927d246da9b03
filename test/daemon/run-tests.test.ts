import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import { type RunTestsPorts, runTests } from "../../src/daemon/effects/tests.ts";
import { actions } from "../../src/engine/actions.ts";
import type { Effect } from "../../src/engine/decision.ts";
import { blankIdentity, type Task } from "../../src/engine/task.ts";
import { Fault } from "../../src/fault.ts";
import type { Log } from "../../src/ports/system.ts";
import { removeFolder } from "../remove-folder.ts";
import { stage } from "./stage.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-tests-"));
let folder = "";
let count = 0;
beforeEach(() => {
  folder = join(base, String(++count));
  mkdirSync(folder);
});
afterAll(() => removeFolder(base));

/** Files of the project; those that begin with #! are executable. */
function put(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
}

const warnings: string[] = [];
const log = { warn: (message: string) => warnings.push(message) } as unknown as Log;
const task = { ...blankIdentity, id: "t1", status: "checked", entry: 4 } as Task;
const outputFile = () => join(folder, "home", "logs", "tests", "t1-4.log");
const kept = () => readFileSync(outputFile(), "utf8");

const performer = (ports: Partial<RunTestsPorts> = {}) =>
  runTests({
    commands: spawnCommands,
    log,
    folderOf: async () => folder,
    testCommandOf: async () => [],
    requireTests: async () => false,
    outputFile,
    env: { PATH: `${join(folder, "path")}:${dirname(process.execPath)}:${process.env.PATH}`, HOME: folder },
    ...ports,
  });
const run = (params: Effect["params"] = {}, ports: Partial<RunTestsPorts> = {}) =>
  performer(ports)({ action: "run_tests", params }, { task, key: "t1:7" });
const failure = async (params: Effect["params"] = {}, ports: Partial<RunTestsPorts> = {}): Promise<Fault> => {
  const error = await run(params, ports).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`It did not fail with a Fault, but with ${error}.`);
  expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(4096);
  expect(error.message).toMatch(/^(?:\P{Cc}|[\n\t])*$/u);
  return error;
};
const sh = (text: string) => ({ "script/test": `#!/bin/sh\n${text}\n` });
const isDeclared = (word: string) => Object.hasOwn(actions.run_tests?.words ?? {}, word);

describe("a project's own tests", () => {
  const nodeProject = (sum: string) => ({
    "package.json": JSON.stringify({ scripts: { test: "node --test" } }),
    "sums.test.js": `const test = require("node:test"); const assert = require("node:assert");
      test("takes", () => {}); test("adds", () => assert.equal(1 + 1, ${sum}));`,
  });

  test("pass", async () => {
    put(nodeProject("2"));
    await run();
    expect(kept()).toContain("pass 2");
    expect(statSync(outputFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(outputFile()))).toEqual(["t1-4.log"]);
  });

  test("fail, and the fault names the failed tests, why the command was chosen, and the log", async () => {
    put(nodeProject("3"));
    const { code, message } = await failure();
    expect(code).toBe("tests");
    expect(isDeclared(code)).toBe(true);
    expect(message).toContain(
      `npm run test ended with 1. "package.json" has a script "test". The whole output is in ${outputFile()}.\nFailing tests:\n- adds\n`,
    );
    expect(message).not.toContain("- takes");
    expect(kept()).toContain("takes");
  });

  test("are a target of make", async () => {
    put({ Makefile: ".PHONY: test\ntest:\n\t@echo not ok 1 - brews; exit 3\n" });
    expect((await failure()).message).toMatch(/^make test ended with 2\..*\nFailing tests:\n- brews\n/);
  });

  test("are run by pytest", async () => {
    put({
      "tests/test_a.py": "",
      "path/pytest": "#!/bin/sh\necho 'FAILED tests/test_a.py::test_x - assert'\nexit 1\n",
    });
    const { message } = await failure();
    expect(message).toContain('pytest ended with 1. There is a "tests/test_a.py".');
    expect(message).toContain("- tests/test_a.py::test_x\n");
  });
});

describe("the command", () => {
  const say = (word: string) => ["sh", "-c", `echo ${word}`];

  test("is the action's own, else the configured one, else the detected one", async () => {
    put(sh("echo found"));
    await run({ command: say("given") }, { testCommandOf: async () => say("configured") });
    expect(kept()).toBe("given\n");
    await run({ command: [] }, { testCommandOf: async () => say("configured") });
    expect(kept()).toBe("configured\n");
    await run();
    expect(kept()).toBe("found\n");
  });

  test("gets its arguments unchanged, without a shell", async () => {
    await run({ command: ["printf", "%s|", "a b", "$(touch pwned)", "; touch pwned"] });
    expect(kept()).toBe("a b|$(touch pwned)|; touch pwned|");
    expect(existsSync(join(folder, "pwned"))).toBe(false);
  });

  test("runs in the task's folder without a terminal, and sees its task and nothing else of the daemon's environment", async () => {
    process.env.SIGNALBOX_SECRET = "key";
    put(sh('pwd; echo "$CI $SIGNALBOX_TASK $SIGNALBOX_STATUS $SIGNALBOX_EFFECT <$SIGNALBOX_SECRET>"'));
    await run();
    delete process.env.SIGNALBOX_SECRET;
    expect(kept()).toBe(`${folder}\n1 t1 checked t1:7 <>\n`);
  });
});

describe("if there are no tests", () => {
  test("the ending has its own word, and unreadable files are reported", async () => {
    put({ "package.json": "{" });
    const { code, message } = await failure();
    expect(code).toBe("untested");
    expect(isDeclared(code)).toBe(true);
    expect(message).toMatch(/^Nothing was tested: no command .* found\. "package.json" is not valid JSON\. Add /);
    expect(existsSync(outputFile())).toBe(false);
  });

  test("but they are required, the work is refused", async () => {
    const { code, message } = await failure({}, { requireTests: async () => true });
    expect(code).toBe("tests");
    expect(message).toMatch(/^There must be tests, but no command /);
  });

  test("because the folder is missing, that is an error", async () => {
    const { code, message } = await failure({}, { folderOf: async () => join(folder, "gone") });
    expect(isDeclared(code)).toBe(false);
    expect(message).toContain("gone");
  });
});

describe("an error says nothing about the work", () => {
  test("if the program is missing", async () => {
    put({ "mix.exs": "", "path/x": "" });
    const error = await failure({}, { env: { PATH: join(folder, "path") } });
    expect(error).toMatchObject({
      code: "tests.not-started",
      message: expect.stringMatching(/^The tests could not be started: "mix" .*ENOENT.* There is a "mix.exs"\.$/),
    });
    expect(isDeclared(error.code)).toBe(false);
  });

  test("if something kills the tests", async () => {
    const error = await failure({ command: ["sh", "-c", "echo so far; kill -9 $$"] });
    expect(error).toMatchObject({ code: "tests.killed", message: expect.stringMatching(/was killed\..*\nso far$/s) });
    expect(isDeclared(error.code)).toBe(false);
  });

  test("if the tests hang with their children, which are killed too", async () => {
    put(sh("(sleep 1; touch late) & ((sleep 1; touch later) & wait) & echo waiting; wait"));
    const error = await failure({ timeout: "500ms" });
    expect(error).toMatchObject({
      code: "tests.timeout",
      message: expect.stringContaining("did not end within 0.5 s."),
    });
    expect(error.message).toContain("waiting");
    expect(isDeclared(error.code)).toBe(false);
    expect(kept()).toContain("waiting");
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(readdirSync(folder).filter((name) => name.startsWith("late"))).toEqual([]);
  });
});

test("an escaped child that keeps the output open does not block the task", async () => {
  // The child outlives every timeout of the test, so waiting for it would fail.
  await run({ command: ["sh", "-c", "setsid sleep 100 & echo passed"], timeout: "60s" });
  expect(kept()).toBe("passed\n");
});

test("of 100 MB of output both ends are kept, and the first failure is still known", async () => {
  put(sh("echo not ok 1 - first; head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo; echo the end; exit 1"));
  const { code, message } = await failure();
  expect(code).toBe("tests");
  expect(message).toContain("- first\n");
  expect(message).toMatch(/\nthe end$/);
  expect(statSync(outputFile()).size).toBeGreaterThan(4.8 * 1024 * 1024);
  expect(statSync(outputFile()).size).toBeLessThanOrEqual(5 * 1024 * 1024);
  expect(kept()).toMatch(/^not ok 1 - first\nx{99}\n/);
  expect(kept()).toMatch(/\n… \d+ bytes are left out here …\n/);
  expect(kept()).toMatch(/x\nthe end\n$/);
});

test("output that is not UTF-8 is kept as far as possible, and no control sequence reaches the agent", async () => {
  put(sh("head -c 200000 /dev/urandom; printf '\\n\\033[31mnot ok 1 - \\033]0;title\\007brews\\033[0m\\r\\n'; exit 1"));
  expect((await failure()).message).toMatch(/not ok 1 - brews$/);
  expect(Buffer.byteLength(kept())).toBeGreaterThan(200_000);
});

test("a second run in the same stay replaces the output of the first", async () => {
  await run({ command: ["echo", "one and more"] });
  await run({ command: ["echo", "two"] });
  expect(kept()).toBe("two\n");
});

test("output that cannot be saved does not change the result of the tests", async () => {
  warnings.length = 0;
  put({ ...sh("exit 0"), blocked: "" });
  const elsewhere = { outputFile: () => join(folder, "blocked", "t1-4.log") };
  await run({}, elsewhere);
  expect(warnings).toEqual(["The output of a command could not be kept"]);
  put(sh("echo not ok 1 - brews; exit 1"));
  expect(await failure({}, elsewhere)).toMatchObject({
    code: "tests",
    message: expect.stringMatching(/The whole output could not be kept\.\nFailing tests:\n- brews/),
  });
});

test("commands without live output leave at least their last output", async () => {
  put(sh("echo not ok 1 - brews; exit 1"));
  expect((await failure({}, { commands: spawnCommands })).message).toContain("- brews\n");
  expect(kept()).toBe("not ok 1 - brews\n");
});

test("an unreadable folder does not count as a folder without tests", async () => {
  put({ file: "" });
  expect(await failure({}, { folderOf: async () => join(folder, "file") })).toMatchObject({ code: "tests.unreadable" });
});

test("stopped tests are retried later, and their output is not kept", async () => {
  const stopping = new AbortController();
  const error = failure({ command: ["sh", "-c", "echo begun; sleep 60"] }, { signal: stopping.signal });
  setTimeout(() => stopping.abort(), 200);
  expect(await error).toMatchObject({ code: "command.stopped", retry: "later" });
  expect(existsSync(outputFile())).toBe(false);
});

describe("in the life of a task", () => {
  const text = `
version: 1
states:
  check: { do: [run_tests], outcomes: [{ on: tests, then: fix }, { on: untested, then: claim }], next: done }
  fix: { waits_for: human, next: check }
  claim: { waits_for: human, next: done }
  done: { terminal: true }
`;
  const live = async (ports: Partial<RunTestsPorts> = {}) => {
    const life = await stage(openSqliteStore(":memory:"), text, { run_tests: performer(ports) });
    await life.create();
    return life;
  };

  test("failing tests move the task with the reason, and so do passing tests later", async () => {
    put(sh("echo not ok 1 - brews; exit 1"));
    const life = await live();
    await expect.poll(async () => (await life.task())?.status, { timeout: 20_000 }).toBe("fix");
    expect((await life.task())?.reason).toContain("Failing tests:\n- brews");
    put(sh("exit 0"));
    await life.rest();
    await life.submit("t1", { kind: "continue", actor: { role: "human" } });
    await expect.poll(async () => (await life.task())?.status, { timeout: 20_000 }).toBe("done");
    expect(life.errors).toEqual([]);
  });

  test("the workflow decides what follows if there are no tests", async () => {
    const life = await live();
    await expect.poll(async () => (await life.task())?.status, { timeout: 20_000 }).toBe("claim");
    expect((await life.task())?.reason).toContain("Nothing was tested");
  });

  test("an error holds the task unless a rule covers it", async () => {
    const life = await live({ testCommandOf: async () => ["no-such-program"] });
    await expect.poll(async () => (await life.task())?.held?.word, { timeout: 20_000 }).toBe("error");
    expect(await life.task()).toMatchObject({
      status: "check",
      held: { reason: expect.stringContaining("no-such-program") },
    });
  });

  test("tests that the daemon's stop interrupts are still owed, and their output is not kept", async () => {
    put(sh("echo > begun; sleep 60"));
    const stopping = new AbortController();
    const life = await live({ signal: stopping.signal });
    await expect.poll(() => existsSync(join(folder, "begun")), { timeout: 20_000 }).toBe(true);
    const stopped = life.performer.stop();
    stopping.abort();
    await stopped;
    expect(await life.store.openEffects("t1")).toMatchObject([
      { state: "owed", tries: 0, effect: { action: "run_tests" } },
    ]);
    expect(await life.task()).toMatchObject({ status: "check", phase: "doing" });
    expect((await life.task())?.held).toBeUndefined();
    expect(existsSync(outputFile())).toBe(false);
  });
});
