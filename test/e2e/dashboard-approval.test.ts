import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

/** Without agents: the workflow merges once a person approves. */
const flow = `name: flow
version: 1
states:
  todo: { waits_for: slot, next: sketched }
  sketched: { waits_for: human, ask: Go on, next: shown }
  shown: { waits_for: human, ask: Let it be merged, next: joining }
  joining: { do: [merge], next: merged }
  merged: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: sketched, by: human, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human }
`;

test("an approval that merges asks first with what would be merged and pushed, and one that only moves on does not", async () => {
  const { base, env, main, repository, json, git, until, task, signalbox } = await startCommands("roles: {}", {
    flow,
    remote: true,
  });
  const commit = (folder: string, file: string) => {
    writeFileSync(join(folder, file), "full\n");
    git(folder, "add", file);
    git(folder, "commit", "-qm", file);
  };
  const create = async (branch: string): Promise<string> => {
    const { task } = await json("task", "create", branch, `About ${branch}`, "--workflow", "flow");
    const { workspace } = (await until(
      task.id,
      ({ status, phase }) => status === "sketched" && phase === "waiting",
    )) as {
      workspace: string;
    };
    commit(workspace, `${branch}.md`);
    return task.id;
  };
  const first = await create("cups");
  commit(repository, "own.md");
  const at = { base, env, folder: repository, columns: 140, rows: 40 };
  const screen = atTerminal([process.execPath, main, "dashboard"], at);
  const leave = () =>
    eventually(async () => {
      screen.press("Escape");
      return screen.screen().includes("Nothing was done.") || undefined;
    });
  /** A task that has just moved must be looked at again before its key is taken. */
  const asks = () =>
    eventually(async () => {
      if (screen.screen().includes("Press y to do it")) return true;
      screen.press("A");
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return undefined;
    });
  await screen.shows(/Needs you 1.*\n›▲ coffee#1 .*sketched/);
  screen.press("A");
  await screen.shows(/›▲ coffee#1 +About cups +shown /);
  await until(first, ({ status, phase }) => status === "shown" && phase === "waiting");
  await asks();
  await screen.shows(/its work is merged[\s\S]*1 commit into main: cups\.md/);
  await screen.shows(/It would also push main to origin, with 1 other commit of yours that is not there yet\./);
  await leave();
  expect((await task(first)).status).toBe("shown");

  // So it does for several that are selected.
  const second = await create("pots");
  await signalbox(["task", "approve", second]);
  await until(second, ({ status, phase }) => status === "shown" && phase === "waiting");
  await screen.shows(/Needs you 2/);
  screen.press("Home", "v", "v");
  await screen.shows(/2 selected/);
  await asks();
  await screen.shows(/coffee#1 About cups[\s\S]*its work is merged[\s\S]*Press y to do it/);
  await screen.shows(/coffee#2 About pots[\s\S]*its work is merged[\s\S]*Press y to do it/);
  await leave();
  screen.press("Escape", "Home");
  await screen.shows(/›▲ coffee#1/);
  await asks();
  await screen.shows(/It would also push main to origin[\s\S]*Press y to do it/);
  await new Promise((resolve) => setTimeout(resolve, 500));
  screen.press("y");
  await until(first, ({ outcome }) => outcome === "done");
  expect(git(repository, "ls-tree", "--name-only", "main")).toMatch(/cups\.md[\s\S]*own\.md/);
  expect((await task(second)).status).toBe("shown");
  // What was done, and how to undo it.
  screen.press("z");
  await screen.shows(new RegExp(`To take it back: signalbox task merge ${first} --undo`));
});
