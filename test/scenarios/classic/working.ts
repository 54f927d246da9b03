import { expect } from "vitest";
import { byHand, type How, inState, type Scenes, scenario } from "../scenes.ts";
import { askFor, build, busy, deaf, handoff, section, tryFor, untilGo } from "../steps.ts";

const gaveUp = (scenes: Scenes, name: string, asker: "human" | "worker", how: How = {}) =>
  scenario(
    scenes,
    name,
    { worker: [asker === "worker" ? { steps: [askFor("cancelled"), "hang"] } : deaf] },
    async (life) => {
      if (asker === "human") {
        await life.onlyAlive("worker#1");
        await life.hasWorkspace();
        await life.does("cancel");
      }
      await life.reaches("cancelled");
      await life.endedFirst();
    },
    how,
  );

/** From `pending`, `clarification` and `working`. */
export function working(scenes: Scenes): void {
  scenario(
    scenes,
    "pending → working (engine asked): a task starts by itself, with a workspace and a worker",
    { worker: [busy] },
    async (life) => {
      await life.reaches("working");
      await life.hasWorkspace();
      await life.onlyAlive("worker#1");
      await life.hasWindows("worker");
      await life.hears("worker#1", "# Task: About");
    },
  );
  scenario(
    scenes,
    "pending → working (human asked): task spawn starts a task that does not start by itself",
    { worker: [busy] },
    async (life) => {
      await life.reaches("pending");
      await life.does("spawn");
      await life.reaches("working");
      await life.hasWorkspace();
      await life.hears("worker#1", "# Task:");
    },
    byHand,
  );
  scenario(
    scenes,
    "pending → clarification (human asked): a person starts the worker with a talk",
    { worker: [busy] },
    async (life) => {
      await life.reaches("pending");
      await life.does("update", "--status", "clarification");
      await life.reaches("clarification");
      await life.hasWorkspace();
      await life.hears("worker#1", "requirements are unclear");
    },
    byHand,
  );
  scenario(
    scenes,
    "pending → cancelled (human asked): a task that never started is cancelled, and nothing was started for it",
    {},
    async (life) => {
      await life.reaches("pending");
      await life.does("cancel");
      expect(await life.reaches("cancelled")).toMatchObject({ outcome: "cancelled", workspace: "" });
      expect(await life.runs()).toEqual([]);
    },
    byHand,
  );

  scenario(
    scenes,
    "clarification → working (human asked): a person moves the task on, and the live worker continues",
    { worker: [busy] },
    async (life) => {
      await life.reaches("clarification");
      await life.hears("worker#1", "requirements are unclear");
      await life.does("update", "--status", "working");
      await life.reaches("working");
      await life.onlyAlive("worker#1");
      expect(await life.heard("worker#1")).toHaveLength(1);
    },
    { summary: "" },
  );
  scenario(
    scenes,
    "clarification → working (worker asked): after the talk the worker moves the task on itself",
    { worker: [{ steps: [{ cli: ["task", "update", "--summary", "Brew"] }, askFor("working"), "hang"] }] },
    async (life) => {
      expect((await life.reaches("working")).summary).toBe("Brew");
      await life.onlyAlive("worker#1");
    },
    inState("clarification"),
  );
  gaveUp(
    scenes,
    "clarification → cancelled (human asked): the worker is ended, and the workspace is released",
    "human",
    inState("clarification"),
  );
  gaveUp(
    scenes,
    "clarification → cancelled (worker asked): the same happens if the worker asks",
    "worker",
    inState("clarification"),
  );
  scenario(
    scenes,
    "clarification (mark_dead): if the worker ends there, the task is held for a person, who can only move it on",
    { worker: [{ steps: [{ exit: 0 }] }] },
    async (life) => {
      const held = await life.isHeld();
      expect([held.status, held.session, held.needsPerson]).toEqual(["clarification", "dead", true]);
      expect(await life.isRefused("respawn")).toContain('No agent works in "clarification", so there is none');
    },
    inState("clarification"),
  );

  scenario(
    scenes,
    "working → agent-review (worker asked): only with a handoff; the worker is ended, and a reviewer is started instead",
    {
      worker: [
        {
          steps: [
            tryFor("agent-review"),
            section("Handoff", ""),
            tryFor("agent-review"),
            tryFor("reviewing"),
            ...build("one"),
            section("Handoff", "It is good."),
            askFor("agent-review"),
          ],
        },
      ],
      reviewer: [busy],
    },
    async (life) => {
      await life.reaches("agent-review");
      expect(await life.refusals()).toEqual([
        "worker agent-review: gate-missing",
        "worker agent-review: gate-empty",
        "worker reviewing: no-transition",
      ]);
      await life.onlyAlive("reviewer#2");
      await life.hasWindows("reviewer");
      expect(await life.hears("reviewer#2", "# Review Task: About")).toContain("Review round: 1 of 2");
      expect(await life.round()).toBe(1);
    },
  );
  scenario(
    scenes,
    "working → agent-review (engine rule 1): a worker that ends with its handoff written is reviewed",
    { worker: [{ steps: [handoff("one"), { exit: 0 }] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("agent-review");
      await life.onlyAlive("reviewer#2");
      expect([await life.round(), (await life.now()).crashCount]).toEqual([1, 0]);
    },
  );
  scenario(
    scenes,
    "working → agent-review (human asked): the gate applies to people too",
    { worker: [{ steps: [untilGo, handoff("one"), "hang"] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("working");
      await life.hears("worker#1", "# Task:");
      expect(await life.isRefused("update", "--status", "agent-review")).toContain("## Handoff is missing");
      life.go();
      await life.hasWritten("DONE: one");
      await life.does("update", "--status", "agent-review");
      await life.reaches("agent-review");
      await life.onlyAlive("reviewer#2");
    },
  );

  scenario(
    scenes,
    "working → clarification (human asked): a person wants to talk first, and the worker stays",
    { worker: [busy] },
    async (life) => {
      await life.reaches("working");
      await life.onlyAlive("worker#1");
      await life.does("update", "--status", "clarification");
      await life.reaches("clarification");
      await life.onlyAlive("worker#1");
    },
  );
  scenario(
    scenes,
    "working → clarification (worker asked): a worker with questions waits where it is",
    { worker: [{ steps: [section("Questions", "1. How strong?"), askFor("clarification"), "hang"] }] },
    async (life) => {
      await life.reaches("clarification");
      await life.onlyAlive("worker#1");
    },
  );
  gaveUp(scenes, "working → cancelled (human asked): the worker is ended, and the workspace is released", "human");
  gaveUp(scenes, "working → cancelled (worker asked): the same happens if the worker asks", "worker");
}
