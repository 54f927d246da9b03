import { expect, test } from "vitest";
import { createRunner, defaultLimits, type RunGit } from "../../src/adapters/git/runner.ts";
import { author, date, faultOf } from "../git/stage.ts";
import { createScenes } from "./stage.ts";

const scenes = createScenes("worktree", "meanwhile");

/** Calls `happens` right before git writes a ref. */
function beforeRefs(happens: () => void): RunGit {
  const run = createRunner({ program: "git", env: scenes.stage.env, signal: undefined, limits: defaultLimits });
  return (place, args, options) => {
    if (args[0] === "update-ref") happens();
    return run(place, args, options);
  };
}

test("a branch that gets a commit while it is being deleted stays", async () => {
  const { user, again } = await scenes.open();
  const tip = user.at("main");
  user.git("branch", "over", tip);
  const more = user.commit({ "a.txt": "more\n" });
  const kind = again({ run: beforeRefs(() => user.git("update-ref", "refs/heads/over", more)) });
  expect(await faultOf(kind.deleteBranch("over", tip))).toMatchObject({ code: "git.ref-moved" });
  expect(user.at("over")).toBe(more);
});

test("a commit that an agent makes during commitAll is not lost", async () => {
  const { again, prepare, at, folder } = await scenes.open();
  await prepare();
  const agent = at();
  agent.write("a.txt", "not committed\n");
  let own = "";
  const run = beforeRefs(() => {
    agent.git("commit", "--quiet", "--allow-empty", "--message", "mine");
    own = agent.at("HEAD");
  });
  const order = { folder, task: "t1", message: "What was left\n", author, date };
  expect(await faultOf(again({ run }).commitAll(order))).toMatchObject({ code: "git.ref-moved", retry: "later" });
  expect(agent.at("HEAD")).toBe(own);
  await again().commitAll(order);
  expect(agent.git("show", "HEAD:a.txt")).toBe("not committed");
  expect(agent.git("rev-list", "HEAD").split("\n")).toContain(own);
});
