import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { Fault } from "../../fault.ts";
import { createFileLog, type FileLogOptions } from "./file-log.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  path = join(folder, "logs", "daemon.log");
});
afterEach(() => removeFolder(folder));

const noon = Date.UTC(2026, 6, 1, 12);
const open = (options: Partial<FileLogOptions> = {}) =>
  createFileLog({ path, level: "debug", now: () => noon, ...options });
const linesOf = (file = path): readonly Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const messagesOf = (file = path) => linesOf(file).map(({ message }) => message);

test("a line is one JSON object with time, level, message and fields", async () => {
  const log = open();
  log.info("Two\nlines.", { task: "t1", took: 12, parts: ["a", { b: null }], nothing: undefined });
  await log.close();
  expect(readFileSync(path, "utf8")).toBe(
    '{"at":"2026-07-01T12:00:00.000Z","level":"info","message":"Two\\nlines.","task":"t1","took":12,"parts":["a",{"b":null}]}\n',
  );
});

test("the folder and the file are private", async () => {
  const log = open();
  log.info("Here.");
  await log.close();
  expect(statSync(join(folder, "logs")).mode & 0o777).toBe(0o700);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("lines below the level are not written, and the level can be changed for all loggers", async () => {
  const log = open({ level: "warn" });
  const ofTask = log.with({ task: "t1" });
  ofTask.info("one");
  ofTask.warn("two");
  log.setLevel("debug");
  ofTask.debug("three");
  log.setLevel("error");
  ofTask.warn("four");
  await log.close();
  expect(messagesOf()).toEqual(["two", "three"]);
});

test("inherited fields are in every line, and the innermost value wins", async () => {
  const log = open().with({ task: "t1", part: "a" }).with({ part: "b" });
  log.info("one");
  log.info("two", { part: "c" });
  await log.close();
  expect(linesOf()).toMatchObject([
    { task: "t1", part: "b" },
    { task: "t1", part: "c" },
  ]);
});

test("a field cannot replace the time, the level or the message", async () => {
  const log = open();
  log.info("real", { message: "false", at: 1, level: "error" });
  await log.close();
  expect(linesOf()[0]).toMatchObject({ message: "real", level: "info", "fields.message": "false" });
});

test("errors are written with name, code, message, stack and cause", async () => {
  const log = open();
  const cause = Object.assign(new Error("No room."), { code: "ENOSPC" });
  log.error("Failed.", { error: new Fault("store.disk", "It could not be saved.", { cause }) });
  expect(linesOf()[0]?.error).toEqual({
    name: "Fault",
    code: "store.disk",
    message: "It could not be saved.",
    stack: expect.stringContaining("file-log.test.ts"),
    cause: expect.objectContaining({ name: "Error", code: "ENOSPC", message: "No room." }),
  });
});

test("secrets are removed from messages, fields, keys and errors", async () => {
  const log = open().with({ token: "Zx9QpLm42v" });
  const secret = "Zx9QpLm42v";
  log.info(`GET https://me:${secret}@example.org`, {
    headers: { Authorization: `Bearer ${secret}`, accept: "text/plain" },
    env: [`API_KEY=${secret}`],
    password: 12345,
    [`ghp_${secret}`]: "x",
    hasToken: true,
    token: null,
  });
  log.error("Failed.", { error: new Error(`sk-${secret} was refused`) });
  await log.close();
  const text = readFileSync(path, "utf8");
  expect(text).not.toContain(secret);
  expect(linesOf()[0]).toMatchObject({
    headers: { Authorization: "…", accept: "text/plain" },
    env: ["API_KEY=…"],
    password: "…",
    hasToken: true,
    token: null,
  });
});

test("a value that cannot be written as JSON does not lose the line", async () => {
  const log = open();
  const circle: Record<string, unknown> = { big: 1n, nan: Number.NaN, call: () => 1, when: new Date(Number.NaN) };
  circle.self = circle;
  circle.map = new Map([["a", new Set([1])]]);
  circle.bytes = Buffer.from("abc");
  log.info("circle", { circle });
  log.info("thrower", {
    get bad() {
      throw new Error("No.");
    },
  });
  log.info("long", { text: "x".repeat(1e6), list: Array.from({ length: 1e5 }, () => ({ a: 1 })) });
  await log.close();
  expect(messagesOf()).toEqual(["circle", "thrower", "long"]);
  expect(linesOf()[0]?.circle).toMatchObject({ big: "1", nan: "NaN", map: [["a", [1]]], bytes: "3 bytes" });
  expect(linesOf()[1]).toMatchObject({ fields: expect.stringContaining("could not be read") });
  expect(statSync(path).size).toBeLessThan(32 * 1024);
});

test("ordinary lines are written at the end of the tick, errors immediately with all lines before them", async () => {
  const log = open();
  log.info("one");
  expect(existsSync(path)).toBe(false);
  await turn();
  expect(messagesOf()).toEqual(["one"]);
  log.info("two");
  log.error("three");
  expect(messagesOf()).toEqual(["one", "two", "three"]);
});

test("an error is in the file even if the process is killed directly afterwards", () => {
  const script = `
    import { createFileLog } from ${JSON.stringify(join(import.meta.dirname, "file-log.ts"))};
    const log = createFileLog({ path: ${JSON.stringify(path)}, level: "info", now: () => Date.now() });
    log.info("before");
    log.error("last words");
    process.kill(process.pid, "SIGKILL");
  `;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  expect(signal).toBe("SIGKILL");
  expect(messagesOf()).toEqual(["before", "last words"]);
});

test("a file that would become too large is rotated, and the oldest file is deleted", async () => {
  const log = open({ maxBytes: 1_000, keep: 3 });
  for (let number = 0; number < 100; number++) log.info(`line ${number}`);
  await log.close();
  expect(readdirSync(join(folder, "logs")).sort()).toEqual(["", ".1", ".2", ".3"].map((end) => `daemon.log${end}`));
  const files = [`${path}.3`, `${path}.2`, `${path}.1`, path];
  for (const file of files) {
    expect(statSync(file).size).toBeLessThanOrEqual(1_000);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const kept = files.flatMap((file) => messagesOf(file));
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => `line ${100 - kept.length + index}`));
});

test("if no old files are kept, a full file is emptied", async () => {
  const log = open({ maxBytes: 200, keep: 0 });
  for (let number = 0; number < 10; number++) log.warn(`line ${number}`);
  await log.close();
  expect(readdirSync(join(folder, "logs"))).toEqual(["daemon.log"]);
  expect(messagesOf()).toEqual(["line 8", "line 9"]);
});

test("a file that cannot be rotated keeps growing", async () => {
  mkdirSync(`${path}.1/full`, { recursive: true });
  const log = open({ maxBytes: 200, keep: 1 });
  for (let number = 0; number < 10; number++) log.warn(`line ${number}`);
  await log.close();
  expect(messagesOf()).toHaveLength(10);
});

test("on a full disk lines are dropped and counted, and the count is written once there is room", async () => {
  mkdirSync(join(folder, "logs"));
  symlinkSync("/dev/full", path);
  const log = open();
  log.info("one");
  log.info("two");
  await turn();
  log.error("three");
  rmSync(path);
  log.info("four");
  log.info("five");
  await log.close();
  expect(linesOf()).toMatchObject([{ level: "warn", lost: 3 }, { message: "four" }, { message: "five" }]);
  log.error("six");
  expect(messagesOf().slice(1)).toEqual(["four", "five", "six"]);
});

test("a partial write on a full disk is undone", () => {
  const log = JSON.stringify(join(import.meta.dirname, "file-log.ts"));
  const script = `
    import { createFileLog } from ${log};
    process.on("SIGXFSZ", () => {});
    const log = createFileLog({ path: ${JSON.stringify(path)}, level: "info", now: () => Date.now() });
    log.error("fits");
    log.error("x".repeat(5000));
    log.error("fits too");
  `;
  // The limit is 4 KB; the second line would need more.
  const argv = ["-c", 'ulimit -f 8; exec "$@"', "sh", process.execPath, "--input-type=module", "-e", script];
  expect(spawnSync("sh", argv).status).toBe(0);
  expect(linesOf()).toMatchObject([{ message: "fits" }, { level: "warn", lost: 1 }, { message: "fits too" }]);
});

test("a deleted folder is created again; if that fails, lines are lost without an error", async () => {
  const log = open();
  log.error("one");
  rmSync(join(folder, "logs"), { recursive: true });
  log.error("two");
  expect(messagesOf()).toEqual(["two"]);
  rmSync(join(folder, "logs"), { recursive: true });
  writeFileSync(join(folder, "logs"), "a file in the way");
  log.error("three");
  rmSync(join(folder, "logs"));
  log.error("four");
  expect(linesOf()).toMatchObject([{ lost: 1 }, { message: "four" }]);
});

test("after an incomplete line the next one begins on a new line", () => {
  mkdirSync(join(folder, "logs"));
  writeFileSync(path, '{"at":"2026-');
  chmodSync(path, 0o600);
  open().error("next");
  expect(readFileSync(path, "utf8").split("\n")[0]).toBe('{"at":"2026-');
  expect(JSON.parse(readFileSync(path, "utf8").split("\n")[1] ?? "")).toMatchObject({ message: "next" });
});

test("a tick with very many lines is written in parts", () => {
  const log = open();
  for (let number = 0; number < 2_000; number++) log.info("x".repeat(100));
  expect(statSync(path).size).toBeGreaterThan(200_000);
});
