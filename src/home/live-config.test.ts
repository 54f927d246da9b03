import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { publishFile } from "../durable-file.ts";
import type { Fault } from "../fault.ts";
import type { PartialConfig } from "./config-fields.ts";
import { watchConfig } from "./live-config.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-watch-"));
afterAll(() => rmSync(base, { recursive: true }));

let folder: string;
let file: string;
let seen: PartialConfig[];
let faults: Fault[];
let stop: () => void;

beforeEach(() => {
  folder = mkdtempSync(join(base, "home-"));
  file = join(folder, "config.yml");
  seen = [];
  faults = [];
});
afterEach(() => stop());

function start() {
  stop = watchConfig(
    file,
    (config) => seen.push(config),
    (fault) => faults.push(fault),
  );
}

function write(text: string) {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

const soon = (check: () => void) => vi.waitFor(check, 10_000);
const quiet = () => new Promise((done) => setTimeout(done, 250));

test("each file that replaces the configuration is read, also after a broken one", async () => {
  write("model: a\n");
  start();
  write("model: b\n");
  await soon(() => expect(seen).toEqual([{ model: "b" }]));
  write("model: [\n");
  await soon(() => expect(faults).toHaveLength(1));
  expect(faults[0]?.message).toContain(`${file}:1:8 error: This [ is never closed.`);
  expect(seen).toHaveLength(1);
  write("model: c\n");
  await soon(() => expect(seen).toEqual([{ model: "b" }, { model: "c" }]));
  publishFile(file, "model: d\n");
  await soon(() => expect(seen.at(-1)).toEqual({ model: "d" }));
  expect(faults).toHaveLength(1);
});

test("creating, writing and removing the file is noticed", async () => {
  start();
  writeFileSync(file, "model: a\n");
  await soon(() => expect(seen).toEqual([{ model: "a" }]));
  writeFileSync(file, "model: b\n");
  await soon(() => expect(seen).toHaveLength(2));
  rmSync(file);
  await soon(() => expect(seen).toEqual([{ model: "a" }, { model: "b" }, {}]));
});

test("many changes in quick succession are reported once", async () => {
  start();
  for (let i = 0; i < 20; i++) write(`pool_size: ${i + 1}\n`);
  await soon(() => expect(seen.at(-1)).toEqual({ poolSize: 20 }));
  expect(seen.length).toBeLessThan(5);
});

test("a write without a change, or a change of another file, is not reported", async () => {
  start();
  write("model: a\n");
  await soon(() => expect(seen).toHaveLength(1));
  write("# a comment\nmodel: a\n");
  writeFileSync(join(folder, "signalbox.db"), "x");
  await quiet();
  expect(seen).toHaveLength(1);
});

test("the target of a link is watched in its own folder", async () => {
  const target = join(folder, "dotfiles", "box.yml");
  mkdirSync(join(folder, "dotfiles"));
  writeFileSync(target, "model: a\n");
  symlinkSync(target, file);
  start();
  publishFile(file, "model: b\n");
  await soon(() => expect(seen).toEqual([{ model: "b" }]));
});

test("a stopped watcher reports nothing", async () => {
  start();
  write("model: a\n");
  stop();
  write("model: b\n");
  await quiet();
  expect(seen).toEqual([]);
});

test("a folder that cannot be watched is reported, not thrown", () => {
  file = join(folder, "none", "config.yml");
  start();
  expect(faults.map(({ message }) => message)).toEqual([`Changes of ${file} cannot be watched (ENOENT).`]);
});
