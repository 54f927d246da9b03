import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { lockHolder, takeLock } from "./lock.ts";

function stage() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-holder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { lock: join(folder, "lock"), database: join(folder, "store.db"), pid: join(folder, "pid") };
}

test("a dead daemon's pid that another process has now does not count as the lock's holder", () => {
  const places = stage();
  takeLock(places.lock)?.release();
  for (const number of ["1", String(process.ppid), String(process.pid)]) {
    writeFileSync(places.pid, `${number}\n`);
    expect(lockHolder(places)).toBeUndefined();
  }
});

test.runIf(process.platform === "linux")(
  "the process that has the database open is found even if the lock was deleted",
  () => {
    const places = stage();
    const database = new DatabaseSync(places.database);
    onTestFinished(() => database.close());
    database.exec("create table t (a)");
    writeFileSync(places.pid, `${process.pid}\n`);
    expect(lockHolder(places)).toEqual({ pid: process.pid });
  },
);
