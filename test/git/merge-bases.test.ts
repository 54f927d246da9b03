import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createControlGit } from "../../src/adapters/git/control/control-git.ts";
import { createTrunk, readHistory } from "../../src/adapters/git/control/history.ts";
import { createRunner, defaultLimits } from "../../src/adapters/git/runner.ts";
import { createStage } from "./stage.ts";

const stage = createStage("merge-bases");
const run = createRunner({ program: "git", env: stage.env, signal: undefined, limits: defaultLimits });

/** For each commit the distances to its parents, and which commits are merged one after the other. */
const history = fc.record({
  commits: fc.array(fc.tuple(fc.nat({ max: 5 }), fc.option(fc.nat({ max: 8 }))), { minLength: 8, maxLength: 25 }),
  merged: fc.array(fc.nat({ max: 8 }), { minLength: 2, maxLength: 6 }),
});

test("the merge base of a branch and the branches merged before it is the one that git computes", async () => {
  let [sure, doubtful] = [0, 0];
  for (const { commits, merged } of fc.sample(history, { seed: 4, numRuns: 12 })) {
    const { folder, git, ids } = makeHistory(commits);
    const [onto = "", ...branches] = merged.map((back) => ids[Math.max(0, ids.length - 1 - back)] ?? "");
    const known = await readHistory(createControlGit(run, folder, undefined), [onto, ...branches]);
    if (known === undefined) continue;
    const trunk = createTrunk(known, onto);
    const before = [onto];
    for (const [index, branch] of branches.entries()) {
      // Git treats several commits as one commit that has merged them all.
      const bases = git(["merge-base", "--all", branch, ...before]).split("\n");
      const isContained = bases.length === 1 && bases[0] === branch;
      expect(trunk.contains(branch)).toBe(isContained);
      if (!isContained) expect(trunk.baseWith(branch)).toBe(bases.length === 1 ? bases[0] : undefined);
      if (bases.length === 1) sure += 1;
      else doubtful += 1;
      trunk.move(`merge ${index}`, [before.length === 1 ? onto : `merge ${index - 1}`, branch]);
      before.push(branch);
    }
  }
  expect(Math.min(sure, doubtful)).toBeGreaterThan(1);
});

test("a trunk is contained in a branch that began at it, and in no other", async () => {
  const { folder, ids } = makeHistory([
    [0, null],
    [0, null],
    [1, null],
  ]);
  const [root = "", onto = "", next = "", other = ""] = ids;
  const known = await readHistory(createControlGit(run, folder, undefined), [onto, next, other]);
  if (known === undefined) throw new Error(root);
  const trunk = createTrunk(known, onto);
  expect([trunk.isIn(next), trunk.isIn(other)]).toEqual([true, true]);
  trunk.forward(next);
  expect([trunk.isIn(other), trunk.contains(next), trunk.contains(onto), trunk.contains(other)]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test("unrelated histories are left to git", async () => {
  const user = stage.repository();
  user.git("checkout", "--quiet", "--orphan", "alone");
  const alone = user.commit({ "d.txt": "d\n" });
  const control = createControlGit(run, `${user.folder}/.git`, undefined);
  expect(await readHistory(control, [user.at("main"), alone])).toBeUndefined();
});

function makeHistory(commits: readonly (readonly [number, number | null])[]) {
  const folder = stage.path("history.git");
  const git = (args: readonly string[], input = "") =>
    execFileSync("git", args, { cwd: folder, env: stage.env, input, encoding: "latin1" }).trim();
  execFileSync("git", ["init", "--quiet", "--bare", folder], { env: stage.env });
  const text = ["root" as const, ...commits].map((parents, index) => {
    const mark = (back: number) => `:${Math.max(1, index - back)}`;
    const head = `commit refs/heads/c${index}\nmark :${index + 1}\ncommitter A <a@b> ${1_700_000_000 + index} +0000\ndata 0\n`;
    if (parents === "root") return head;
    const [first, second] = parents;
    const isMerge = second !== null && mark(second) !== mark(first);
    return `${head}from ${mark(first)}\n${isMerge ? `merge ${mark(second)}\n` : ""}`;
  });
  git(["fast-import", "--quiet"], text.join(""));
  const refs = text.map((_, index) => `refs/heads/c${index}\n`);
  return { folder, git, ids: git(["cat-file", "--batch-check=%(objectname)"], refs.join("")).split("\n") };
}
