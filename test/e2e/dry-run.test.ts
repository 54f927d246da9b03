import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { git, startBrew, workOn } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** All combinations of some flags. */
function subsets(flags: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const all: (readonly string[])[] = [[]];
  for (const flag of flags) all.push(...all.map((each) => [...each, ...flag]));
  return all;
}

/** A merged task, whose branch is still there, and an open one that could be merged. */
async function startMerged() {
  const stage = await startBrew(["coffee"]);
  const folder = stage.in("coffee");
  const signalbox = (...args: readonly string[]) => stage.signalbox(args, folder);
  for (const branch of ["cup", "pot"]) await workOn(signalbox, branch);
  expect((await signalbox("task", "merge", "cup")).code).toBe(0);
  return { ...stage, folder, signalbox };
}

test("--undo with --dry-run says what would be undone, and changes nothing", async () => {
  const { signalbox, folder } = await startMerged();
  const before = git(folder, "rev-parse", "main");
  const { id } = JSON.parse((await signalbox("task", "show", "1", "--json")).stdout).task;
  expect(await signalbox("task", "merge", "1", "--undo", "--dry-run")).toEqual({
    code: 0,
    stdout: "Would undo the merge of coffee#1 into main. This would change 1 file:\n  cup.md\n",
    stderr: `Nothing has changed. To do it: signalbox task merge ${id} --undo\n`,
  });
  const json = JSON.parse((await signalbox("task", "merge", "1", "--undo", "--dry-run", "--json")).stdout);
  expect(json).toMatchObject({
    state: "undone",
    dryRun: true,
    changed: ["cup.md"],
    before,
    task: { status: "served" },
  });
  expect(git(folder, "rev-parse", "main")).toBe(before);
  // What would prevent the undo is reported by its dry run too.
  writeFileSync(join(folder, "cup.md"), "mine\n");
  expect(await signalbox("task", "merge", "1", "--undo", "--dry-run")).toMatchObject({ code: 1, stdout: "" });
  git(folder, "checkout", "-q", "cup.md");

  expect((await signalbox("task", "merge", "1", "--undo")).stdout).toBe("Undid the merge of coffee#1 into main\n");
  expect(git(folder, "log", "-1", "--format=%s")).toBe("Revert the merge of cup");
  const again = await signalbox("task", "merge", "1", "--undo", "--dry-run");
  expect(again).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("was already undone") });
});

test("--dry-run changes nothing, whatever other flags it is combined with", async () => {
  const { signalbox, folder, base, home, env } = await startMerged();
  // install writes below the home of the user.
  env.HOME = base;
  await signalbox("install", "--harness", "claude");
  await signalbox("agent", "create", "A");
  const look = async () => ({
    refs: git(folder, "for-each-ref"),
    status: git(folder, "status", "--porcelain"),
    tasks: (await signalbox("task", "list", "--all", "--json")).stdout,
    agents: (await signalbox("agent", "list", "--json")).stdout,
    workspaces: (await signalbox("workspace", "list", "--json")).stdout,
    folders: readdirSync(join(home, "workspaces")),
    skills: [".claude", ".agents"].map((place) => read(join(base, place, "skills/signalbox/SKILL.md"))),
    ownSkills: [".claude", ".agents"].map((place) => read(join(folder, place, "skills/signalbox/SKILL.md"))),
  });
  // The merged task's workspace is released in the background; its task file then lies in the trash.
  await vi.waitFor(async () => expect((await look()).workspaces).toContain('"folders": 1'), { timeout: 60_000 });
  // Whoever looks at the commits of a task collects them, and the list shows how many there are.
  expect((await signalbox("task", "merge", "2", "--dry-run")).code).toBe(0);
  const before = await look();
  const yes = [["--yes"], ["--json"], ["--project", "coffee"]];
  const merge = [["--undo"], ["--strategy", "ff"], ["--local"], ["--no-give-back"], ["--json"]];
  const commands = [
    ...["1", "2"].flatMap((task) => subsets(merge).map((flags) => ["task", "merge", task, ...flags])),
    ...subsets(yes).map((flags) => ["workspace", "gc", ...flags]),
    ...subsets(yes).map((flags) => ["agent", "cleanup", ...flags]),
    ...subsets([["--remove"], ["--force"], ["--project"], ["--json"]]).map((flags) => [
      ...["install", "--harness", "claude", "--harness", "codex"],
      ...flags,
    ]),
  ];
  for (const command of commands) {
    const ran = await signalbox(...command, "--dry-run");
    // Flags that only matter for a merge are refused with --undo.
    const isOdd = command.includes("--undo") && /--(strategy|local|no-give-back)/.test(command.join(" "));
    if (isOdd) expect({ command, ...ran }).toMatchObject({ code: 2, stdout: "" });
  }
  expect(await look()).toEqual(before);
});

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
