import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "./connection.ts";

test("a database that cannot be upgraded stays unchanged, and is upgraded once the obstacle is gone", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-connect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  const inFile = (sql: string) => {
    const database = new DatabaseSync(file);
    const rows = database.prepare(sql).all();
    database.close();
    return rows.map(({ name }) => name);
  };
  // One of the last tables that the migration creates, so others have been created before it fails.
  inFile("create table artifact (x)");
  expect(() => connect(file)).toThrow("artifact");
  expect(inFile("select name from sqlite_master")).toEqual(["artifact"]);
  inFile("drop table artifact");
  connect(file).close();
  expect(inFile("select name from sqlite_master")).toContain("history");
});
