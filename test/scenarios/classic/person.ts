import { expect } from "vitest";
import { inState, type Scenes, scenario } from "../scenes.ts";
import { askFor, build, busy, deaf, handoff, review, told } from "../steps.ts";

/** From `reviewing` and `stuck`, and the ways into `stuck`. */
export function person(scenes: Scenes): void {
  scenario(
    scenes,
    "working → stuck (human asked): a person declares a task stuck, and the worker stays",
    { worker: [busy] },
    async (life) => {
      await life.reaches("working");
      await life.onlyAlive("worker#1");
      await life.does("update", "--status", "stuck");
      await life.reaches("stuck");
      await life.onlyAlive("worker#1");
    },
  );
  scenario(
    scenes,
    "working → stuck (worker asked): a worker that gives up stays where it is; when it ends the task is held",
    { worker: [{ steps: [askFor("stuck"), { exit: 0 }] }] },
    async (life) => {
      const held = await life.isHeld();
      expect([held.status, held.session, held.needsPerson]).toEqual(["stuck", "dead", true]);
    },
  );
  scenario(
    scenes,
    "working → stuck (engine escalated): the first silent end is recorded, the second in a row calls a person",
    { worker: [{ steps: [{ exit: 1 }] }] },
    async (life) => {
      const held = await life.isHeld();
      expect([held.status, held.crashCount, held.session]).toEqual(["working", 1, "dead"]);
      await life.does("respawn");
      expect((await life.reaches("stuck")).crashCount).toBe(0);
      const [, second = ""] = await Promise.all(
        ["worker#1", "worker#2"].map(async (key) => (await life.heard(key)).join()),
      );
      expect(second).toContain("# Resuming Task: About");
      await life.onlyAlive();
      await life.hasWorkspace();
    },
  );

  scenario(
    scenes,
    "stuck → working (human asked): a person starts a worker, which is told what went wrong",
    { worker: [{ when: { run: 1 }, steps: [{ exit: 0 }] }, busy] },
    async (life) => {
      await life.isHeld();
      await life.does("update", "--status", "working");
      await life.reaches("working");
      await life.hears("worker#2", "# Resuming Stuck Task");
    },
    inState("stuck"),
  );
  scenario(
    scenes,
    "stuck → working (worker asked): the live worker continues, and is told what went wrong",
    { worker: [told("# Resuming Stuck", "hang"), { steps: [askFor("stuck"), askFor("working")] }] },
    async (life) => {
      await life.makes("stuck → working (worker asked)");
      await life.hears("worker#1", "# Resuming Stuck Task");
      await life.onlyAlive("worker#1");
    },
  );
  scenario(
    scenes,
    "stuck → agent-review (human asked): a person sends the current work to review",
    { worker: [busy], reviewer: [busy] },
    async (life) => {
      await life.reaches("stuck");
      await life.does("update", "--status", "agent-review");
      await life.reaches("agent-review");
      await life.hears("reviewer#2", "Review round: 1 of 2");
      expect(await life.round()).toBe(1);
    },
    inState("stuck"),
  );
  scenario(
    scenes,
    "stuck → agent-review (worker asked): a worker that is no longer stuck asks for a review, and stays",
    { worker: [{ steps: [askFor("stuck"), askFor("agent-review"), "hang"] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("agent-review");
      await life.onlyAlive("worker#1", "reviewer#2");
      await life.hasWindows("worker", "reviewer");
      expect(await life.round()).toBe(1);
    },
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
  scenario(
    scenes,
    "stuck → cancelled (worker asked): the same happens if the worker asks",
    { worker: [{ steps: [askFor("stuck"), askFor("cancelled"), "hang"] }] },
    async (life) => {
      await life.reaches("cancelled");
      await life.endedFirst();
    },
  );

  scenario(
    scenes,
    "reviewing → done (human asked): task merge merges the work into main, then the task's agents, workspace and branch are cleaned up",
    {
      worker: [{ steps: [...build("one"), handoff("one"), askFor("agent-review")] }],
      reviewer: [{ steps: [review("PASS"), askFor("reviewing")] }],
    },
    async (life) => {
      await life.reaches("reviewing");
      await life.does("create-pr");
      expect(scenes.remoteBranches()).toContain(life.branch);
      await life.does("merge");
      expect((await life.reaches("done")).outcome).toBe("done");
      await life.gaveBack();
      await life.onlyAlive();
      expect(scenes.git(scenes.repository, "show", `main:${life.branch}.md`)).toBe("one");
      await life.soon(async () => (scenes.remoteBranches().includes(life.branch) ? undefined : true));
    },
  );
  scenario(
    scenes,
    "reviewing → cancelled (human asked): the workspace is released, and a branch with a commit is kept",
    {},
    async (life) => {
      await life.reaches("reviewing");
      const workspace = await life.hasWorkspace();
      scenes.git(workspace, "commit", "--quiet", "--allow-empty", "-m", "by hand");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.gaveBack();
      await life.does("fetch");
      expect(scenes.git(scenes.repository, "rev-parse", "--verify", life.branch)).toMatch(/^[0-9a-f]{40}$/);
    },
    inState("reviewing"),
  );
}
