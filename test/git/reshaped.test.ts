import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStage, faultOf, type Repository, repositoryAt } from "./stage.ts";

const stage = createStage("reshaped");

type Change = readonly [title: string, before: (user: Repository) => void, after: (elsewhere: Repository) => void];

const changes: readonly Change[] = [
  [
    "a file into a folder",
    () => undefined,
    (elsewhere) => {
      rmSync(join(elsewhere.folder, "a.txt"));
      elsewhere.write("a.txt/in/er", "in\n");
    },
  ],
  [
    "a folder into a file",
    (user) => user.write("folder/deep/x", "x\n"),
    (elsewhere) => {
      rmSync(join(elsewhere.folder, "folder"), { recursive: true });
      elsewhere.write("folder", "file\n");
    },
  ],
  [
    "a folder into a link",
    () => undefined,
    (elsewhere) => {
      rmSync(join(elsewhere.folder, "folder"), { recursive: true });
      symlinkSync("b.txt", join(elsewhere.folder, "folder"));
    },
  ],
  [
    "a link into a folder",
    (user) => symlinkSync("folder", join(user.folder, "link")),
    (elsewhere) => {
      rmSync(join(elsewhere.folder, "link"));
      elsewhere.write("link/in", "in\n");
    },
  ],
];

/** A user's repository, and a commit ahead of its main branch that only the control repository has. */
async function ahead([, before, after]: Change) {
  const user = stage.repository();
  user.write(".gitignore", "*.log\n");
  before(user);
  const expected = user.commit();
  const elsewhere = repositoryAt(stage.path("elsewhere"), stage.env);
  user.git("clone", "--quiet", user.folder, elsewhere.folder);
  after(elsewhere);
  const commit = elsewhere.commit();
  const control = await stage.control(elsewhere);
  return { user, expected, commit, control, order: { repository: user.folder, branch: "main", commit, expected } };
}

test.each(changes)("work that turns %s is published into a clean checkout, and undone there", async (...change) => {
  const { user, expected, commit, control, order } = await ahead(change);
  expect(await control.inTheWay(order)).toBeUndefined();
  expect(await control.publish(order)).toEqual({ kind: "published", at: commit });
  expect([user.at("main"), user.git("status", "--porcelain")]).toEqual([commit, ""]);
  const undone = await control.revertMerge({
    ...{ onto: commit, before: expected, after: commit },
    ...{ message: "Take back", author: { name: "Ada", email: "a@b" }, date: 0 },
  });
  if (undone.kind !== "reverted") throw new Error(undone.kind);
  const back = { ...order, commit: undone.commit, expected: commit };
  expect(await control.inTheWay(back)).toBeUndefined();
  expect(await control.publish(back)).toEqual({ kind: "published", at: undone.commit });
  expect([user.at("main"), user.git("status", "--porcelain")]).toEqual([undone.commit, ""]);
});

const [intoFolder, intoFile] = changes as unknown as readonly [Change, Change];

test.each([
  ["an untracked file in the folder", "folder/deep/mine", "?? folder/deep/mine"],
  ["an ignored file in the folder", "folder/mine.log", "!! folder/mine.log"],
  ["a staged file in the folder", "folder/staged", "A  folder/staged"],
  ["a locally changed file in the folder", "folder/c.txt", " M folder/c.txt"],
  ["an untracked file of another repository in the folder", "folder/nested/mine", "?? folder/nested/"],
])("a folder that becomes a file waits for %s, which is named and stays", async (_, path, status) => {
  const { user, expected, control, order } = await ahead(intoFile);
  if (path.includes("nested")) execFileSync("git", ["init", "--quiet", join(user.folder, "folder/nested")]);
  user.write(path, "mine\n");
  if (status.startsWith("A")) user.git("add", path);
  const result = await control.publish(order);
  expect(result).toMatchObject({
    kind: "waits",
    reason: "files",
    text: expect.stringContaining(path.split("/mine")[0] ?? ""),
  });
  expect(await control.inTheWay(order)).toEqual(result);
  expect([user.at("main"), user.read(path)]).toEqual([expected, "mine\n"]);
  const { stdout } = { stdout: execFileSync("git", ["status", "--porcelain", "--ignored"], { cwd: user.folder }) };
  expect(String(stdout)).toContain(status);
});

test.each([
  ["a local change", (user: Repository) => user.write("a.txt", "mine\n"), "a.txt"],
  [
    "an untracked folder in its place",
    (user: Repository) => {
      rmSync(join(user.folder, "a.txt"));
      user.write("a.txt/in/er", "mine\n");
    },
    "a.txt/in/er",
  ],
] as const)("a file that becomes a folder waits for %s, which is named and stays", async (_, change, path) => {
  const { user, expected, control, order } = await ahead(intoFolder);
  change(user);
  const result = await control.publish(order);
  expect(result).toMatchObject({ kind: "waits", reason: "files", files: [{ text: path }] });
  expect(await control.inTheWay(order)).toEqual(result);
  expect([user.at("main"), user.read(path)]).toEqual([expected, "mine\n"]);
});

test("an empty folder is not in the way of a file", async () => {
  const { user, commit, control, order } = await ahead(intoFile);
  mkdirSync(join(user.folder, "folder/empty/inside"), { recursive: true });
  expect(await control.inTheWay(order)).toBeUndefined();
  expect(await control.publish(order)).toEqual({ kind: "published", at: commit });
  expect(lstatSync(join(user.folder, "folder")).isFile()).toBe(true);
});

/** A git that runs this script during a merge and is then killed. */
function killedMerge(script: string) {
  const program = stage.path("git");
  writeFileSync(program, `#!/bin/sh\ncase "$*" in *" merge "*) ${script}\nkill -9 $$ ;; esac\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  return stage.createGit({ program });
}

test.each([
  ["the file is gone", intoFolder, "rm a.txt"],
  ["the folder is made", intoFolder, "rm a.txt; mkdir -p a.txt/in"],
  ["the file in the folder is begun", intoFolder, "rm a.txt; mkdir -p a.txt/in; printf i > a.txt/in/er"],
  ["the folder is gone", intoFile, "rm -r folder"],
  ["the file is begun", intoFile, "rm -r folder; printf fi > folder"],
  ["the index is written", intoFolder, "git read-tree -m -u HEAD $AHEAD"],
  ["the index is written for the file", intoFile, "git read-tree -m -u HEAD $AHEAD"],
] as const)("an update that is killed when %s can be undone, and completed", async (_, change, script) => {
  const { user, commit, control, order } = await ahead(change);
  const killed = await killedMerge(script.replace("$AHEAD", commit)).openControl(control.folder);
  await faultOf(killed.publish(order));
  expect(await control.undoUpdate(order)).toBe("");
  expect(user.git("status", "--porcelain")).toBe("");
  await faultOf(killed.publish(order));
  expect(await control.publish(order)).toEqual({ kind: "published", at: commit });
  expect(user.git("status", "--porcelain")).toBe("");
});

test("undoing an update keeps the user's empty file in a folder that would have become a file", async () => {
  const { user, control, order } = await ahead(intoFile);
  const killed = await killedMerge("rm folder/deep/x").openControl(control.folder);
  await faultOf(killed.publish(order));
  user.write("folder/mine", "");
  expect(await control.undoUpdate(order)).toBe("");
  expect(existsSync(join(user.folder, "folder/mine"))).toBe(true);
  expect(user.git("status", "--porcelain")).toBe("?? folder/mine");
});
