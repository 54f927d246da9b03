import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProcesses } from "./create-processes.ts";
import { systemProcessTable } from "./system-process-table.ts";

test("where the system lets nobody watch any more, runs are looked after all the same", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-processes-"));
  const { watch } = fs;
  onTestFinished(() => {
    fs.watch = watch;
    syncBuiltinESMExports();
    rmSync(folder, { recursive: true });
  });
  fs.watch = (() => {
    throw Object.assign(new Error("System limit for number of file watchers reached"), { code: "ENOSPC" });
  }) as typeof watch;
  syncBuiltinESMExports();
  const processes = createProcesses({ folder, supervisor: [], table: systemProcessTable() });
  const stop = processes.watch(() => {});
  expect(stop).not.toThrow();
});
