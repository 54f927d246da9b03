import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "./process-table.ts";
import { createProcesses } from "./processes.ts";

test("watching runs does not fail when the system has no file watchers left", () => {
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
