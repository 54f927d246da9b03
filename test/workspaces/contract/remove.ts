import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Salvage } from "../../../src/ports/control-repository.ts";
import { makeDeep } from "../../git/deep-folder.ts";
import { faultOf } from "../../git/stage.ts";
import { createScenes, type KindName } from "../stage.ts";

const day = 24 * 60 * 60 * 1000;
const much = 1e12;
const nothing: Salvage = { saved: undefined, ignored: [], repositories: [], refused: [] };

export function removeContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "remove");

  test("a removed workspace goes to the trash with everything in it, and git's record of it is removed", async () => {
    const { at, control, folder, kind, prepare, trashed, user } = await open();
    await prepare();
    at().commit({ ".gitignore": "*.log\n" });
    await control.collect({ folder, branch: "task", task: "t1" });
    at().write("x.log", "ignored\n");
    await kind.remove(folder, undefined);
    expect(existsSync(folder)).toBe(false);
    expect(await kind.inspect(folder)).toEqual({ kind: "missing" });
    expect(trashed()).toEqual(expect.arrayContaining(["workspace/x.log", "workspace/a.txt"]));
    expect(user.git("worktree", "list").split("\n")).toHaveLength(1);
    await kind.remove(folder, undefined);
    expect(await prepare({ existing: true })).toMatchObject({ how: "new" });
  });

  test("a workspace with uncommitted work is removed only after a salvage", async () => {
    const { at, folder, kind, prepare, salvage, control } = await open();
    await prepare();
    at().write("new.txt", "new\n");
    expect((await faultOf(kind.remove(folder, undefined))).code).toBe("workspace.dirty");
    at().write("a.txt", "changed\n");
    // The result of a salvage before there was anything to save.
    expect((await faultOf(kind.remove(folder, nothing))).code).toBe("workspace.dirty");
    const salvaged = await salvage();
    const made = {
      ...salvaged,
      saved: { ref: "refs/signalbox/salvage/t1/none", commit: salvaged.saved?.commit ?? "" },
    };
    expect((await faultOf(kind.remove(folder, made))).code).toBe("workspace.unsaved");
    expect(at().read("new.txt")).toBe("new\n");
    await kind.remove(folder, salvaged);
    expect(existsSync(folder)).toBe(false);
    expect(await control.commitAt(salvaged.saved?.ref ?? "")).toBe(salvaged.saved?.commit);
  });

  test("a folder that is not a workspace is not removed", async () => {
    const { folder, kind, user } = await open();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "mine"), "");
    expect((await faultOf(kind.remove(folder, undefined))).code).toBe("workspace.foreign");
    expect((await faultOf(kind.remove(user.folder, undefined))).code).toBe("workspace.foreign");
    expect(readdirSync(folder)).toEqual(["mine"]);
  });

  test("an interrupted removal is completed by the next call", async () => {
    const { folder, kind, prepare, user, stage } = await open();
    await prepare();
    renameSync(folder, stage.path("half removed"));
    await kind.remove(folder, undefined);
    expect(user.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(await prepare({ existing: true })).toMatchObject({ how: "new" });
  });

  test("the trash is emptied by age, and then by size, the oldest first", async () => {
    const { folder, control, user, trash, state, again } = await open();
    const base = user.commit({ ".gitignore": "ignored\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    let now = Date.UTC(2026, 0, 1);
    const kind = again({ now: () => now });
    for (let i = 0; i < 4; i++) {
      await kind.prepare({ folder, branch: `b${i}`, base, existing: true, salvaged: false });
      writeFileSync(join(folder, "ignored"), "x".repeat(100_000));
      await kind.remove(folder, undefined);
      now += day;
    }
    const heaps = readdirSync(trash).sort();
    expect(heaps).toHaveLength(4);
    expect(await kind.deleteTrash({ now, keepFor: 30 * day, most: much })).toMatchObject({
      deleted: 0,
      left: 4,
      held: [],
    });
    expect(await kind.deleteTrash({ now, keepFor: 3.5 * day, most: much })).toMatchObject({ deleted: 1, left: 3 });
    const report = await kind.deleteTrash({ now, keepFor: 30 * day, most: 350_000 });
    expect(report).toMatchObject({ deleted: 1, left: 2 });
    expect(report.size).toBeGreaterThan(200_000);
    expect(readdirSync(trash).sort()).toEqual(heaps.slice(2));
    expect(await kind.deleteTrash({ now: now + 31 * day, keepFor: 30 * day, most: much })).toMatchObject({ left: 0 });
    expect(readdirSync(trash)).toEqual([]);
    expect([control.folder, user.folder, state].every((path) => existsSync(path))).toBe(true);
  });

  test("files that could not be salvaged stay in the trash until a person deletes them", async () => {
    const { at, folder, kind, prepare, salvage, trash } = await open();
    await prepare();
    at().write("a.txt", "changed\n");
    const name = { text: "unreadable", bytes: Buffer.from("unreadable") };
    await kind.remove(folder, { ...(await salvage()), refused: [name] });
    const later = { now: Date.now() + 100 * day, keepFor: day, most: 0 };
    const { held, left } = await kind.deleteTrash(later);
    expect([held.length, left, existsSync(join(held[0] ?? "", "files/workspace/a.txt"))]).toEqual([1, 1, true]);
    expect(readFileSync(join(trash, readdirSync(trash)[0] ?? "", "about.json"), "utf8")).toContain(folder);
  });

  test("deleting the trash stops on its signal, and the next call continues", async () => {
    const { folder, kind, prepare, trash } = await open();
    await prepare();
    await kind.remove(folder, undefined);
    const order = { now: Date.now() + day, keepFor: 0, most: much };
    expect(await kind.deleteTrash({ ...order, signal: AbortSignal.abort() })).toMatchObject({ deleted: 0, left: 1 });
    expect(await kind.deleteTrash(order)).toMatchObject({ deleted: 1, left: 0 });
    expect(readdirSync(trash)).toEqual([]);
    expect(await kind.deleteTrash(order)).toEqual({ deleted: 0, freed: 0, left: 0, size: 0, held: [], stuck: [] });
  });

  test("a folder of the trash that cannot be deleted is named, and does not keep the others", async () => {
    const { folder, kind, prepare, trash } = await open();
    for (let n = 0; n < 3; n++) {
      await prepare();
      await kind.remove(folder, undefined);
    }
    const [first = ""] = readdirSync(trash).sort();
    // Not even root can list a file.
    rmSync(join(trash, first, "files"), { recursive: true });
    writeFileSync(join(trash, first, "files"), "");
    const report = await kind.deleteTrash({ now: Date.now() + day, keepFor: 0, most: much });
    const reason = expect.stringContaining("failed with ENOTDIR");
    expect(report).toMatchObject({ deleted: 2, left: 1, stuck: [{ folder: join(trash, first), reason }] });
    expect(readdirSync(trash)).toEqual([first]);
  });

  test("a folder of the trash is deleted even if it has paths that are longer than the system allows", async () => {
    const { folder, kind, prepare, trash } = await open();
    await prepare();
    makeDeep(folder);
    await kind.remove(folder, nothing);
    const report = await kind.deleteTrash({ now: Date.now() + day, keepFor: 0, most: much });
    expect(report).toMatchObject({ deleted: 1, left: 0, stuck: [] });
    expect(readdirSync(trash)).toEqual([]);
  });

  test("deleting the trash does not follow links", async () => {
    const { at, folder, kind, prepare, salvage } = await open();
    await prepare();
    const outside = stage.path("outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious"), "");
    symlinkSync(outside, join(folder, "link"));
    at().write("x", "");
    await kind.remove(folder, await salvage());
    await kind.deleteTrash({ now: Date.now() + day, keepFor: 0, most: much });
    expect(readdirSync(outside)).toEqual(["precious"]);
  });
}
