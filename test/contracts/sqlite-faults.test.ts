import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { connect } from "../../src/adapters/sqlite/connection.ts";
import { createSqliteStore, openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { removeFolder } from "../remove-folder.ts";
import {
  sampleArtifact,
  sampleDecision,
  sampleDocument,
  sampleEffect,
  sampleEvent,
  sampleProject,
  sampleTask,
  unwritableEvent,
} from "./samples.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-faults-"));
afterAll(() => removeFolder(folder));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);

describe("opening", () => {
  test("every connection fsyncs at every commit", () => {
    const file = newFile();
    for (let i = 0; i < 3; i++) {
      const database = connect(file);
      const pragma = (name: string) => Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0];
      expect(pragma("synchronous")).toBe(2);
      expect(pragma("journal_mode")).toBe("wal");
      expect(pragma("foreign_keys")).toBe(1);
      database.close();
    }
  });

  test("a database of a newer version is refused and not changed", async () => {
    const file = await filled(3);
    const database = new DatabaseSync(file);
    database.exec("pragma user_version = 99");
    database.close();
    expect(faultOf(() => openSqliteStore(file))).toMatchObject({
      code: "store.newer",
      retry: "never",
      message: expect.stringMatching(/version 99/),
      hint: expect.stringContaining("Update Signalbox"),
    });
    const after = new DatabaseSync(file);
    expect(after.prepare("pragma user_version").get()).toMatchObject({ user_version: 99 });
    after.close();
  });

  test("a file that is not a database is refused, with a hint how to restore it", () => {
    const file = newFile();
    writeFileSync(file, "Dear diary, ".repeat(500));
    expect(faultOf(() => openSqliteStore(file))).toMatchObject({
      code: "store.corrupt",
      retry: "never",
      message: expect.stringContaining(file),
      hint: expect.stringContaining("signalbox restore"),
    });
  });

  test("a file that cannot be opened is refused with its path and what to check", () => {
    const file = newFile();
    writeFileSync(file, "");
    for (const path of [folder, join(file, "store.db"), join(folder, "nowhere", "store.db"), "/proc/store.db"]) {
      expect(faultOf(() => openSqliteStore(path))).toMatchObject({
        code: "store.unreadable",
        message: expect.stringContaining(path),
        hint: expect.stringContaining("home folder"),
      });
    }
  });

  test("a read-only folder or file is distinguished from damage", async () => {
    const place = join(folder, "read-only");
    mkdirSync(place);
    const file = join(place, "store.db");
    copyFileSync(await filled(3), file);
    chmodSync(folder, 0o755);
    chmodSync(file, 0o444);
    chmodSync(place, 0o777);
    expect(unprivileged(file)).toMatchObject({ isFault: true, code: "store.read-only", hint: expect.any(String) });
    chmodSync(place, 0o555);
    expect(unprivileged(join(place, "new.db"))).toMatchObject({
      isFault: true,
      code: "store.unreadable",
      message: expect.stringContaining("new.db"),
    });
    expect(unprivileged(file)).toMatchObject({
      isFault: true,
      code: expect.stringMatching(/^store\.(unreadable|read-only)$/),
    });
  });
});

describe("damage", () => {
  test("an overwritten page is reported as damage by every read of it, and found by the check", async () => {
    const file = await filled(200);
    overwriteTable(file, "task");
    const store = openSqliteStore(file);
    const corrupt = { code: "store.corrupt", retry: "never", hint: expect.stringContaining("signalbox restore") };
    await expect(store.listTasks({}, { limit: 9 })).rejects.toMatchObject(corrupt);
    await expect(store.saveDecision(sampleDecision(sampleStored("t1")))).rejects.toMatchObject(corrupt);
    expect((await store.check()).join("\n")).not.toBe("");
    expect(await store.listProjects()).toHaveLength(1);
    await store.close();
  });

  test("history with a hole, or of no task, is found by the check", async () => {
    const file = await filled(3);
    const spoil = (sql: string) => {
      const database = new DatabaseSync(file);
      database.exec(sql);
      database.close();
    };
    const complaints = async () => {
      const store = openSqliteStore(file);
      return store.check().finally(() => store.close());
    };
    expect(await complaints()).toEqual([]);
    spoil("delete from history where id = (select last from task where id = 't2')");
    expect(await complaints()).toEqual(["The history of task t2 has a gap."]);
    spoil("update task set last = 0 where id in ('t2', 't3')");
    expect(await complaints()).toEqual(["1 rows of history belong to no task."]);
  });

  test("a truncated file never passes as complete", async () => {
    const file = await filled(400);
    truncateSync(file, Math.floor(statSync(file).size / 2));
    const complaints = await (async () => {
      const store = openSqliteStore(file);
      return store.check().finally(() => store.close());
    })().catch((error: Fault) => [error.code]);
    expect(complaints).not.toEqual([]);
  });
});

