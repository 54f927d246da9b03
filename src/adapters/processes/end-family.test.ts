import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endFamily } from "./end-family.ts";
import { systemProcessTable } from "./process-table.ts";

test("a process that cannot be ended is a fault instead of an endless wait", async () => {
  const ghost = { boot: "b", pid: 999_999_999, start: "1" };
  const haunted = { ...systemProcessTable(), bearersOf: async () => [ghost], isAlive: async () => true };
  const ending = endFamily(haunted, { head: undefined, entries: ["m"] }, 0, 100);
  await expect(ending).rejects.toMatchObject({ code: "processes.undying", retry: "later" });
});

test("a new process that has reused a pid of the family gets no signal", async () => {
  const bystander = spawn(process.execPath, ["-e", "process.stdin.pipe(process.stdout)"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void bystander.kill("SIGKILL"));
  bystander.stdin.on("error", () => {});
  const head = { boot: "b", pid: bystander.pid ?? 0, start: "1" };
  let looks = 0;
  const table = {
    ...systemProcessTable(),
    bearersOf: async () => [],
    familyOf: async () => [head],
    // Alive when the family is listed, dead when the signal is sent.
    isAlive: async () => looks++ === 0,
  };
  await endFamily(table, { head, entries: ["m"] }, 0, 1_000);
  expect(looks).toBeGreaterThan(1);
  bystander.stdin.write("Still here.");
  const answer = once(bystander.stdout, "data").then(String);
  expect(await Promise.race([answer, once(bystander, "exit")])).toBe("Still here.");
});

test("the group of a dead program is ended, even if only its pid is known", async () => {
  const shell = spawn("sh", ["-c", "sleep 600 & echo $!"], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(shell, "exit");
  const left = Number(String((await once(shell.stdout, "data"))[0]));
  onTestFinished(() => {
    try {
      process.kill(left, "SIGKILL");
    } catch {}
  });
  await ended;
  const table = systemProcessTable();
  const known = await table.identify(left);
  const head = { boot: "", pid: shell.pid ?? 0, start: "" };
  expect(await endFamily(table, { head }, 1_000)).toBe("");
  expect(await endFamily(table, { head, keepsGroup: true }, 1_000)).not.toBe("");
  expect(known !== undefined && (await table.isAlive(known))).toBe(false);
});
