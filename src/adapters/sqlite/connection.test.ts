import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "./connection.ts";
import { migrations } from "./migrations.ts";

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

test("projects of older versions, which had no kind of workspaces, get the kind that they have had: worktrees", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-connect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  const before = migrations.findIndex((script) => script.includes("$.workspaces"));
  const old = new DatabaseSync(file);
  for (const script of migrations.slice(0, before)) old.exec(script);
  old.exec(`pragma user_version = ${before}`);
  const add = old.prepare("insert into project (name, data, last_number) values (?, ?, 7)");
  add.run("coffee", JSON.stringify({ name: "coffee", path: "/coffee", poolSize: 4 }));
  add.run("tea", JSON.stringify({ name: "tea", path: "/tea", workspaces: "clone" }));
  old.close();
  const database = connect(file);
  const rows = database.prepare("select data, last_number from project order by name").all();
  database.close();
  expect(rows.map(({ data }) => JSON.parse(String(data)))).toEqual([
    { name: "coffee", path: "/coffee", poolSize: 4, workspaces: "worktree" },
    { name: "tea", path: "/tea", workspaces: "clone" },
  ]);
  expect(rows.map(({ last_number }) => last_number)).toEqual([7, 7]);
});
