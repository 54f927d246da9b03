import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DiffView } from "../../src/api/work.ts";
import type { Caller } from "../../src/daemon/callers.ts";
import type { Asked } from "../../src/daemon/handlers.ts";
import { diffTask } from "../../src/daemon/requests/diff-task.ts";
import { seeTask } from "../../src/daemon/requests/task-views.ts";
import { startGitStage } from "./git-stage.ts";

const id = "b1111";

async function startDiff() {
  const stage = await startGitStage({ poolSize: 3 });
  const { core, git, repository } = stage;
  writeFileSync(join(repository, "old name.md"), "one\ntwo\nthree\nfour\nfive\n");
  git(repository, "add", ".");
  git(repository, "commit", "-qm", "base");
  const { workspace } = await stage.begin(id);
  const asked = <Body>(body: Body, query = {}, caller: Caller = { kind: "human" }): Asked<object, Body> => ({
    ...{ params: { task: id }, query, body, caller, folder: "", lastEvent: "" },
  });
  const write = (file: string, content: string | Buffer) => {
    mkdirSync(join(workspace, file, ".."), { recursive: true });
    writeFileSync(join(workspace, file), content);
  };
  const commit = (message = "work") => {
    git(workspace, "add", "-A");
    git(workspace, "commit", "-qm", message);
    return git(workspace, "rev-parse", "HEAD");
  };
  return {
    ...{ ...stage, workspace, write, commit },
    diff: (query: object, caller?: Caller): Promise<DiffView> =>
      diffTask(core)(asked(undefined as never, query, caller)),
    see: (body: object) => seeTask(core)(asked(body)),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join("");

test("files are listed with what happened to each, without their text", async () => {
  const { workspace, write, commit, diff } = await startDiff();
  renameSync(join(workspace, "old name.md"), join(workspace, "new name.md"));
  write("cup.md", "full\n");
  write("bean.bin", Buffer.from([0, 1, 2, 0]));
  commit();
  write("cup.md", "empty\n");
  write("fresh.md", "fresh\n");
  const { committed, uncommitted, file } = await diff({ files: "true" });
  expect(committed).toEqual({
    files: [
      { path: "bean.bin", from: null, added: null, deleted: null, status: "added", binary: true },
      { path: "cup.md", from: null, added: 1, deleted: 0, status: "added", binary: false },
      { path: "new name.md", from: "old name.md", added: 0, deleted: 0, status: "renamed", binary: false },
    ],
    text: "",
    isCut: false,
  });
  expect(uncommitted?.files).toEqual([
    { path: "cup.md", from: null, added: 1, deleted: 1, status: "modified", binary: false },
    { path: "fresh.md", from: null, added: 1, deleted: 0, status: "added", binary: false },
  ]);
  expect(file).toBeUndefined();
});

test("the pages of a file's patch, one after the other, are the patch that git writes", async () => {
  const { write, commit, diff, git, workspace } = await startDiff();
  write("odd [name]*.md", numbered(5_000));
  write("odd n*.md", "another\n");
  commit();
  const parts: string[] = [];
  let next: string | null = null;
  do {
    const answer: DiffView = await diff({ path: "odd [name]*.md", ...(next === null ? {} : { next }) });
    expect(answer.file?.first).toBe(parts.join("").split("\n").length - 1);
    expect(answer.file?.text.split("\n").length).toBeLessThanOrEqual(2_001);
    parts.push(answer.file?.text ?? "");
    next = answer.file?.next ?? null;
  } while (next !== null);
  expect(parts).toHaveLength(3);
  const whole = git(workspace, "diff", "--full-index", "HEAD~1", "HEAD", "--", ":(literal)odd [name]*.md");
  expect(parts.join("").trimEnd()).toBe(whole.trimEnd());
});

test("a renamed file's patch has only what changed in it; an uncommitted file has its own patch", async () => {
  const { write, commit, diff, workspace } = await startDiff();
  rmSync(join(workspace, "old name.md"));
  write("new name.md", "one\ntwo\nthree\nfour\nsix\n");
  commit();
  const { file } = await diff({ path: "new name.md" });
  expect(file?.text).toContain("rename from old name.md");
  expect(file?.text).toContain("-five\n+six\n");
  write("later.md", "later\n");
  const later = (await diff({ path: "later.md", part: "uncommitted" })).file;
  expect(later).toMatchObject({ part: "uncommitted", next: null, hidden: [] });
  expect(later?.text).toContain("+later\n");
  await expect(diff({ path: "later.md" })).rejects.toMatchObject({ code: "diff.missing" });
  await expect(diff({ path: "../../etc/passwd", part: "uncommitted" })).rejects.toMatchObject({ code: "diff.missing" });
});

test("binary files and lines of 20 MB are named, and not sent", async () => {
  const { write, commit, diff } = await startDiff();
  write("long.txt", `short\n${"x".repeat(20 * 1024 * 1024)}\nend\n`);
  write("bean.bin", Buffer.from([0, 1, 2, 0]));
  commit();
  const { file } = await diff({ path: "long.txt" });
  expect(file?.text.endsWith("+short\n+\n+end\n")).toBe(true);
  const line = file?.text.split("\n").indexOf("+") ?? -1;
  expect(file?.hidden).toEqual([{ line, bytes: 20 * 1024 * 1024 + 1 }]);
  expect((await diff({ path: "bean.bin" })).file).toMatchObject({ binary: true, text: "", next: null });
});

test("a cursor of an earlier version of the file is refused, and so is one that no page has given", async () => {
  const { write, commit, diff } = await startDiff();
  write("long.md", numbered(3_000));
  commit();
  const next = (await diff({ path: "long.md" })).file?.next ?? "";
  write("long.md", `first\n${numbered(3_000)}`);
  commit();
  await expect(diff({ path: "long.md", next })).rejects.toMatchObject({ code: "diff.changed" });
  await expect(diff({ path: "long.md", next: "nonsense" })).rejects.toMatchObject({ code: "diff.invalid" });
});

test("a diff begins at what the person has marked as seen, and looking at it does not move that", async () => {
  const { write, commit, diff, see } = await startDiff();
  await expect(diff({ from: "seen" })).rejects.toMatchObject({ code: "task.unseen" });
  write("cup.md", "full\n");
  const first = commit();
  await diff({ files: "true" });
  await see({ commit: first });
  write("saucer.md", "flat\n");
  commit();
  for (const _ of [1, 2]) {
    const { base, committed } = await diff({ from: "seen" });
    expect([base, committed.files.map(({ path }) => path)]).toEqual([first, ["saucer.md"]]);
  }
  await diff({});
  expect((await diff({ from: "seen" })).base).toBe(first);
});

test("looking at files one by one does not count as having seen the work", async () => {
  const { write, commit, diff, store } = await startDiff();
  write("cup.md", "full\n");
  const head = commit();
  await diff({ files: "true" });
  await diff({ path: "cup.md" });
  await diff({ from: head });
  expect((await store.seen.get(id))?.commit ?? "").toBe("");
});

test("a diff can begin at a commit; a run cannot read the commits of other tasks that way", async () => {
  const { write, commit, diff, begin, git, control } = await startDiff();
  write("cup.md", "full\n");
  const first = commit();
  write("saucer.md", "flat\n");
  commit();
  expect((await diff({ from: first })).committed.files.map(({ path }) => path)).toEqual(["saucer.md"]);
  const { workspace: other, branch } = await begin("b2222");
  writeFileSync(join(other, "secret.md"), "secret\n");
  git(other, "add", ".");
  git(other, "commit", "-qm", "secret");
  const secret = (await (await control()).collect({ folder: other, branch, task: "b2222" })).commit;
  const run: Caller = {
    kind: "run",
    isOver: false,
    credential: {
      id: "x",
      project: "pool",
      task: id,
      at: 0,
      role: "worker",
      run: "worker#1",
      expiresAt: 1,
      revokedAt: undefined,
    },
  };
  expect((await diff({ from: first }, run)).committed.files.map(({ path }) => path)).toEqual(["saucer.md"]);
  expect((await diff({ from: secret })).committed.text).toContain("-secret");
  await expect(diff({ from: secret }, run)).rejects.toMatchObject({ code: "diff.missing" });
  await expect(diff({ from: "seen" }, run)).rejects.toMatchObject({ code: "task.unseen" });
  for (const from of ["HEAD", "main", first.slice(0, 10), "0".repeat(40), "--output=/tmp/x", ""])
    await expect(diff({ from })).rejects.toMatchObject({ code: "diff.missing" });
});
