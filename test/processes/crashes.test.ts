import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ProcessIdentity } from "../../src/ports/processes.ts";
import { newFolder, openProcesses, recordOf, supervisor, table, until } from "./stage.ts";

const starter = join(import.meta.dirname, "starter.ts");
const dying = join(import.meta.dirname, "dying.cjs");

test("programs keep running when the process that started them is killed, and its successor sees them end", async () => {
  const count = 8;
  const folder = newFolder();
  const daemon = spawn(process.execPath, [starter, folder, String(count), ...supervisor], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(daemon.stdout, "data");
  const ids = Array.from({ length: count }, (_, i) => `run-${i}`);
  const pids = ids.map((id) => recordOf(folder, id).identity.pid);
  daemon.kill("SIGKILL");
  await once(daemon, "exit");

  const { processes, start, ended } = openProcesses({ folder });
  const heard = new Set<string>();
  onTestFinished(processes.watch((id) => heard.add(id)));
  for (const id of ids) await start(id, ["false"]);
  const states = await Promise.all(ids.map((id) => processes.look(id)));
  expect(states.map((state) => state.kind === "running" && state.identity.pid)).toEqual(pids);
  for (const i of ids.keys()) writeFileSync(join(folder, `${i}.over`), "");
  for (const [i, id] of ids.entries()) expect(await ended(id)).toMatchObject({ kind: "ended", code: i, cause: "exit" });
  await until(() => heard.size === count);
});

test("a program keeps running and loses no output when its supervisor is killed; after its end the run is lost", async () => {
  const { folder, processes, start, ended, text } = openProcesses();
  await start("a", ["sh", "-c", "echo one; while [ ! -e over ]; do sleep 0.05; done; echo two"], { cwd: folder });
  await killSupervisor(folder, "a");
  expect(await processes.look("a")).toMatchObject({ kind: "running", identity: recordOf(folder, "a").identity });
  writeFileSync(join(folder, "over"), "");
  expect(await ended("a")).toEqual({ kind: "lost" });
  expect(await text("a")).toBe("one\ntwo\n");
  await start("a", ["echo", "three"]);
  expect(await processes.look("a")).toEqual({ kind: "lost" });
  expect(await text("a")).toBe("one\ntwo\n");
});

test("a program whose supervisor was killed can still be killed, and its end is recorded", async () => {
  const { folder, processes, start } = openProcesses();
  await start("a", ["sh", "-c", "trap '' TERM; setsid sleep 1000 & sleep 1000; sleep 1000"]);
  await killSupervisor(folder, "a");
  const family = await table.familyOf(recordOf(folder, "a").identity.pid);
  expect(family.length).toBeGreaterThan(1);
  const heard: string[] = [];
  onTestFinished(processes.watch((id) => heard.push(id)));
  await processes.kill("a");
  await until(() => heard.includes("a"));
  expect(await processes.look("a")).toMatchObject({ kind: "ended", cause: "killed", signal: "SIGKILL" });
  expect(await living(family)).toEqual([]);
});

test("a run whose order no supervisor read is absent, and can be started with a new order", async () => {
  const folder = newFolder();
  const early = openProcesses({ folder, supervisor: ["false"] });
  await expect(early.start("a", ["echo", "one"])).rejects.toMatchObject({ code: "processes.not-started" });
  expect(await early.processes.look("a")).toEqual({ kind: "absent" });
  const late = openProcesses({ folder });
  await late.start("a", ["echo", "two"]);
  expect(await late.ended("a")).toMatchObject({ code: 0, cause: "exit" });
  expect(await late.text("a")).toBe("two\n");
});

test("a run that was killed before any supervisor read its order is never started", async () => {
  const folder = newFolder();
  const early = openProcesses({ folder, supervisor: ["false"] });
  await expect(early.start("a", ["echo", "one"])).rejects.toMatchObject({ code: "processes.not-started" });
  await early.processes.kill("a");
  const late = openProcesses({ folder });
  await late.start("a", ["echo", "two"]);
  expect(await late.processes.look("a")).toMatchObject({ kind: "ended", cause: "killed" });
  expect(await late.text("a")).toBe("");
});

test("a run whose supervisor died between claim and record is lost and never started again", async () => {
  const { folder, processes, start, text } = openProcesses();
  const supervisor = await deadIdentity();
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a", "claim"), JSON.stringify({ supervisor, mark: "m1", at: 1 }));
  expect(await processes.look("a")).toEqual({ kind: "lost" });
  await start("a", ["echo", "one"]);
  expect(await processes.look("a")).toEqual({ kind: "lost" });
  expect(await text("a")).toBe("");
});

test("a deleted claim allows no second program, and the first can still be killed", async () => {
  const { folder, processes, start } = openProcesses();
  const order = { argv: ["sh", "-c", "echo $$ >> lives; sleep 1000"], cwd: folder };
  await start("a", order.argv, order);
  const first = await processes.look("a");
  rmSync(join(folder, "a", "claim"));
  await start("a", order.argv, order);
  // The supervisor deletes the order after it has recorded its program.
  await until(() => !existsSync(join(folder, "a", "order.json")));
  // As if another start had just written its order.
  const late = { ...order, argv: ["sh", "-c", "echo $$ >> lives"], env: process.env, mark: "late", timeLimit: 1e6 };
  writeFileSync(join(folder, "a", "order.json"), JSON.stringify({ ...late, outputLimit: 1e6, grace: 1 }));
  const [node = "", ...rest] = supervisor;
  execFileSync(node, [...rest, join(folder, "a")]);
  expect(await processes.look("a")).toEqual(first);
  await processes.kill("a");
  expect(await processes.look("a")).toMatchObject({ kind: "ended", cause: "killed" });
  expect(readFileSync(join(folder, "lives"), "utf8").trim().split("\n")).toHaveLength(1);
});

test("a program whose supervisor died before its record is found by its mark", async () => {
  const { folder, processes } = openProcesses();
  const supervisor = await deadIdentity();
  const mark = `mark-${process.pid}`;
  const program = spawn("sleep", ["1000"], { env: { ...process.env, SIGNALBOX_PROCESS: mark }, detached: true });
  onTestFinished(() => void program.kill("SIGKILL"));
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a", "claim"), JSON.stringify({ supervisor, mark, at: 1 }));
  // Until its exec, the child has this process's environment.
  await until(async () => (await processes.look("a")).kind === "running");
  expect(await processes.look("a")).toMatchObject({ kind: "running", identity: { pid: program.pid } });
  await processes.kill("a");
  expect(await processes.look("a")).toMatchObject({ kind: "ended", cause: "killed" });
});

test("a process that has reused the program's pid is not taken for the program, nor killed", async () => {
  const { folder, processes } = openProcesses();
  const other = spawn("sleep", ["1000"], { detached: true });
  onTestFinished(() => void other.kill("SIGKILL"));
  const identity = (await table.identify(other.pid ?? 0)) as ProcessIdentity;
  const forged = {
    start: { ...identity, start: String(Number(identity.start) - 1) },
    boot: { ...identity, boot: "another-life" },
  };
  for (const [id, each] of Object.entries(forged)) {
    mkdirSync(join(folder, id));
    const claim = { supervisor: each, mark: `none-${id}`, at: 1 };
    writeFileSync(join(folder, id, "claim"), JSON.stringify(claim));
    writeFileSync(join(folder, id, "process.json"), JSON.stringify({ ...claim, identity: each }));
    expect(await processes.look(id)).toEqual({ kind: "lost" });
    await processes.kill(id);
    expect(await processes.look(id)).toEqual({ kind: "lost" });
  }
  expect(await table.isAlive(identity)).toBe(true);
});

test("there is never a second program, wherever its supervisor is killed", {
  timeout: 600_000,
}, async () => {
  const seen = new Map<string, number>();
  for (let call = 1, isOver = false; !isOver; call++) {
    const folder = newFolder();
    const preload = writePreload(folder, call);
    const [node = "", ...rest] = supervisor;
    const first = openProcesses({ folder: join(folder, "runs"), supervisor: [node, "--require", preload, ...rest] });
    const second = openProcesses({ folder: join(folder, "runs") });
    const lives = join(folder, "lives");
    // The program ends only when the test allows it, so that its state can be read while it runs.
    const argv = ["sh", "-c", `echo $$ >> ${lives}; while [ ! -e ${folder}/over ]; do sleep 0.02; done`];
    await first.start("a", argv).catch((fault) => expect(fault).toMatchObject({ code: "processes.not-started" }));
    const before = (await second.processes.look("a")).kind;
    await second.start("a", argv);
    const after = (await second.processes.look("a")).kind;
    writeFileSync(join(folder, "over"), "");
    const end = await second.ended("a");
    const count = existsSync(lives) ? readFileSync(lives, "utf8").trim().split("\n").length : 0;
    seen.set(`${before} ${after} ${end.kind} ${count}`, call);
    isOver = existsSync(join(folder, "runs", "a", "claim")) && end.kind === "ended" && before === "running";
  }
  expect([...seen.keys()]).toEqual([
    "absent running ended 1",
    // The supervisor died between claim and start.
    "lost lost lost 0",
    "running running lost 1",
    "running running ended 1",
  ]);
});

test("wherever a daemon is killed while it starts a program, its successor starts the program once", {
  timeout: 600_000,
}, async () => {
  const outcomes = new Set<string>();
  for (let call = 1, hasStarted = false; !hasStarted; call++) {
    const folder = newFolder();
    const preload = writePreload(folder, call);
    const runs = join(folder, "runs");
    const daemon = spawn(process.execPath, ["--require", preload, starter, runs, "1", ...supervisor], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    hasStarted = await Promise.race([
      once(daemon.stdout, "data").then(() => true),
      once(daemon, "exit").then(() => false),
    ]);
    daemon.kill("SIGKILL");
    const { processes, start, ended } = openProcesses({ folder: runs });
    outcomes.add((await processes.look("run-0")).kind);
    const argv = ["sh", "-c", "echo $$ >> lives; while [ ! -e 0.over ]; do sleep 0.02; done"];
    await start("run-0", argv, { cwd: runs });
    expect(await processes.look("run-0")).toMatchObject({ kind: "running" });
    writeFileSync(join(runs, "0.over"), "");
    expect(await ended("run-0")).toMatchObject({ kind: "ended", code: 0, cause: "exit" });
    expect(readFileSync(join(runs, "lives"), "utf8").trim().split("\n")).toHaveLength(1);
  }
  expect(outcomes).toEqual(new Set(["absent", "running"]));
});

test("concurrent starts of the same run start one program", async () => {
  const folder = newFolder();
  const lives = join(folder, "lives");
  const many = Array.from({ length: 6 }, () => openProcesses({ folder: join(folder, "runs") }));
  await Promise.all(many.map(({ start }) => start("a", ["sh", "-c", `echo $$ >> ${lives}; sleep 0.2`])));
  for (const { ended } of many) expect(await ended("a")).toMatchObject({ code: 0, cause: "exit" });
  expect(readFileSync(lives, "utf8").trim().split("\n")).toHaveLength(1);
  expect(existsSync(join(folder, "runs", "a", "order.json"))).toBe(false);
});

test("deleting a run's folder ends its program, which would otherwise be unknown", async () => {
  const { folder, processes, start } = openProcesses();
  await start("a", ["sh", "-c", "setsid sleep 1000 & sleep 1000"]);
  const { identity } = recordOf(folder, "a");
  const family = await table.familyOf(identity.pid);
  rmSync(join(folder, "a"), { recursive: true });
  await until(async () => (await living(family)).length === 0);
  expect(await processes.look("a")).toEqual({ kind: "absent" });
  expect(readdirSync(folder)).toEqual([".news"]);
});

async function killSupervisor(folder: string, id: string): Promise<void> {
  const { supervisor } = recordOf(folder, id);
  process.kill(supervisor.pid, "SIGKILL");
  await until(async () => !(await table.isAlive(supervisor)));
}

async function living(family: readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]> {
  const alive = await Promise.all(family.map((each) => table.isAlive(each)));
  return family.filter((_, i) => alive[i]);
}

async function deadIdentity(): Promise<ProcessIdentity> {
  const child = spawn("sleep", ["1000"]);
  const identity = (await table.identify(child.pid ?? 0)) as ProcessIdentity;
  child.kill("SIGKILL");
  await once(child, "exit");
  return identity;
}

/** Writes a file for Node to load first, which kills the program before one of its calls. */
function writePreload(folder: string, call: number): string {
  const preload = join(folder, "preload.cjs");
  writeFileSync(preload, `globalThis.dieBefore = ${call};\nrequire(${JSON.stringify(dying)});\n`);
  return preload;
}
