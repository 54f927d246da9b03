import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endFamily } from "./end-family.ts";
import { systemProcessTable } from "./system-process-table.ts";

test("who cannot be ended is told, instead of being waited for for ever", async () => {
  const ghost = { boot: "b", pid: 999_999_999, start: "1" };
  const haunted = { ...systemProcessTable(), bearersOf: async () => [ghost], isAlive: async () => true };
  const ending = endFamily(haunted, { head: undefined, entry: "m" }, 0, 100);
  await expect(ending).rejects.toMatchObject({ code: "processes.undying", retry: "later" });
});

test("somebody who has got the number of one of them just now is told nothing", async () => {
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
    // It lives when it is looked for, and is dead when it is to be told.
    isAlive: async () => looks++ === 0,
  };
  await endFamily(table, { head, entry: "m" }, 0, 1_000);
  expect(looks).toBeGreaterThan(1);
  bystander.stdin.write("Still here.");
  const answer = once(bystander.stdout, "data").then(String);
  expect(await Promise.race([answer, once(bystander, "exit")])).toBe("Still here.");
});
