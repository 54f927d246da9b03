import { expect, test, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { git, startBrew, workOn } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

test("a merge that is tested says so on a terminal; Ctrl-C stops only the waiting, and --cancel stops the merge", async () => {
  const stage = await startBrew(["coffee"]);
  const folder = stage.in("coffee");
  const signalbox = (...args: readonly string[]) => stage.signalbox(args, folder);
  await signalbox("config", "set", "test_merges", "true");
  await signalbox("config", "set", "test_command", "sleep 600");
  for (const branch of ["cup", "pot"]) await workOn(signalbox, branch);
  const before = git(folder, "rev-parse", "main");
  const { id } = JSON.parse((await signalbox("task", "show", "1", "--json")).stdout).task;

  const own = { base: stage.base, env: stage.env, folder };
  const person = atTerminal([process.execPath, cliFile, "task", "merge", "1", "2"], own);
  await person.shows(/its result is\s+being tested\./);
  await person.shows(/Ctrl-C stops only the waiting\./);
  person.press("C-c");
  await person.shows(
    /The merge goes on\. To stop the merge: signalbox task merge 1 --cancel\n.*2 was not asked for: signalbox task merge 2\n[\s\S]*it ended with 130/,
  );
  const explained = (await signalbox("task", "explain", "1")).stdout.replace(/\s+/g, " ");
  expect(explained).toContain(`To stop the merge: signalbox task merge ${id} --cancel`);
  expect((await signalbox("task", "actions", "1")).stdout).toContain(`signalbox task merge ${id} --cancel`);

  for (const flag of ["--undo", "--dry-run", "--local", "--no-give-back", "--strategy=ff"])
    expect({ flag, ...(await signalbox("task", "merge", "1", "--cancel", flag)) }).toMatchObject({ flag, code: 2 });
  expect(await signalbox("task", "merge", "1", "--cancel")).toEqual({
    code: 0,
    stdout: "Stopped the merge of coffee#1; nothing was merged into main\n",
    stderr: "A person stopped the merge, so the task's work is not merged. The task is in brewing.\n",
  });
  expect(git(folder, "rev-parse", "main")).toBe(before);
  expect((await signalbox("task", "merge", "1", "--cancel")).stderr).toContain("No merge of coffee#1 is in progress.");
  expect((await signalbox("task", "actions", "1")).stdout).not.toContain("--cancel");
});

test("a person in a task's workspace is told that signalbox does nothing for people there, and where to go", async () => {
  const stage = await startBrew(["coffee"]);
  const folder = stage.in("coffee");
  const workspace = await workOn((...args) => stage.signalbox(args, folder), "cup");
  for (const verb of ["merge", "cancel", "spawn"]) {
    const { code, stderr } = await stage.signalbox(["task", verb, "."], workspace);
    expect([verb, code]).toEqual([verb, 1]);
    expect(stderr).toContain("This folder is in a workspace, where commands speak for the agent.");
    expect(stderr).toContain("Go to another folder, such as your own checkout of the repository");
  }
  const { code, stderr } = await stage.signalbox(["task", "explain", "."], workspace);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("signalbox refuses a person's commands: the caller could be the agent."),
  ]);
  stage.env.SHELL = "/bin/true";
  const shell = await stage.signalbox(["task", "shell", "cup"], folder);
  expect(shell.stderr).toContain("Here signalbox refuses a person's commands: leave this shell before you use it.");
});