describe("a full disk", () => {
  /**
   * Writes until the disk is full, then makes room. No refused write is stored, and no acknowledged write is missing.
   */
  const fillUp = async (store: Store, makeRoom: () => void) => {
    await store.addProject(sampleProject());
    const text = "x".repeat(20_000);
    const saved = new Set<string>();
    const faults: unknown[] = [];
    for (let round = 0; faults.length === 0 && round < 500; round++) {
      const ids = Array.from({ length: 4 }, (_, i) => `t${round}-${i}`);
      const results = await Promise.allSettled(
        ids.map((id) => {
          const effects = [sampleEffect("notify")];
          return store.createTask("coffee", sampleTask(id, {}, { document: sampleDocument(text), effects }));
        }),
      );
      for (const [i, result] of results.entries()) {
        if (result.status === "fulfilled") saved.add(ids[i] ?? "");
        else faults.push(result.reason);
      }
    }
    expect(saved.size).toBeGreaterThan(3);
    expect(faults.length).toBeGreaterThan(0);
    for (const fault of faults) {
      expect(fault).toMatchObject({
        code: "store.full",
        retry: "later",
        hint: expect.stringContaining("Free some space"),
      });
    }
    const isWhole = async () => {
      const tasks = await store.listTasks({}, { limit: 10_000 });
      expect(new Set(tasks.map(({ task }) => task.id))).toEqual(saved);
      expect(tasks.map(({ task }) => task.number).reverse()).toEqual(tasks.map((_, i) => i + 1));
      expect(await store.listEvents({}, 0, 10_000)).toHaveLength(saved.size);
      expect(await store.dueEffects(9_999, 10_000)).toHaveLength(saved.size);
      for (const id of saved) expect(await store.getDocument(id)).toEqual(sampleDocument(text));
      expect(await store.check()).toEqual([]);
    };
    await isWhole();
    makeRoom();
    saved.add("later");
    await store.createTask(
      "coffee",
      sampleTask("later", {}, { document: sampleDocument(text), effects: [sampleEffect("notify")] }),
    );
    await isWhole();
  };

  test("is reported; acknowledged writes stay, and the store continues when there is room (page limit)", async () => {
    const file = newFile();
    const database = connect(file);
    database.exec("pragma max_page_count = 120");
    const store = createSqliteStore(database, file);
    await fillUp(store, () => database.exec("pragma max_page_count = 4000"));
    await store.close();
  });

  test.skipIf(!canMount())("is survived on a real file system (needs the right to mount)", async () => {
    const place = join(folder, "small");
    mkdirSync(place);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", place]);
    try {
      writeFileSync(join(place, "filler"), "x".repeat(900_000));
      const file = join(place, "store.db");
      const store = openSqliteStore(file);
      await fillUp(store, () => rmSync(join(place, "filler")));
      const tasks = await store.listTasks({}, { limit: 1_000 });
      await store.close();
      const again = openSqliteStore(file);
      expect(await again.listTasks({}, { limit: 1_000 })).toEqual(tasks);
      expect(await again.check()).toEqual([]);
      await again.close();
    } finally {
      execFileSync("umount", ["-l", place]);
    }
  });

  test.skipIf(!canMount())(
    "is distinguished from one that has become read-only (needs the right to mount)",
    async () => {
      const place = join(folder, "frozen");
      mkdirSync(place);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", place]);
      try {
        const file = join(place, "store.db");
        const store = openSqliteStore(file);
        await store.addProject(sampleProject());
        await store.close();
        execFileSync("mount", ["-o", "remount,ro", place]);
        expect(faultOf(() => openSqliteStore(file))).toMatchObject({
          code: expect.stringMatching(/^store\.(unreadable|read-only)$/),
          hint: expect.any(String),
        });
      } finally {
        execFileSync("umount", ["-l", place]);
      }
    },
  );
});

