import { expect } from "vitest";
import { inState, type Scenes, scenario } from "../scenes.ts";
import { askFor, build, busy, deaf, handoff, quiet, review, told, tryFor } from "../steps.ts";

const passes = { steps: [review("PASS"), askFor("reviewing")] };
const handsOver = [...build("one"), handoff("one"), askFor("agent-review")];

/** From the states that wait for a person: `reviewing` and `stuck`. */
export async function person(scenes: Scenes): Promise<void> {
  const tea = await scenes.addProject("tea", 2);
  scenario(
    scenes,
    "reviewing → working (human asked): a person asks for changes, the worker is told, and the rounds start over",
    {
      worker: [
        told("The human asks for changes", ...build("two"), handoff("two"), askFor("agent-review")),
        { steps: handsOver },
      ],
      // The same text about new work would be the earlier verdict.
      reviewer: [{ steps: [review("PASS", "Session {run} says so."), askFor("reviewing")] }],
    },
    async (life) => {
      await life.reaches("reviewing");
      await life.does("update", "--status", "working");
      await life.hears("worker#1", "The human asks for changes");
      await life.until(({ status }) => status === "reviewing");
      // The second reviewer is the first of the new rounds.
      expect(await life.windowsHad()).toEqual(["worker#1 worker", "reviewer#2 review-1", "reviewer#3 review-1"]);
      expect(await life.round()).toBe(1);
      await life.onlyAlive("worker#1");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "reviewing → done (human asked): task merge merges the work into main, then the task's agents, workspace and branch are cleaned up",
    { worker: [{ steps: [...handsOver, ...deaf.steps] }], reviewer: [passes] },
    async (life) => {
      await life.reaches("reviewing");
      expect(await life.isRefused("update", "--status", "done")).toContain("signalbox task merge ");
      await life.does("create-pr");
      expect(scenes.remoteBranches()).toContain(life.branch);
      await life.does("merge");
      expect((await life.reaches("done")).outcome).toBe("done");
      await life.endedFirst();
      expect(scenes.git(scenes.repository, "show", `main:${life.branch}.md`)).toBe("one");
      expect(scenes.git(scenes.origin, "show", `main:${life.branch}.md`)).toBe("one");
      await life.soon(async () => (scenes.remoteBranches().includes(life.branch) ? undefined : true));
    },
    inState("working"),
  );

  scenario(
    scenes,
    "reviewing → done (human rule 1): continue ends only a task whose work a person has merged into main",
    { worker: [{ steps: handsOver }], reviewer: [passes] },
    async (life) => {
      await life.reaches("reviewing");
      expect(await life.isRefused("continue")).toContain("signalbox task merge ");
      await life.does("fetch");
      scenes.git(tea, "merge", "--quiet", "--no-edit", life.branch);
      await life.does("continue");
      expect((await life.reaches("done")).outcome).toBe("done");
      await life.gaveBack();
      await life.onlyAlive();
    },
    { flags: ["--status", "working", "--project", "tea"] },
  );

  scenario(
    scenes,
    "reviewing → cancelled (human asked): the worker is ended, and its commits are kept on the branch",
    { worker: [{ steps: [...build("one"), ...deaf.steps] }] },
    async (life) => {
      await life.reaches("reviewing");
      const workspace = await life.hasWorkspace();
      await life.soon(async () => (scenes.git(workspace, "log", "-1", "--format=%s") === "one" ? true : undefined));
      const commit = scenes.git(workspace, "rev-parse", "HEAD");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
      await life.does("fetch");
      expect(scenes.git(scenes.repository, "rev-parse", life.branch)).toBe(commit);
    },
    inState("reviewing"),
  );

  scenario(
    scenes,
    "stuck → reviewing (human asked): only a person can send a stuck task to the final review",
    { worker: [told("# Stuck", tryFor("reviewing"), "hang"), quiet] },
    async (life) => {
      await life.reaches("stuck");
      await life.isRefusedAll("worker reviewing: needs-person");
      await life.does("update", "--status", "reviewing");
      await life.reaches("reviewing");
      await life.onlyAlive("worker#1");
      expect(await life.heard("worker#1")).toHaveLength(1);
    },
    inState("stuck"),
  );

  scenario(
    scenes,
    "stuck → reviewing (human rule 1): continue sends a stuck task to the final review",
    { worker: [busy] },
    async (life) => {
      await life.reaches("stuck");
      await life.hears("worker#1", "# Stuck");
      await life.does("continue");
      await life.reaches("reviewing");
      await life.onlyAlive("worker#1");
    },
    inState("stuck"),
  );

  scenario(
    scenes,
    "stuck → cancelled (human asked): the worker is ended, and the workspace is released",
    { worker: [deaf] },
    async (life) => {
      await life.reaches("stuck");
      await life.onlyAlive("worker#1");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
    },
    inState("stuck"),
  );

  for (const status of ["clarification", "reviewing", "stuck"]) {
    scenario(
      scenes,
      `${status} (dead): a worker that ends while a person is waited for is only marked, and can be brought back`,
      { worker: [{ when: { run: 1, turn: 1 }, steps: [{ exit: 1 }] }, busy] },
      async (life) => {
        await life.soon(async () => ((await life.now()).session === "dead" ? true : undefined));
        expect(await life.now()).toMatchObject({ status, crashCount: 0, held: null });
        await life.does("respawn");
        await life.onlyAlive("worker#2");
        expect(await life.moves()).toEqual([]);
      },
      inState(status),
    );
  }
}
