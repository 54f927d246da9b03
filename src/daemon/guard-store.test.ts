import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleProject } from "../../test/contracts/samples.ts";
import { createMemoryStore } from "../adapters/store/memory.ts";
import { guardStore } from "./guard-store.ts";

function stage() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  writeFileSync(file, "pages");
  const told: string[] = [];
  let written = 0;
  const store = guardStore(createMemoryStore(), {
    file,
    onLost: ({ message }) => void told.push(message),
    onWritten: () => void written++,
  });
  return { file, store, told, written: () => written };
}

const losses: readonly (readonly [string, (file: string) => void])[] = [
  ["the database is deleted", (file) => rmSync(file)],
  ["the database is emptied", (file) => truncateSync(file)],
  ["the database is cut short", (file) => truncateSync(file, 2)],
  ["the database is replaced", (file) => replace(file)],
  ["the log is deleted", (file) => rmSync(`${file}-wal`)],
  ["the log is emptied", (file) => truncateSync(`${file}-wal`)],
];

test.for(losses)(
  "once %s nothing is written any more, what is there is read, and it is told once",
  async ([, lose]) => {
    const { file, store, told, written } = stage();
    await store.addProject(sampleProject("coffee"));
    writeFileSync(`${file}-wal`, "frames");
    await store.addProject(sampleProject("tea"));
    appendFileSync(file, "more");
    await store.addProject(sampleProject("water"));
    expect([written(), told]).toEqual([3, []]);
    lose(file);
    store.look();
    for (const name of ["milk", "sugar"])
      await expect(store.addProject(sampleProject(name))).rejects.toMatchObject({ code: "store.lost" });
    expect(told).toEqual([expect.stringContaining(file)]);
    expect((await store.listProjects()).map(({ name }) => name)).toEqual(["coffee", "tea", "water"]);
  },
);

function replace(file: string): void {
  writeFileSync(`${file}.copy`, "pages and more");
  renameSync(`${file}.copy`, file);
}
