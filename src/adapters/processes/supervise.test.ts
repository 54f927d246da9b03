import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Supervision } from "./processes.ts";
import { openPrinted } from "./run-records.ts";
import { startProgram } from "./supervise.ts";

test("a program that cannot be recorded, because the disk is full, is stopped", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-program-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let pid = 0;
  const order = { argv: [process.execPath, "-e", "setInterval(() => {}, 1000)"], cwd: folder, env: {}, mark: "m" };
  const record = {
    publish({ identity }: { identity: { pid: number } }) {
      pid = identity.pid;
      onTestFinished(() => kill(pid));
      throw Object.assign(new Error("No space."), { code: "ENOSPC" });
    },
  };
  const run = { folder, order, printed: openPrinted(folder), record, claim: { mark: "m" } };
  const program = await startProgram(run as unknown as Supervision);
  expect(program).toMatchObject({ kind: "failed", reason: expect.stringContaining("could not be recorded (ENOSPC)") });
  expect(pid).toBeGreaterThan(0);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Expected: the process is dead.
  }
}
