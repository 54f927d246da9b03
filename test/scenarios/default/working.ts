import { expect } from "vitest";
import { inState, type Scenes, scenario } from "../scenes.ts";
import { askFor, build, busy, deaf, handoff, section, told, tryFor } from "../steps.ts";

/** From `working`. */
export function working(scenes: Scenes): void {
  scenario(
    scenes,
    "working → agent-review (worker asked): only with a handoff, and a reviewer starts beside the worker, which stays",
    {
      worker: [
        {
          steps: [
            tryFor("agent-review"),
            section("Handoff", "It is good."),
            tryFor("agent-review"),
            ...build("one"),
            handoff("one"),
            askFor("agent-review"),
          ],
        },
      ],
      reviewer: [busy],
    },
    async (life) => {
      await life.reaches("agent-review");
      expect(await life.refusals()).toEqual(["worker agent-review: gate-missing", "worker agent-review: gate-field"]);
      await life.onlyAlive("worker#1", "reviewer#2");
      await life.hasWindows("worker", "review-1");
      expect(await life.round()).toBe(1);
      expect(await life.hears("reviewer#2", "# Review: About")).toContain("round 1 of 2");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → agent-review (engine rule 1): a worker that ends with its handoff written is reviewed, and not started again",
    { worker: [{ steps: [...build("one"), handoff("one"), { exit: 0 }] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("agent-review");
      await life.hears("reviewer#2", "# Review:");
      await life.onlyAlive("reviewer#2");
      expect(await life.round()).toBe(1);
      expect((await life.now()).crashCount).toBe(0);
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → agent-review (engine rule 1): an idle worker with its handoff written is reviewed, and keeps running",
    { worker: [{ steps: [...build("one"), handoff("one")] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("agent-review");
      await life.onlyAlive("worker#1", "reviewer#2");
      await life.hasWindows("worker", "review-1");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → clarification (worker asked): a worker with a question asks a person",
    { worker: [{ steps: [section("Questions", "1. How strong?"), askFor("clarification"), "hang"] }] },
    async (life) => {
      expect((await life.reaches("clarification")).needsPerson).toBe(true);
      await life.onlyAlive("worker#1");
      expect(await life.heard("worker#1")).toHaveLength(1);
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → stuck (worker asked): a worker that gives up is told to talk with a person, and cannot go to review itself",
    { worker: [told("# Stuck", tryFor("reviewing"), tryFor("working"), "hang"), { steps: [askFor("stuck")] }] },
    async (life) => {
      expect((await life.reaches("stuck")).needsPerson).toBe(true);
      await life.hears("worker#1", "# Stuck");
      await life.isRefusedAll("worker reviewing: needs-person", "worker working: needs-person");
      await life.onlyAlive("worker#1");
      await life.hasWindows("worker");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → stuck (human asked): a person declares a task stuck, and the live worker is told",
    { worker: [told("# Stuck", "hang"), { steps: [{ say: "I do not know." }] }] },
    async (life) => {
      await life.reaches("working");
      await life.onlyAlive("worker#1");
      await life.does("update", "--status", "stuck");
      await life.reaches("stuck");
      await life.hears("worker#1", "# Stuck");
      await life.onlyAlive("worker#1");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → stuck (engine escalated): after two silent ends in a row a worker is started to talk with a person",
    { worker: [told("# Stuck", "hang"), { steps: [...build("half"), { crash: "SIGKILL" }] }] },
    async (life) => {
      const held = await life.isHeld();
      expect([held.status, held.crashCount]).toEqual(["working", 1]);
      expect(held.held?.reason).toContain("SIGKILL");
      await life.does("respawn");
      await life.reaches("stuck");
      await life.hears("worker#3", "# Stuck");
      await life.onlyAlive("worker#3");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "working → cancelled (human asked): the worker is ended, and its uncommitted work is salvaged",
    { worker: [{ steps: [{ write: { file: "half.md", text: "half a cup\n" } }, ...deaf.steps] }] },
    async (life) => {
      await life.reaches("working");
      const workspace = await life.hasWorkspace();
      await life.soon(async () => (scenes.git(workspace, "status", "--short").includes("half.md") ? true : undefined));
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
      const { stdout } = await scenes.signalbox("salvage", "list", "--json");
      const saved = JSON.parse(stdout).salvaged.filter(({ task }: { task: string }) => task === life.id);
      expect(saved).toHaveLength(1);
    },
    inState("working"),
  );
}
