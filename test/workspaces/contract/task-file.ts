import { execFileSync } from "node:child_process";
import fs, {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { roleFileName } from "../../../src/ports/workspaces.ts";
import { faultOf } from "../../git/stage.ts";
import { createScenes, type KindName, statusOf } from "../stage.ts";

export function taskFileContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "task-file");

  test("a task file is written atomically, read back, and hidden from git", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    expect(await kind.taskFileName(folder)).toBe("TASK.md");
    expect(await kind.readTaskFile(folder, "TASK.md")).toBeUndefined();
    await kind.placeTaskFile(folder, "TASK.md", "# Ärger\n");
    await kind.placeTaskFile(folder, "TASK.md", "# Task\n");
    const reviewer = roleFileName("reviewer");
    await kind.placeTaskFile(folder, reviewer, "# Review\n");
    expect(await kind.readTaskFile(folder, "TASK.md")).toBe("# Task\n");
    expect(await kind.readTaskFile(folder, reviewer)).toBe("# Review\n");
    expect(readdirSync(folder).sort()).toEqual([".git", ".signalbox", "TASK.md", "a.txt", "b.txt", "folder"]);
    expect(readdirSync(join(folder, ".signalbox"))).toEqual(["reviewer.md"]);
    expect(statusOf(at())).toBe("");
    at().git("add", "--all");
    expect(at().git("status", "--short")).toBe("");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false, untracked: 0 });
  });

  test("a document is placed read-only and hidden from git, and restored if an agent has changed it", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    await kind.placeDocument(folder, "spec-coffee.md", "# Ärger\n");
    const path = join(folder, ".signalbox", "documents", "spec-coffee.md");
    expect(readFileSync(path, "utf8")).toBe("# Ärger\n");
    expect(statSync(path).mode & 0o777).toBe(0o444);
    expect(statusOf(at())).toBe("");
    at().git("add", "--all");
    expect(at().git("status", "--short")).toBe("");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false, untracked: 0 });
    const { ino } = statSync(path);
    await kind.placeDocument(folder, "spec-coffee.md", "# Ärger\n");
    expect(statSync(path).ino).toBe(ino);
    chmodSync(path, 0o644);
    writeFileSync(path, "another\n");
    await kind.placeDocument(folder, "spec-coffee.md", "# Ärger\n");
    expect(readFileSync(path, "utf8")).toBe("# Ärger\n");
    expect(statSync(path).mode & 0o777).toBe(0o444);
    expect(readdirSync(join(folder, ".signalbox", "documents"))).toEqual(["spec-coffee.md"]);
  });

  test("a document never leaves its folder: not by its name, and not through a link", async () => {
    const { folder, kind, prepare } = await open();
    await prepare();
    for (const name of ["../TASK.md", "a/b.md", ".md", "x.txt", ""])
      expect(await faultOf(kind.placeDocument(folder, name, "x"))).toMatchObject({ code: "workspace.bad-task-file" });
    const elsewhere = join(folder, "folder");
    mkdirSync(join(folder, ".signalbox"), { recursive: true });
    symlinkSync(elsewhere, join(folder, ".signalbox", "documents"));
    expect(await faultOf(kind.placeDocument(folder, "spec.md", "x"))).toMatchObject({
      code: "workspace.bad-task-file",
      message: expect.stringContaining("symbolic link"),
    });
    expect(existsSync(join(elsewhere, "spec.md"))).toBe(false);
  });

  test("a text that an agent has written meanwhile is not overwritten", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    expect(await kind.placeTaskFile(folder, "TASK.md", "first\n")).toBe(true);
    expect(await kind.placeTaskFile(folder, "TASK.md", "second\n", "first\n")).toBe(true);
    writeFileSync(join(folder, "TASK.md"), "second\n## Plan\n");
    expect(await kind.placeTaskFile(folder, "TASK.md", "third\n", "second\n")).toBe(false);
    expect(at().read("TASK.md")).toBe("second\n## Plan\n");
    rmSync(join(folder, "TASK.md"));
    expect(await kind.placeTaskFile(folder, "TASK.md", "third\n", "second\n")).toBe(false);
    expect(readdirSync(folder).filter((name) => name.includes("TASK"))).toEqual([]);
  });

  test("a text that an agent writes during the replacement of its file is restored", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const path = join(folder, "TASK.md");
    await kind.placeTaskFile(folder, "TASK.md", "first\n");
    const { renameSync } = fs;
    const put = (rename: typeof renameSync) => {
      fs.renameSync = rename;
      syncBuiltinESMExports();
    };
    onTestFinished(() => put(renameSync));
    put((from, to) => {
      put(renameSync);
      writeFileSync(path, "first\n## Plan\n");
      renameSync(from, to);
    });
    expect(await kind.placeTaskFile(folder, "TASK.md", "second\n", "first\n")).toBe(false);
    expect(at().read("TASK.md")).toBe("first\n## Plan\n");
    expect(readdirSync(folder).filter((name) => name.includes("TASK"))).toEqual(["TASK.md"]);
  });

  test("a repository's own TASK.md is never overwritten", async () => {
    const { at, folder, kind, user, control, prepare } = await open();
    const base = user.commit({ "TASK.md": "the repository's own\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    await prepare({ base });
    const name = await kind.taskFileName(folder);
    expect(name).toBe(".signalbox/TASK.md");
    expect(await kind.isTaskFileTracked(folder, "TASK.md")).toBe(true);
    expect((await faultOf(kind.placeTaskFile(folder, "TASK.md", "x"))).code).toBe("workspace.bad-task-file");
    await kind.placeTaskFile(folder, name, "ours\n");
    expect(at().read("TASK.md")).toBe("the repository's own\n");
    expect(statusOf(at())).toBe("");
    expect(await kind.isTaskFileTracked(folder, name)).toBe(false);
  });

  test("a task file that an agent commits is detected, and keeps its path", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    await kind.placeTaskFile(folder, "TASK.md", "x\n");
    expect(await kind.isTaskFileTracked(folder, "TASK.md")).toBe(false);
    at().git("add", "--force", "TASK.md");
    at().git("commit", "--quiet", "-m", "oops");
    expect(await kind.isTaskFileTracked(folder, "TASK.md")).toBe(true);
    expect(await kind.taskFileName(folder)).toBe("TASK.md");
    await kind.placeTaskFile(folder, "TASK.md", "again\n");
    expect(at().read("TASK.md")).toBe("again\n");
  });

  test("links, folders and devices in the place of a task file are neither read nor written through", async () => {
    const { folder, kind, prepare } = await open();
    await prepare();
    const outside = stage.path("outside");
    mkdirSync(outside);
    const secret = join(outside, "secret");
    writeFileSync(secret, "secret\n");
    const place = join(folder, "TASK.md");
    const plant: readonly (() => void)[] = [
      () => symlinkSync(secret, place),
      () => symlinkSync("/dev/zero", place),
      () => execFileSync("mkfifo", [place]),
      () => mkdirSync(place),
    ];
    for (const put of plant) {
      put();
      expect((await faultOf(kind.placeTaskFile(folder, "TASK.md", "ours"))).code).toBe("workspace.bad-task-file");
      expect((await faultOf(kind.readTaskFile(folder, "TASK.md"))).code).toBe("workspace.bad-task-file");
      rmSync(place, { recursive: true });
    }
    symlinkSync(outside, join(folder, ".signalbox"));
    expect((await faultOf(kind.placeTaskFile(folder, ".signalbox/reviewer.md", "x"))).code).toBe(
      "workspace.bad-task-file",
    );
    expect((await faultOf(kind.readTaskFile(folder, ".signalbox/secret.md"))).code).toBe("workspace.bad-task-file");
    // A second name for a file outside: the name is replaced, the file is not written.
    linkSync(secret, place);
    await kind.placeTaskFile(folder, "TASK.md", "ours\n");
    expect([readFileSync(secret, "utf8"), readFileSync(place, "utf8")]).toEqual(["secret\n", "ours\n"]);
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  test("only task files are written and read", async () => {
    const { folder, kind, prepare, at } = await open();
    await prepare();
    for (const name of [
      "../TASK.md",
      "/etc/passwd",
      "a.txt",
      ".git/config",
      ".signalbox/../a.md",
      ".signalbox/a/b.md",
      "",
    ]) {
      expect((await faultOf(kind.placeTaskFile(folder, name, "x"))).code).toBe("workspace.bad-task-file");
      expect((await faultOf(kind.readTaskFile(folder, name))).code).toBe("workspace.bad-task-file");
    }
    expect(at().read("a.txt")).toBe("a\n");
  });

  test("a task file that is too large or not UTF-8 is refused, and stays as the agent wrote it", async () => {
    const { folder, kind, prepare } = await open();
    await prepare();
    writeFileSync(join(folder, "TASK.md"), "x".repeat(1024 * 1024));
    expect(await kind.readTaskFile(folder, "TASK.md")).toHaveLength(1024 * 1024);
    const noText = Buffer.concat([Buffer.from("a"), Buffer.of(0xff, 0xc3), Buffer.from("b")]);
    for (const [bytes, why] of [
      [Buffer.from("x".repeat(1024 * 1024 + 1)), "larger than 1 MB"],
      [noText, "not text in UTF-8"],
    ] as const) {
      writeFileSync(join(folder, "TASK.md"), bytes);
      const fault = await faultOf(kind.readTaskFile(folder, "TASK.md"));
      expect([fault.code, fault.message]).toEqual(["workspace.bad-task-file", expect.stringContaining(why)]);
      expect(readFileSync(join(folder, "TASK.md"))).toEqual(bytes);
    }
    // Unreadable bytes are never overwritten, even if the decoded text seems to equal the expected one.
    writeFileSync(join(folder, "TASK.md"), noText);
    await kind.placeTaskFile(folder, "TASK.md", "new", "a\ufffd\ufffdb");
    expect(readFileSync(join(folder, "TASK.md"))).toEqual(noText);
  });

  test("the exclude block is kept exact, and is removed with the project", async () => {
    const { folder, kind, prepare, user, at } = await open();
    const shared = join(user.folder, ".git/info/exclude");
    const before = Buffer.concat([Buffer.from("# mine\n*.tmp\n# no newline "), Buffer.of(0xff)]);
    mkdirSync(join(user.folder, ".git/info"), { recursive: true });
    writeFileSync(shared, before);
    await prepare();
    const file = kind.kind === "worktree" ? shared : join(folder, ".git/info/exclude");
    const exact = readFileSync(file);
    expect(exact.toString("latin1")).toMatch(/^# >>> signalbox[\s\S]*\/TASK\.md\n[\s\S]*# <<< signalbox\n/);
    await kind.placeTaskFile(folder, "TASK.md", "x");
    expect(readFileSync(file)).toEqual(exact);
    // The block was truncated or copied.
    const text = exact.toString("latin1");
    for (const damaged of [
      text.replace("/TASK.md\n", ""),
      text.replace(/# <<<.*\n/, ""),
      text.replace(/(# >>>[\s\S]*<<<.*\n)/, "$1$1"),
    ]) {
      writeFileSync(file, damaged, "latin1");
      await kind.placeTaskFile(folder, "TASK.md", "x");
      expect(readFileSync(file)).toEqual(exact);
    }
    expect(statusOf(at())).toBe("");
    await kind.removeExclude();
    await kind.removeExclude();
    expect(readFileSync(shared)).toEqual(before);
    expect(existsSync(join(folder, "TASK.md"))).toBe(true);
  });
}
