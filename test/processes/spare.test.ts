import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, openProcesses, recordOf, supervisor, until } from "./stage.ts";

const sleeper = ["sleep", "1000"];

/** The spare supervisors of these tests: those that wait for a folder and those that have received one. */
function waiting(): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const isOurs = readFileSync(`/proc/${name}/cmdline`, "utf8").endsWith(`\0${supervisor.at(-1)}\0`);
      return isOurs ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

test.skipIf(process.platform !== "linux")(
  "a run that is started soon after another gets the spare supervisor, and is otherwise the same",
  async () => {
    const { folder, processes, start, ended, text } = openProcesses({ keepsSpare: true });
    await start("a", sleeper);
    await until(() => waiting().length === 1);
    const [spare] = waiting();
    await start("b", ["sh", "-c", "pwd; env; cat"], {
      input: "heard",
      env: { PATH: process.env.PATH ?? "", OWN: "1" },
    });
    expect(await ended("b")).toMatchObject({ kind: "ended", code: 0, cause: "exit" });
    expect(recordOf(folder, "b").supervisor.pid).toBe(spare);
    expect(await text("b")).toMatch(/^\/\n[\s\S]*OWN=1\n[\s\S]*heard$/);
    expect(await processes.look("a")).toMatchObject({ kind: "running" });
    expect(recordOf(folder, "a").supervisor.pid).not.toBe(spare);
  },
);

test.skipIf(process.platform !== "linux")(
  "a spare supervisor ends with the process that started it, while a run that it received keeps running",
  async () => {
    const folder = newFolder();
    const starter = spawn(process.execPath, [join(import.meta.dirname, "spare-starter.ts"), folder, ...supervisor], {
      stdio: "ignore",
    });
    const { processes } = openProcesses({ folder });
    const isRunning = async (id: string) => (await processes.look(id)).kind === "running";
    await until(async () => (await isRunning("a")) && (await isRunning("b")));
    const own = recordOf(folder, "b").supervisor.pid;
    const parentOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1];
    const spare = () => waiting().find((pid) => pid !== own && parentOf(pid) === String(starter.pid));
    await until(() => spare() !== undefined);
    const last = spare();
    starter.kill("SIGKILL");
    await until(() => waiting().every((pid) => pid !== last));
    expect(await isRunning("a")).toBe(true);
    expect(await isRunning("b")).toBe(true);
  },
);

test.skipIf(process.platform !== "linux")(
  "an error of a spare supervisor is reported like that of any other",
  async () => {
    const { folder, start } = openProcesses({ keepsSpare: true });
    await start("a", sleeper);
    const before = new Set(waiting());
    await until(() => waiting().some((pid) => !before.has(pid)));
    mkdirSync(join(folder, "b", "output"), { recursive: true });
    await expect(start("b", sleeper)).rejects.toMatchObject({
      code: "processes.not-started",
      retry: "later",
      hint: expect.stringContaining("EISDIR"),
    });
  },
);
