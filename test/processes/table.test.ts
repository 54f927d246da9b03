import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { linuxProcessTable, psProcessTable } from "../../src/adapters/processes/process-table.ts";
import type { ProcessIdentity, ProcessTable } from "../../src/ports/processes.ts";
import { until } from "./stage.ts";

const tables: Record<string, () => ProcessTable> = { ps: psProcessTable };
if (process.platform === "linux") tables.proc = linuxProcessTable;

describe.each(Object.entries(tables))("%s", (_, open) => {
  const table = open();

  test("a live process has one identity, the same for every caller", async () => {
    const child = run("sleep 1000");
    const identity = await table.identify(child.pid ?? 0);
    expect(identity).toMatchObject({ pid: child.pid });
    expect(identity?.boot).toMatch(/^[0-9a-f-]{36}$/i);
    expect(await open().identify(child.pid ?? 0)).toEqual(identity);
    expect(await table.isAlive(identity as ProcessIdentity)).toBe(true);
  });

  test("an ended process is not alive, and neither is a zombie", async () => {
    const child = run("sleep 1000");
    const identity = (await table.identify(child.pid ?? 0)) as ProcessIdentity;
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await table.isAlive(identity)).toBe(false);
    expect(await table.identify(identity.pid)).toBeUndefined();

    // The program that the shell execs has a child that it does not know, so the child becomes a zombie.
    const parent = run("sleep 0.1 & echo $!; exec sleep 1000");
    const pid = Number(await firstLine(parent));
    await until(async () => (await table.identify(pid)) === undefined);
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect((await table.familyOf(parent.pid ?? 0)).map((each) => each.pid)).toEqual([parent.pid]);
  });

  test("a process with the same pid but another start time or boot is a different process", async () => {
    const child = run("sleep 1000");
    const identity = (await table.identify(child.pid ?? 0)) as ProcessIdentity;
    const other = (await table.identify(1)) as ProcessIdentity;
    expect(await table.isAlive({ ...identity, start: other.start })).toBe(false);
    expect(await table.isAlive({ ...identity, boot: "another" })).toBe(false);
    expect(await table.isAlive({ ...identity, start: "" })).toBe(false);
  });

  test("a family is a process's descendants and its group, and no other process", async () => {
    const stranger = run("sleep 1000");
    const child = run("sleep 1000 & setsid sleep 1000 & (sleep 1000 &) & wait $!; echo ready; sleep 1000");
    await firstLine(child);
    await until(async () => (await table.familyOf(child.pid ?? 0)).length === 5);
    const pids = (await table.familyOf(child.pid ?? 0)).map(({ pid }) => pid);
    expect(pids).toHaveLength(5);
    expect(pids).toContain(child.pid);
    expect(pids).not.toContain(stranger.pid);
    expect(await table.familyOf(999_999_999)).toEqual([]);
  });

  test("processes are found by an entry in their environment", async () => {
    const entry = `SIGNALBOX_PROCESS=mark-${process.pid}`;
    const child = run("setsid sleep 1000 & env -i sleep 1000 & echo ready; wait", {
      SIGNALBOX_PROCESS: `mark-${process.pid}`,
    });
    const other = run("sleep 1000", { SIGNALBOX_PROCESS: `mark-${process.pid}0`, X: `SIGNALBOX_PROCESS=mark` });
    await firstLine(child);
    await until(async () => (await table.bearersOf(entry)).length === 2);
    const pids = (await table.bearersOf(entry)).map(({ pid }) => pid);
    expect(pids).toContain(child.pid);
    expect(pids).not.toContain(other.pid);
  });

  test("processor time grows with work, and includes the time of descendants", async () => {
    const idle = run("sleep 1000");
    const busy = run("while true; do :; done & wait");
    await until(async () => (await table.cpuTime(busy.pid ?? 0)) >= 1_000);
    expect(await table.cpuTime(idle.pid ?? 0)).toBeLessThan(1_000);
    expect(await table.cpuTime(999_999_999)).toBe(0);
  });
});

/** In its own group, which is killed after the test. It inherits no pipes, so a survivor does not block the test. */
function run(script: string, env: Record<string, string> = {}): ChildProcess {
  const path = { PATH: process.env.PATH ?? "" };
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const child = spawn("sh", ["-c", script], { detached: true, stdio: [...stdio], env: { ...path, ...env } });
  const { pid: leader = 0 } = child;
  onTestFinished(async () => {
    const family = await psProcessTable().familyOf(leader);
    for (const pid of [-leader, ...family.map(({ pid }) => pid)]) end(pid);
  });
  return child;
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // The group has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("It prints nowhere.");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return chunk.toString().trim();
}