describe("writes that share a commit", () => {
  test("of 200 concurrent writes exactly the invalid ones fail, and the others are saved", async () => {
    const file = await filled(100);
    const store = openSqliteStore(file);
    const before = await store.listTasks({}, { limit: 1_000 });
    const isBad = (i: number) => i % 7 === 3;
    const results = await Promise.allSettled([
      ...before.map((stored, i) =>
        store.saveDecision(sampleDecision({ ...stored, revision: isBad(i) ? 9 : 1 }, { status: "moved" })),
      ),
      ...before.map((_, i) =>
        store.createTask("coffee", (number) => {
          if (isBad(i)) throw new Error(`No ${i}.`);
          return sampleTask(`n${i}`)(number);
        }),
      ),
    ]);
    const failed = results.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
    const bad = before.flatMap((_, i) => (isBad(i) ? [i] : []));
    expect(failed).toEqual([...bad, ...bad.map((i) => i + 100)]);
    for (const i of bad) {
      expect(results[i]).toMatchObject({ reason: { code: "store.conflict" } });
      expect(results[i + 100]).toMatchObject({ reason: { message: `No ${i}.` } });
    }
    await store.close();

    const again = openSqliteStore(file);
    const after = await again.listTasks({}, { limit: 1_000 });
    expect(after).toHaveLength(200 - bad.length);
    expect(after.filter(({ task }) => task.status === "moved")).toHaveLength(100 - bad.length);
    expect(after.map(({ task }) => task.number).reverse()).toEqual(after.map((_, i) => i + 1));
    expect(await again.listEvents({}, 0, 1_000)).toHaveLength(100 + 2 * (100 - bad.length));
    await again.close();
  });

  test("a write that fails half-way leaves no trace, and does not affect the others", async () => {
    const file = await filled(3);
    const store = openSqliteStore(file);
    const [third, second, first] = await store.listTasks({}, { limit: 3 });
    if (first === undefined || second === undefined || third === undefined) throw new Error("Three were filled in.");
    const history = await store.listEvents({}, 0, 100);
    const unwritable = unwritableEvent("task.held");
    const results = await Promise.allSettled([
      store.saveDecision(sampleDecision(first, { status: "one" })),
      store.saveDecision(
        sampleDecision(
          second,
          { status: "two", branch: "elsewhere" },
          {
            document: sampleDocument("lost"),
            effects: [sampleEffect("merge")],
            artifacts: [sampleArtifact("t2", "Plan")],
            events: [sampleEvent("task.moved"), unwritable],
          },
        ),
      ),
      store.addEvents("t2", [sampleEvent("task.attended"), unwritable], 1),
      store.saveDecision(sampleDecision(third, { status: "three" })),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await store.getTask("t2")).toEqual(second);
    expect(await store.getDocument("t2")).toEqual(sampleDocument("# t2\n"));
    expect(await store.listEffects("t2")).toEqual([]);
    expect(await store.listArtifacts("t2")).toEqual([]);
    expect((await store.listEvents({}, history.at(-1)?.position ?? 0, 9)).map((event) => event.task)).toEqual([
      "t1",
      "t3",
    ]);
    await store.close();
  });

  test("wait, and do not fail, while another process locks the file", async () => {
    const file = await filled(1);
    const store = openSqliteStore(file);
    const holder = spawn(process.execPath, ["-e", hold, file], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const begun = performance.now();
    await store.saveDocument("t1", sampleDocument("patient"), [], 1);
    expect(performance.now() - begun).toBeGreaterThan(50);
    expect(await store.getDocument("t1")).toEqual(sampleDocument("patient"));
    await store.close();
  });
});

test("kill -9 at any moment loses no acknowledged write and duplicates none", async () => {
  const file = newFile();
  const saved = new Map<string, number>();
  const finished = new Set<number>();
  for (let kill = 0; kill < 12; kill++) {
    const before = saved.size === 0 ? 0 : [...saved.values()].reduce((sum, revision) => sum + revision);
    await writeAndKill(file, 15 + 17 * (kill % 6), (line) => {
      const [what, first = "", second = ""] = line.split(" ");
      if (what === "saved") saved.set(first, Math.max(saved.get(first) ?? 0, Number(second)));
      else finished.add(Number(first));
    });
    expect([...saved.values()].reduce((sum, revision) => sum + revision)).toBeGreaterThan(before);

    const store = openSqliteStore(file);
    expect(await store.check()).toEqual([]);
    for (const { task, revision } of await store.listTasks({}, { limit: 100 })) {
      const acknowledged = saved.get(task.id) ?? 0;
      expect(revision).toBeGreaterThanOrEqual(acknowledged);
      // At most the write in progress, and what it saved is complete.
      expect(revision).toBeLessThanOrEqual(Math.max(acknowledged, 1) + 1);
      const upTo = Array.from({ length: revision }, (_, i) => i + 1);
      const events = await store.listEvents({ task: task.id }, 0, 100_000);
      expect(events.map((event) => event.revision)).toEqual(upTo);
      const effects = await store.listEffects(task.id);
      expect(effects.map((effect) => effect.entry)).toEqual(upTo.slice(1));
      expect(await store.getDocument(task.id)).toEqual(sampleDocument(`revision ${revision}`));
      if (revision > 1) expect(task.summary).toBe(`revision ${revision}`);
      for (const { id, state } of effects) if (finished.has(id)) expect(state).toBe("done");
      saved.set(task.id, revision);
    }
    await store.close();
  }
  expect(saved.size).toBe(8);
});

/** Lets the writer run for some time after its first acknowledgement, then kills it. */
async function writeAndKill(file: string, milliseconds: number, onLine: (line: string) => void): Promise<void> {
  const script = fileURLToPath(new URL("acknowledging-writer.ts", import.meta.url));
  const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), milliseconds));
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
  expect(await ended).toBe("SIGKILL");
}

