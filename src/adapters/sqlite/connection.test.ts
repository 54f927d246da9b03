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

test("tasks of older versions have entered their state with the first row of history of their stay", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-connect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  const before = migrations.findIndex((script) => script.includes("entered_at"));
  const old = new DatabaseSync(file);
  for (const script of migrations.slice(0, before)) old.exec(script);
  old.exec(`pragma user_version = ${before}`);
  old.exec("insert into project (name, data, last_number) values ('coffee', '{}', 2)");
  const add = old.prepare(
    `insert into task (id, project, number, branch, status, parent, is_open, revision, created_at, updated_at, last, data)
     values (?, 'coffee', ?, '', 'x', '', 1, 1, 1, 900, 0, ?)`,
  );
  for (const [id, number] of [
    ["a", 1],
    ["b", 2],
  ] as const)
    add.run(id, number, JSON.stringify({ entry: 3 }));
  const happen = old.prepare(
    "insert into history (task, previous, revision, entry, at, states) values (1, 0, 1, ?, ?, '')",
  );
  for (const [entry, at] of [
    [1, 100],
    [2, 200],
    [3, 300],
    [0, 250],
    [3, 400],
  ] as const)
    happen.run(entry, at);
  old.close();
  const database = connect(file);
  const rows = database.prepare("select id, entered_at from task order by id").all();
  database.close();
  // Without history, the last change is the best that is known.
  expect(rows.map(({ id, entered_at }) => [id, entered_at])).toEqual([
    ["a", 300],
    ["b", 900],
  ]);
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
