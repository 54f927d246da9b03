import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { git, startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Like brew, but only merged work can be served. */
const strict = `name: strict
version: 1
states:
  todo: { waits_for: human, next: brewing }
  brewing: { waits_for: human, next: served }
  served: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: brewing, hooks: [acquire_workspace] }
  - { from: brewing, to: served, when: merged == true, hooks: [release_workspace] }
  - { from: any, to: spilled, by: human, hooks: [release_workspace] }
`;

/** A task with an unmerged commit. */
async function startBrewed(workflow: "brew" | "strict", workspaces = "clone", text = strict) {
  const stage = await startBrew(["coffee"]);
  await stage.signalbox(["project", "update", "coffee", "--workspaces", workspaces]);
  writeFileSync(join(stage.home, "workflows", "strict.yml"), text);
  const coffee = stage.in("coffee");
  const signalbox = (...args: readonly string[]) => stage.signalbox(args, coffee);
  await signalbox("task", "create", "Brew it", "--workflow", workflow);
  await signalbox("task", "continue", "1");
  const path = async () => (await signalbox("task", "path", "1")).stdout.trim();
  await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
  const folder = await path();
  writeFileSync(join(folder, "cup.md"), "full\n");
  git(folder, "add", "cup.md");
  git(folder, "commit", "--quiet", "-m", "cup");
  const status = async () => JSON.parse((await signalbox("task", "show", "1", "--json")).stdout).task.status;
  return { ...stage, coffee, signalbox, folder, status };
}

test("ending a task with unmerged work is refused with both commands, and on a terminal the person is asked", async () => {
  const { base, env, coffee, signalbox, status } = await startBrewed("brew");
  const refused = await signalbox("task", "update", "1", "--status", "served");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /The work is not merged: 1 commit is only on "\S+"\.\nMerge it: signalbox task merge \w+\nTo end it without merging: signalbox task update \w+ --status served --yes\n/,
  );
  const argv = [process.execPath, cliFile, "task", "update", "1", "--status", "served"];
  const asked = atTerminal(argv, { base, env, folder: coffee });
  await asked.shows(/End it as served without merging it\?/);
  asked.say("n");
  await asked.shows(/it ended with/);
  expect(await status()).toBe("brewing");
  const [, way = ""] = /To end it without merging: signalbox (.+)\n/.exec(refused.stderr) ?? [];
  expect((await signalbox(...way.split(" "))).code).toBe(0);
  expect(await status()).toBe("served");
});

test.each(["worktree", "clone"])("a task whose %s was deleted is merged, and is done", async (kind) => {
  const { coffee, signalbox, folder, status } = await startBrewed("strict", kind);
  // The commits of a clone are elsewhere once the daemon has looked at it.
  await signalbox("task", "explain", "1");
  rmSync(folder, { recursive: true });
  expect((await signalbox("task", "merge", "1")).code).toBe(0);
  expect(git(coffee, "ls-tree", "--name-only", "main")).toContain("cup.md");
  await vi.waitFor(async () => expect(await status()).toBe("served"), 30_000);
});

test("work since an approval is merged with --unreviewed, once task diff has shown it", async () => {
  const judged = strict
    .replace("brewing: { waits_for: human, next: served }", "brewing: { waits_for: human, next: tasted }")
    .replace("  served:", "  tasted: { waits_for: human, next: served }\n  served:")
    .replace("{ from: brewing, to: served,", "{ from: tasted, to: served,")
    .replace(
      "  - { from: any",
      '  - { from: brewing, to: tasted, by: critic, gate: { section: "## Review", verdict: PASS } }\n  - { from: brewing, to: tasted, by: human }\n  - { from: any',
    );
  const { signalbox, folder, status } = await startBrewed("strict", "clone", judged);
  expect(await signalbox("task", "update", "1", "--status", "tasted")).toMatchObject({ code: 0 });
  writeFileSync(join(folder, "saucer.md"), "small\n");
  git(folder, "add", "saucer.md");
  git(folder, "commit", "--quiet", "-m", "saucer");
  expect((await signalbox("task", "merge", "1")).stderr).toMatch(/You approved \w{10}, but the branch is at \w{10}/);
  expect((await signalbox("task", "merge", "1", "--unreviewed")).stderr).toContain("which you were not shown");
  expect((await signalbox("task", "diff", "1", "--since-review")).stdout).toContain("saucer.md");
  expect(await signalbox("task", "merge", "1", "--unreviewed")).toMatchObject({ code: 0 });
  expect(await status()).toBe("served");
});