const hold = `
const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync(process.argv[1]);
database.exec("begin immediate");
process.stdout.write("held");
setTimeout(() => database.exec("commit"), 300);
`;

/** The path of a store with one project and tasks t1, t2, … */
async function filled(tasks: number): Promise<string> {
  const file = newFile();
  const store = openSqliteStore(file);
  await store.addProject(sampleProject());
  await Promise.all(Array.from({ length: tasks }, (_, i) => store.createTask("coffee", sampleTask(`t${i + 1}`))));
  await store.close();
  return file;
}

function sampleStored(id: string) {
  const { task } = sampleTask(id)(1);
  return { task, revision: 1, isOpen: true, createdAt: 0, updatedAt: 0, enteredAt: 0, order: 1 };
}

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

/** Overwrites the first page of a table with garbage. */
function overwriteTable(file: string, table: string): void {
  const database = new DatabaseSync(file);
  const root = database.prepare("select rootpage from sqlite_schema where name = ?").get(table)?.rootpage;
  const size = database.prepare("pragma page_size").get()?.page_size;
  database.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(Number(size), 0xc0), 0, Number(size), (Number(root) - 1) * Number(size));
  closeSync(descriptor);
}

function unprivileged(file: string): unknown {
  const script = fileURLToPath(new URL("unprivileged-writer.ts", import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [script, file], { encoding: "utf8" });
  return stdout === "" ? stderr : JSON.parse(stdout);
}

function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const place = join(folder, "mount");
  mkdirSync(place, { recursive: true });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place]).status === 0;
  if (mounted) spawnSync("umount", ["-l", place]);
  return mounted;
}
