import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { controls, startCommands } from "./agent-stage.ts";

// Each step starts a program, and machines may be slow.
vi.setConfig({ testTimeout: 240_000 });

const quiet = `roles:
  worker:
    - steps:
        - append: { file: recipe.md, text: "water\\n" }
        - write: { file: odd name.txt, text: "odd\\n" }
        - commit: Add water
        - append: { file: recipe.md, text: "milk\\n" }
        - write: { file: new.txt, text: "new\\u001b[31m\\n" }
        - say: "Done."
  teller:
    - { steps: [{ say: "Told." }] }
`;

/** When the task is over, the workspace is released and the branch deleted. */
const flow = `name: flow
version: 1
roles:
  worker: { mode: session, prompt: work, window: worker, keep: true }
states:
  todo: { waits_for: slot, next: desk }
  desk: { agent: { role: worker, prompt: work }, respawn_prompt: work, waits_for: human, ask: Merge, next: told }
  told: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: desk, by: human, hooks: [acquire_workspace] }
  - { from: desk, to: told, by: human, when: merged == true, hooks: [kill_session, release_workspace, delete_branch] }
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: "Work on {summary}." }
`;

test("a task's diff and folder are shown while it is open and after it is over", async () => {
  const { signalbox, json, atDesk, base, git, repository, until } = await startCommands(quiet, {
    ...{ flow, workspaces: "clone" },
  });
  await json("task", "create", "later", "Later", "--workflow", "flow", "--no-spawn");
  for (const verb of ["path", "shell", "open"])
    expect(await signalbox(["task", verb, "later"])).toMatchObject({
      ...{ code: 1, stdout: "", stderr: expect.stringContaining("signalbox task explain") },
    });
  expect(await signalbox(["task", "diff", "later"])).toMatchObject({
    ...{ code: 0, stdout: "", stderr: expect.stringContaining("has no commit yet") },
  });

  const id = await atDesk("brew");
  // New commits of the target branch are not part of the task's diff.
  writeFileSync(join(repository, "cup.md"), "full\n");
  git(repository, "add", "cup.md");
  git(repository, "commit", "-qm", "Add a cup");
  const names = await signalbox(["task", "diff", id, "--name-only"]);
  const folder = (await signalbox(["task", "path", id])).stdout.trimEnd();
  expect(names.stdout).toBe(`odd name.txt\nrecipe.md\n# Not committed yet, in ${folder}:\nnew.txt\nrecipe.md\n`);
  const stat = await signalbox(["task", "diff", id, "--stat", "--committed"]);
  expect(stat.stdout).toBe(
    " odd name.txt |     1 +\n recipe.md    |     1 +\n 2 files, 2 lines added, no lines deleted\n",
  );
  expect(stat.stderr).toMatch(/changes 2 files against main, at commit [0-9a-f]{10}\./);
  const patch = await signalbox(["task", "diff", "brew", "--committed"]);
  expect(patch.stdout).not.toMatch(controls);
  writeFileSync(join(base, "work.patch"), patch.stdout);
  git(repository, "apply", "--check", join(base, "work.patch"));
  const view = await json("task", "diff", id);
  expect(view).toMatchObject({
    target: "main",
    committed: { files: [{ path: "odd name.txt", added: 1 }, { path: "recipe.md" }], isCut: false },
    uncommitted: { files: [{ path: "new.txt", from: null, added: 1, deleted: 0 }, { path: "recipe.md" }] },
  });
  expect(view.uncommitted.text).toContain("+milk");
  expect(await signalbox(["task", "diff", id, "--stat", "--name-only"])).toMatchObject({ code: 2, stdout: "" });
  expect(await signalbox(["task", "diff", "nobody"])).toMatchObject({ code: 3, stdout: "" });

  // The shell and the editors are programs that record how they were called.
  const bin = join(base, "bin");
  mkdirSync(bin);
  const note = join(base, "note");
  const program = (name: string) => {
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nprintf '%s\\n' "$PWD" "$*" "$SIGNALBOX_TASK" "\${SIGNALBOX_TOKEN-none}" > "${note}.part"\nmv "${note}.part" "${note}"\nexit 3\n`,
    );
    chmodSync(join(bin, name), 0o755);
    return join(bin, name);
  };
  const noted = async () => {
    await vi.waitFor(() => readFileSync(note), { timeout: 60_000 });
    const lines = readFileSync(note, "utf8").split("\n");
    rmSync(note);
    return lines;
  };
  // A shell's exit code is ignored, and the shell never acts for a run.
  expect(await signalbox(["task", "shell", id], "", { SHELL: program("myshell") })).toMatchObject({ code: 0 });
  expect(await noted()).toEqual([folder, "", id, "none", ""]);
  expect(await signalbox(["task", "shell", id], "", { SHELL: join(bin, "none") })).toMatchObject({ code: 1 });
  const window = { VISUAL: `${program("code")} --wait`, EDITOR: "false" };
  expect(await signalbox(["task", "open", id], "", window)).toMatchObject({ code: 0 });
  expect((await noted()).slice(0, 2)).toEqual([folder, folder]);
  const plain = { VISUAL: "", EDITOR: `${program("myedit")} --flag` };
  expect(await signalbox(["task", "open", id], "", plain)).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining("ended with 3") },
  });
  expect((await noted())[1]).toBe(`--flag ${folder}`);
  expect(await signalbox(["task", "open", id], "", { VISUAL: "", EDITOR: "" })).toMatchObject({ code: 2 });

  // After the end the folder may belong to another task, and the branch is gone.
  git(folder, "checkout", "-q", "recipe.md");
  rmSync(join(folder, "new.txt"));
  expect((await signalbox(["task", "approve", id])).stdout).toMatch(/^Merged .*\ndesk → told\n$/);
  await until(id, ({ phase }) => phase === "over");
  expect(git(repository, "branch", "--list", "brew")).toBe("");
  expect((await signalbox(["task", "diff", id])).stdout).toBe(patch.stdout);
  expect((await signalbox(["task", "path", id])).stderr).toContain(`signalbox task diff ${id}`);

  // A deleted folder is reported.
  const other = await atDesk("other");
  rmSync((await signalbox(["task", "path", other])).stdout.trimEnd(), { recursive: true });
  expect((await signalbox(["task", "path", other])).stderr).toContain("no longer exists");
  expect(await signalbox(["task", "diff", other, "--name-only", "--json"])).toMatchObject({ code: 0 });
});

test("a task continues the work of one that is over, with another base branch", async () => {
  const { signalbox, json, atDesk, git, repository, until } = await startCommands(quiet, {
    ...{ flow, workspaces: "clone" },
  });
  git(repository, "branch", "release");
  writeFileSync(join(repository, "cup.md"), "full\n");
  git(repository, "add", "cup.md");
  git(repository, "commit", "-qm", "Add a cup");
  expect(await signalbox(["task", "create", "mend", "Mend", "--base", "nowhere"])).toMatchObject({
    ...{ code: 1, stdout: "", stderr: expect.stringMatching(/no branch "nowhere"[\s\S]*main, release/) },
  });
  const id = await atDesk("mend", "--base", "release");
  await signalbox(["task", "edit", id, "--file", "-"], "## Notes\n\nIt needs water.\n");
  const folder = (await signalbox(["task", "path", id])).stdout.trimEnd();
  expect(existsSync(join(folder, "cup.md"))).toBe(false);
  expect((await json("task", "diff", id)).target).toBe("release");
  const commit = git(folder, "rev-parse", "HEAD");

  // Cancelled, with commits that are on none of the user's branches.
  expect(await signalbox(["task", "cancel", id])).toMatchObject({ code: 0 });
  await until(id, ({ phase }) => phase === "over");
  expect(git(repository, "branch", "--list", "mend")).toBe("");
  const { task } = await json("task", "create", "--from", id, "--workflow", "flow", "--no-spawn");
  expect(task).toMatchObject({ branch: "mend", base: "release", summary: "About mend" });
  expect(git(repository, "rev-parse", "mend")).toBe(commit);
  expect((await json("task", "show", task.id)).document.text).toContain("It needs water.");
  expect((await signalbox(["task", "create", "--from", task.id])).stderr).toContain("is not over");
  await signalbox(["task", "spawn", task.id]);
  await until(task.id, ({ status, phase }) => status === "desk" && phase === "waiting");
  const again = (await signalbox(["task", "path", task.id])).stdout.trimEnd();
  expect(git(again, "merge-base", "--is-ancestor", commit, "HEAD")).toBe("");
  await signalbox(["agent", "kill", `coffee#${task.number}/worker#1`]);
  git(again, "checkout", "-q", "--", ".");
  git(again, "clean", "-qfd");
  expect((await signalbox(["task", "approve", task.id])).stdout).toMatch(/^Merged .* into release: .*\ndesk → told\n$/);
  expect(git(repository, "merge-base", "--is-ancestor", commit, "release")).toBe("");
  expect(git(repository, "log", "--format=%s", "main")).toBe("Add a cup\nfirst");
});
