import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProcessIdentity } from "../../src/ports/processes.ts";
import { canMount, mount } from "../faults/mount.ts";
import { newFolder, openProcesses, recordOf, table, until } from "./stage.ts";

const sh = (script: string) => ["sh", "-c", script];

test("every exit code is recorded unchanged", async () => {
  const { start, ended } = openProcesses();
  const codes = [0, 1, 2, 3, 64, 75, 100, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255];
  for (const code of codes) await start(`a${code}`, sh(`exit ${code}`));
  for (const code of codes) expect(await ended(`a${code}`)).toMatchObject({ code, signal: "", cause: "exit" });
});

test("the signal that ended a program is recorded by name", async () => {
  const { start, ended } = openProcesses();
  const signals = ["HUP", "INT", "QUIT", "ILL", "ABRT", "FPE", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "USR2"];
  // `ulimit -c 0`: otherwise some signals would leave a core file in the folder.
  for (const signal of signals) await start(signal.toLowerCase(), sh(`ulimit -c 0; kill -${signal} $$; sleep 1000`));
  for (const signal of signals) {
    const end = { code: undefined, signal: `SIG${signal}`, cause: "exit" };
    expect(await ended(signal.toLowerCase())).toMatchObject(end);
  }
});

describe("a program that cannot be started says why", () => {
  const folder = newFolder();
  const file = join(folder, "plain");
  writeFileSync(file, "no program");
  const bad = join(folder, "bad");
  writeFileSync(bad, "#!/no/such/interpreter\n");
  chmodSync(bad, 0o755);
  const cases: Record<string, [argv: readonly string[], cwd: string, reason: RegExp]> = {
    missing: [["/no/such/program"], "/", /no such program/],
    unknown: [["no-such-program-on-the-path"], "/", /no such program/],
    plain: [[file], "/", /is not executable/],
    folder: [[folder], "/", /is not executable/],
    interpreter: [[bad], "/", /no such program/],
    cwd: [["true"], "/no/such/folder", /there is no folder "\/no\/such\/folder"/],
    "cwd-file": [["true"], file, /is not a folder/],
    nul: [["true", "a\0b"], "/", /could not be started/],
    nothing: [[], "/", /could not be started/],
    long: [["true", "x".repeat(4_000_000)], "/", /too long/],
  };
  test.for(Object.entries(cases))("%s", async ([id, [argv, cwd, reason]]) => {
    const { start, ended } = openProcesses();
    await start(id, argv, { cwd });
    const end = await ended(id);
    expect(end).toMatchObject({ kind: "ended", code: undefined, signal: "", cause: "start" });
    expect(end).toHaveProperty("reason", expect.stringMatching(reason));
  });
});

test("pipes and links in the place of a run's files are neither read nor waited for", async () => {
  const { processes, start, ended, folder } = openProcesses();
  await start("a", sh("echo hello"));
  await ended("a");
  for (const replace of ["ln -s /dev/zero", "mkfifo", "mkdir"]) {
    for (const file of ["output", "end.json", "process.json", "claim"])
      execFileSync("sh", ["-c", `rm -rf ${file}; ${replace} ${file}`], { cwd: join(folder, "a") });
    expect(await processes.read("a", "output", 0, 1_000)).toHaveLength(0);
    expect(await processes.look("a")).toMatchObject({ kind: "absent" });
  }
});

test("arbitrary bytes in input and output are preserved", async () => {
  const { processes, start, ended } = openProcesses();
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const file = join(newFolder(), "bytes");
  writeFileSync(file, bytes);
  await start("a", ["cat", file]);
  await ended("a");
  expect(Buffer.from(await processes.read("a", "output", 0, 1_000))).toEqual(bytes);
});

test("a flood of output is stopped, and output up to the limit is kept", async () => {
  const { folder, start, ended } = openProcesses();
  const outputLimit = 4_000_000;
  await start("a", sh("cat /dev/zero & cat /dev/zero >&2"), { outputLimit });
  expect(await ended("a")).toMatchObject({ signal: "SIGKILL", cause: "output" });
  await until(() => printedIn(folder, "a") === outputLimit);
});

test("a flood from a process that the program left behind is stopped too", async () => {
  const { folder, start, ended } = openProcesses();
  await start("a", sh("setsid cat /dev/zero & sleep 0.1"), { outputLimit: 1_000_000_000 });
  expect(await ended("a")).toMatchObject({ code: 0, cause: "exit" });
  await supervisorGone(folder, "a");
  const { size } = statSync(join(folder, "a", "output"));
  expect(await bearers(folder, "a")).toEqual([]);
  expect(statSync(join(folder, "a", "output")).size).toBe(size);
});

