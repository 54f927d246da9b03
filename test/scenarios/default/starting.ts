import { expect } from "vitest";
import { byHand, type Scenes, scenario } from "../scenes.ts";
import { askFor, busy, deaf, during, plan, section, told, tryFor } from "../steps.ts";

/** From `pending` and `planning`. */
export function starting(scenes: Scenes): void {
  scenario(
    scenes,
    "pending → planning (engine rule 1): a task starts by itself, with a workspace and a worker in its own window",
    { worker: [busy] },
    async (life) => {
      await life.reaches("planning");
      await life.hasWorkspace();
      await life.onlyAlive("worker#1");
      await life.hasWindows("worker");
      expect(await life.hears("worker#1", "# Task: About")).toContain(`branch ${life.branch}`);
    },
  );

  scenario(
    scenes,
    "pending → planning (human asked): a person starts a task that does not start by itself by asking for the state",
    { worker: [busy] },
    async (life) => {
      await life.reaches("pending");
      expect(await life.does("update", "--status", "planning")).toContain("pending → planning");
      await life.reaches("planning");
      await life.hasWorkspace();
      await life.hears("worker#1", "# Task:");
    },
    byHand,
  );

  scenario(
    scenes,
    "pending → planning (human rule 1): task spawn starts a task that does not start by itself",
    { worker: [busy] },
    async (life) => {
      await life.reaches("pending");
      await life.does("spawn");
      await life.reaches("planning");
      await life.hasWorkspace();
      await life.hears("worker#1", "# Task:");
      expect(await life.isRefused("spawn")).toContain("has already started");
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
      const { outcome, workspace } = await life.reaches("cancelled");
      expect({ outcome, workspace, runs: await life.runs() }).toEqual({
        outcome: "cancelled",
        workspace: "",
        runs: [],
      });
      expect(await life.isRefused("update", "--status", "planning")).toContain("which is the end");
    },
    byHand,
  );

  scenario(
    scenes,
    "planning → working (worker asked): only with a plan that says how or where, and the same session continues",
    {
      worker: [
        during(
          "planning",
          tryFor("working"),
          section("Plan", "I will think of something."),
          tryFor("working"),
          section("Plan", "APPROACH:\nTOUCHING:"),
          tryFor("working"),
          tryFor("agent-review"),
          tryFor("done"),
          plan,
          askFor("working"),
          "hang",
        ),
      ],
    },
    async (life) => {
      await life.reaches("working");
      expect(await life.refusals()).toEqual([
        "worker working: gate-missing",
        "worker working: gate-field",
        "worker working: gate-field",
        "worker agent-review: no-transition",
        "worker done: no-transition",
      ]);
      await life.onlyAlive("worker#1");
      expect(await life.heard("worker#1")).toHaveLength(1);
    },
  );

  scenario(
    scenes,
    "planning → working (engine rule 1): a worker that ends with its plan written has planned, and is resumed",
    { worker: [told("# Resuming", "hang"), during("planning", plan, { exit: 0 })] },
    async (life) => {
      await life.reaches("working");
      expect(await life.hears("worker#2", "# Resuming")).toContain("status working");
      await life.onlyAlive("worker#2");
      await life.hasWindows("worker");
      expect((await life.now()).crashCount).toBe(0);
    },
  );

  scenario(
    scenes,
    "planning → clarification (worker asked): a worker with questions waits for a person, and cannot leave by itself",
    {
      worker: [
        during("planning", section("Questions", "1. How strong?"), askFor("clarification"), tryFor("planning"), "hang"),
      ],
    },
    async (life) => {
      const { needsPerson } = await life.reaches("clarification");
      expect(needsPerson).toBe(true);
      await life.isRefusedAll("worker planning: needs-person");
      await life.onlyAlive("worker#1");
      await life.hasWorkspace();
    },
  );

  scenario(
    scenes,
    "planning → stuck (engine escalated): the first silent end is recorded, the second in a row calls a person",
    { worker: [told("# Stuck", "hang"), { steps: [{ exit: 3 }] }] },
    async (life) => {
      const held = await life.isHeld();
      expect([held.status, held.crashCount, held.session]).toEqual(["planning", 1, "dead"]);
      await life.does("respawn");
      const { crashCount } = await life.reaches("stuck");
      expect(crashCount).toBe(0);
      expect(await life.hears("worker#3", "# Stuck")).toContain("kept ending early");
      expect(await life.does("explain")).toContain('The task came here from "planning": It ended with 3.');
      await life.onlyAlive("worker#3");
      await life.hasWorkspace();
    },
  );

  scenario(
    scenes,
    "planning → cancelled (human asked): the worker is ended, and the workspace is released",
    { worker: [deaf] },
    async (life) => {
      await life.reaches("planning");
      await life.onlyAlive("worker#1");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
    },
  );

  scenario(
    scenes,
    "clarification → planning (human asked): a person sends the task back to planning, and the live worker continues",
    {
      worker: [
        told("As strong as you can", plan, askFor("working"), "hang"),
        told("A person has moved the task"),
        during("planning", section("Questions", "1. How strong?"), askFor("clarification")),
      ],
    },
    async (life) => {
      await life.reaches("clarification");
      await life.does("update", "--status", "planning");
      await life.reaches("planning");
      await life.does("send", "As strong as you can");
      await life.reaches("working");
      await life.onlyAlive("worker#1");
    },
  );

  scenario(
    scenes,
    "clarification → planning (human rule 1): a task without a summary begins with questions, and continue leads to planning",
    {
      worker: [
        told("Brew it", { cli: ["task", "update", "--summary", "Brew it"] }, plan, askFor("working"), "hang"),
        told("# Questions about", section("Questions", "1. What?")),
      ],
    },
    async (life) => {
      await life.reaches("clarification");
      await life.hears("worker#1", "# Questions about:");
      await life.hasWorkspace();
      await life.does("continue", "--yes");
      await life.reaches("planning");
      await life.does("send", "Brew it");
      expect((await life.reaches("working")).summary).toBe("Brew it");
      await life.onlyAlive("worker#1");
    },
    { summary: "" },
  );

  scenario(
    scenes,
    "clarification → cancelled (human asked): the worker is ended, and the workspace is released",
    { worker: [deaf] },
    async (life) => {
      await life.reaches("clarification");
      await life.onlyAlive("worker#1");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
    },
    { summary: "" },
  );
}
