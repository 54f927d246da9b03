import { expect, test } from "vitest";
import { endFamily } from "./end-family.ts";
import { systemProcessTable } from "./system-process-table.ts";

test("who cannot be ended is told, instead of being waited for for ever", async () => {
  const ghost = { boot: "b", pid: 999_999_999, start: "1" };
  const haunted = { ...systemProcessTable(), bearersOf: async () => [ghost], isAlive: async () => true };
  const ending = endFamily(haunted, { head: undefined, mark: "m" }, 0, 100);
  await expect(ending).rejects.toMatchObject({ code: "processes.undying", retry: "later" });
});
