import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "./connect.ts";

test("a database that cannot be brought up to date is left as it was, and is once nothing is in the way", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-connect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  const inFile = (sql: string) => {
    const database = new DatabaseSync(file);
    const rows = database.prepare(sql).all();
    database.close();
    return rows.map(({ name }) => name);
  };
  // One of the last tables that are made: those before it are made by then.
  inFile("create table artifact (x)");
  expect(() => connect(file)).toThrow("artifact");
  expect(inFile("select name from sqlite_master")).toEqual(["artifact"]);
  inFile("drop table artifact");
  connect(file).close();
  expect(inFile("select name from sqlite_master")).toContain("history");
});