test("processes that left the program's group, session or family are ended with it", async () => {
  const { folder, processes, start, text } = openProcesses();
  const script = `
    sleep 1000 &
    setsid sleep 1000 &
    setsid sh -c 'sleep 1000 & sleep 1000 &' &
    (setsid sh -c 'trap "" TERM HUP; (sleep 1000 > /dev/null 2>&1 < /dev/null &) ; while true; do sleep 1000; done' &)
    (env -i sleep 1000 &)
    sleep 0.2; echo ready; sleep 1000`;
  await start("a", sh(script));
  await until(async () => (await text("a")) === "ready\n");
  const before = await bearers(folder, "a");
  expect(before.length).toBeGreaterThanOrEqual(7);
  const { pid } = recordOf(folder, "a").identity;
  const family = await table.familyOf(pid);
  await processes.kill("a");
  expect(await processes.look("a")).toMatchObject({ kind: "ended", cause: "killed" });
  for (const each of [...before, ...family]) expect(await table.isAlive(each)).toBe(false);
});

test("processes that an ended program left behind are ended by its supervisor, or by a kill if the supervisor died", async () => {
  const { folder, processes, start, ended, text } = openProcesses();
  await start("a", sh("setsid sleep 1000 & env -i sleep 1000 & echo $!"));
  await ended("a");
  await supervisorGone(folder, "a");
  expect(await bearers(folder, "a")).toEqual([]);
  expect(await table.identify(Number(await text("a")))).toBeUndefined();

  await start("b", sh("trap '' HUP; setsid sleep 1000 & echo $!; while [ ! -e over ]; do sleep 0.05; done"), {
    cwd: folder,
  });
  await until(async () => (await text("b")) !== "");
  const { supervisor } = recordOf(folder, "b");
  process.kill(supervisor.pid, "SIGKILL");
  writeFileSync(join(folder, "over"), "");
  expect(await ended("b")).toEqual({ kind: "lost" });
  expect((await bearers(folder, "b")).length).toBe(1);
  await processes.kill("b");
  expect(await bearers(folder, "b")).toEqual([]);
});

test("a program that floods after its time limit is stopped immediately", async () => {
  const { folder, start, ended } = openProcesses({ grace: 600_000 });
  const script = "trap 'cat /dev/zero' TERM; while true; do sleep 0.05; done";
  await start("a", sh(script), { timeLimit: 300, outputLimit: 1_000_000 });
  expect(await ended("a")).toMatchObject({ kind: "ended", signal: "SIGKILL", cause: "output" });
  await supervisorGone(folder, "a");
  expect(printedIn(folder, "a")).toBe(1_000_000);
});

test("a program that closes its output keeps running until its own end", async () => {
  const { processes, start, ended } = openProcesses();
  await start("a", sh("exec <&- >&- 2>&-; sleep 0.3; exit 3"));
  expect(await processes.look("a")).toMatchObject({ kind: "running" });
  expect(await ended("a")).toMatchObject({ code: 3, cause: "exit" });
});

test("unread input does not block the start", async () => {
  const { start, ended } = openProcesses();
  await start("a", ["true"], { input: "x".repeat(1_000_000) });
  expect(await ended("a")).toMatchObject({ code: 0, cause: "exit" });
});

test("a stopped program can be killed", async () => {
  const { processes, start, text } = openProcesses();
  await start("a", sh("echo ready; kill -STOP $$; sleep 1000"));
  await until(async () => (await text("a")) !== "");
  await processes.kill("a");
  expect(await processes.look("a")).toMatchObject({ kind: "ended", cause: "killed", signal: "SIGTERM" });
});

test("arguments, environment and folder are neither executed nor split", async () => {
  const { start, ended, text } = openProcesses();
  const place = newFolder();
  const hostile = `a;touch ${place}/1\n$(touch ${place}/2)\`touch ${place}/3\` | & "' \\ # \u0007 \u{1f600} \ud800 -x`;
  const cwd = join(place, hostile.replaceAll("/", "∕").slice(0, 60));
  mkdirSync(cwd);
  const program = `process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.VALUE, process.env["A;B"], process.cwd()]))`;
  const env = { VALUE: hostile, "A;B": hostile, NODE_OPTIONS: "" };
  await start("a", [process.execPath, "-e", program, "--", hostile, "", " "], { cwd, env });
  expect(await ended("a")).toMatchObject({ code: 0 });
  // Half a character cannot be written.
  const whole = hostile.replace("\ud800", "\ufffd");
  expect(JSON.parse(await text("a"))).toEqual([[whole, "", " "], whole, whole, cwd]);
  expect(readdirSync(place)).toHaveLength(1);
});

