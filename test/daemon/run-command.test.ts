import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawnCommands, systemClock } from "../../src/adapters/system.ts";
import { runCommand } from "../../src/daemon/effects/commands.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import { removeFolder } from "../remove-folder.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-run-command-"));
});
afterAll(() => removeFolder(folder));

const perform = runCommand({
  commands: spawnCommands,
  folderOf: async () => folder,
  env: { PATH: process.env.PATH ?? "" },
});
const context = {
  task: { ...blankIdentity, id: "t1", status: "working", workspace: "/workspace" } as never,
  key: "t1:7",
};
const run = (command: readonly string[], timeout?: string) =>
  perform({ action: "run_command", params: timeout === undefined ? { command } : { command, timeout } }, context);

test("a command runs in the task's folder and sees its task and its key, and nothing else of the daemon's environment", async () => {
  process.env.SIGNALBOX_SECRET = "key";
  await run(["sh", "-c", 'echo "$SIGNALBOX_TASK $SIGNALBOX_STATUS $SIGNALBOX_EFFECT $SIGNALBOX_SECRET" > out']);
  delete process.env.SIGNALBOX_SECRET;
  expect(readFileSync(join(folder, "out"), "utf8")).toBe("t1 working t1:7 \n");
});

test("arguments reach the program unchanged", async () => {
  await run([
    process.execPath,
    "-e",
    "require('fs').writeFileSync('args', JSON.stringify(process.argv.slice(1)))",
    "--",
    "a b",
    "$(touch pwned)",
    "; rm -rf .",
  ]);
  expect(JSON.parse(readFileSync(join(folder, "args"), "utf8"))).toEqual(["a b", "$(touch pwned)", "; rm -rf ."]);
});

test("a failed command reports how it ended and its last output", async () => {
  await expect(run(["sh", "-c", "echo one; echo two >&2; exit 3"])).rejects.toMatchObject({
    code: "command.failed",
    retry: "never",
    message: expect.stringMatching(/ended with 3\.\n(one\ntwo|two\none)$/),
  });
});

test("a command that takes too long is killed with its children", async () => {
  await expect(run(["sh", "-c", "(sleep 3; touch late) & wait"], "200ms")).rejects.toMatchObject({
    message: expect.stringContaining("did not end within 0.2 s"),
  });
});

test("the folder of a command without a workspace is deleted at its end, and after a crash at the next start", async () => {
  const home = join(folder, "home");
  const ports = { commands: spawnCommands, folderOf: async () => folder, home, env: { PATH: process.env.PATH ?? "" } };
  const out = join(folder, "where");
  const where = { action: "run_command", params: { command: ["sh", "-c", `pwd > ${out}; touch cup`] } };
  const task = { ...blankIdentity, id: "t1", status: "working", workspace: "" } as never;
  await runCommand(ports)(where, { ...context, task });
  const place = readFileSync(out, "utf8").trim();
  expect([place.startsWith(tmpdir()), existsSync(place)]).toEqual([true, false]);

  const left = place.replace(/.{6}$/, "killed");
  mkdirSync(left);
  writeFileSync(join(left, "cup"), "");
  runCommand({ ...ports, home: join(folder, "another") });
  expect(existsSync(left)).toBe(true);
  runCommand(ports);
  expect(existsSync(left)).toBe(false);
});

test("a missing program is named", async () => {
  await expect(run(["no-such-program"])).rejects.toMatchObject({
    code: "command.not-started",
    hint: expect.stringContaining("installed"),
  });
});

test("the system's clock calls once, after the time, and can be cancelled", async () => {
  const called: number[] = [];
  const start = systemClock.now();
  const stop = systemClock.after(5, () => called.push(1));
  stop();
  await new Promise<void>((resolve) => systemClock.after(10, resolve));
  expect(called).toEqual([]);
  expect(systemClock.now()).toBeGreaterThanOrEqual(start);
});