test("a program has the environment of its order, the mark, and nothing else", async () => {
  const { start, ended, text } = openProcesses();
  await start("a", ["/usr/bin/env"], { env: { A: "1" } });
  await ended("a");
  expect((await text("a")).trim().split("\n").sort()).toEqual([
    "A=1",
    expect.stringMatching(/^SIGNALBOX_PROCESS=\w{32}$/),
  ]);
});

test("the files of a run are private, and keys do not stay in them", async () => {
  const { folder, start, ended } = openProcesses();
  await start("a", ["true"], { env: { KEY: "secret-key" }, input: "hello" });
  await ended("a");
  const place = join(folder, "a");
  await supervisorGone(folder, "a");
  expect(statSync(place).mode & 0o777).toBe(0o700);
  const files = readdirSync(place);
  expect(files.sort()).toEqual(["claim", "end.json", "errors", "input", "output", "process.json", "trouble"]);
  for (const name of files) {
    expect(statSync(join(place, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(place, name), "utf8")).not.toContain("secret-key");
  }
});

test("a damaged record counts as missing, and no program is started", async () => {
  const { folder, processes, start, ended } = openProcesses();
  await start("a", ["true"]);
  await ended("a");
  await supervisorGone(folder, "a");
  for (const text of ["", "{", "[]", "null", '"x"', "\u0000\u0001"]) {
    writeFileSync(join(folder, "a", "end.json"), text);
    expect(await processes.look("a")).toEqual({ kind: "lost" });
  }
});

test("a supervisor ignores SIGTERM and still records the end of its program", async () => {
  const { folder, processes, start, ended } = openProcesses();
  await start("a", sh("while [ ! -e over ]; do sleep 0.05; done; exit 4"), { cwd: folder });
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const)
    process.kill(recordOf(folder, "a").supervisor.pid, signal);
  expect(await processes.look("a")).toMatchObject({ kind: "running" });
  writeFileSync(join(folder, "over"), "");
  expect(await ended("a")).toMatchObject({ code: 4, cause: "exit" });
});

test.runIf(canMount())("on a full disk the end of a program is recorded, and no new program is started", async () => {
  const { folder } = mount(newFolder(), "size=256k");
  const { processes, start, ended } = openProcesses({ folder });
  await start("a", ["cat", "/dev/zero"], { outputLimit: 1_000_000_000 });
  expect(await ended("a")).toMatchObject({ kind: "ended", code: 1, cause: "exit" });
  await expect(start("b", ["true"])).rejects.toMatchObject({ name: "Fault", retry: "later" });
  expect(await processes.look("b")).toEqual({ kind: "absent" });
  truncateSync(join(folder, "a", "output"));
  await start("b", ["true"]);
  expect(await ended("b")).toMatchObject({ code: 0, cause: "exit" });
});

test.runIf(canMount())("on a full disk a program can be killed", async () => {
  const { folder } = mount(newFolder(), "size=256k");
  const { processes, start, text } = openProcesses({ folder });
  await start("a", sh("cat /dev/zero; echo full > /dev/null; sleep 1000"), { outputLimit: 1_000_000_000 });
  // Files that the supervisor deletes in the meantime free a page or two.
  await until(async () => (await text("a", "errors")) !== "" || freeIn(folder) <= 4);
  await processes.kill("a");
  expect(await processes.look("a")).toMatchObject({ kind: "ended" });
});

function bearers(folder: string, id: string): Promise<readonly ProcessIdentity[]> {
  return table.bearersOf(`SIGNALBOX_PROCESS=${recordOf(folder, id).mark}`);
}

async function supervisorGone(folder: string, id: string): Promise<void> {
  const { supervisor } = recordOf(folder, id);
  await until(async () => !(await table.isAlive(supervisor)));
}

function printedIn(folder: string, id: string): number {
  return ["output", "errors"].reduce((sum, name) => sum + statSync(join(folder, id, name)).size, 0);
}

function freeIn(folder: string): number {
  return Number(execFileSync("stat", ["-f", "-c", "%a", folder], { encoding: "utf8" }));
}
