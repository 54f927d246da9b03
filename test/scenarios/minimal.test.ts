import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { nextInLine } from "./next-in-line.ts";
import { byHand, everyMoveWasSeen, inState, openScenes, scenario } from "./scenes.ts";
import { askFor, build, busy, deaf, handoff, section, tryFor, untilGo } from "./steps.ts";

const careless = join(import.meta.dirname, "..", "language", "broken-promises", "worker-straight-to-done.yaml");
const scenes = await openScenes("minimal", { workflows: { careless: readFileSync(careless, "utf8") } });
afterAll(scenes.close);

scenario(
  scenes,
  "pending → working (engine asked): a task starts by itself, with a workspace and a worker",
  { worker: [busy] },
  async (life) => {
    await life.reaches("working");
    await life.hasWorkspace();
    await life.hasWindows("worker");
    await life.hears("worker#1", "# Task: About");
    await life.onlyAlive("worker#1");
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
  "working → reviewing (worker asked): only with a handoff, and the worker is ended",
  {
    worker: [
      {
        steps: [
          tryFor("reviewing"),
          section("Handoff", ""),
          tryFor("reviewing"),
          tryFor("done"),
          ...build("one"),
          handoff("one"),
          askFor("reviewing"),
          "hang",
        ],
      },
    ],
  },
  async (life) => {
    await life.reaches("reviewing");
    expect(await life.refusals()).toEqual([
      "worker reviewing: gate-missing",
      "worker reviewing: gate-empty",
      "worker done: no-transition",
    ]);
    await life.onlyAlive();
    await life.hasWorkspace();
  },
);
scenario(
  scenes,
  "working → reviewing (engine rule 1): a worker that ends with its handoff written has handed over",
  { worker: [{ steps: [handoff("one"), { exit: 0 }] }] },
  async (life) => {
    await life.reaches("reviewing");
    await life.onlyAlive();
  },
);
scenario(
  scenes,
  "working → reviewing (human asked): the gate applies to people too",
  { worker: [{ steps: [untilGo, handoff("one"), "hang"] }] },
  async (life) => {
    await life.hears("worker#1", "# Task:");
    expect(await life.isRefused("update", "--status", "reviewing")).toContain("## Handoff is missing");
    life.go();
    await life.hasWritten("DONE: one");
    await life.does("update", "--status", "reviewing");
    await life.reaches("reviewing");
    await life.onlyAlive();
  },
);
scenario(
  scenes,
  "working → cancelled (human asked): the worker is ended, and the workspace is released",
  { worker: [deaf] },
  async (life) => {
    await life.reaches("working");
    await life.onlyAlive("worker#1");
    await life.does("cancel");
    await life.reaches("cancelled");
    await life.endedFirst();
  },
);
scenario(
  scenes,
  "working → cancelled (worker asked): the same happens if the worker asks",
  { worker: [{ steps: [askFor("cancelled"), { hang: "deaf" }] }] },
  async (life) => {
    await life.reaches("cancelled");
    await life.endedFirst();
  },
);
scenario(
  scenes,
  "working (crash): without a state for it, a task whose worker keeps ending stays where it is and needs a person",
  { worker: [{ steps: [{ exit: 1 }] }] },
  async (life) => {
    expect(await life.isHeld()).toMatchObject({ status: "working", crashCount: 1, session: "dead", needsPerson: true });
    await life.does("respawn");
    await life.until(({ crashCount, held }) => crashCount === 2 && held !== null);
    // The rule counts in a row: what a person continues has still failed before.
    await life.does("continue");
    await life.until(({ crashCount, held }) => crashCount === 3 && held !== null);
    expect((await life.now()).status).toBe("working");
    await life.hasWorkspace();
  },
);
scenario(
  scenes,
  "reviewing → done (human asked): task merge merges the work into main, then the task's agents, workspace and branch are cleaned up",
  { worker: [{ steps: [...build("one"), handoff("one"), askFor("reviewing")] }] },
  async (life) => {
    await life.reaches("reviewing");
    await life.does("create-pr");
    expect(scenes.remoteBranches()).toContain(life.branch);
    await life.does("merge");
    expect((await life.reaches("done")).outcome).toBe("done");
    await life.gaveBack();
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
test.concurrent("a move that breaks a promise of the workflow is held, and the promise is named", async () => {
  const life = await scenes.begin(
    "careless-cup",
    { worker: [{ steps: [...build("one"), askFor("done"), "hang"] }] },
    { workflow: "careless" },
  );
  const { status, held } = await life.isHeld();
  expect(status).toBe("working");
  expect(held).toMatchObject({ word: "promise" });
  expect(held?.reason).toContain(
    "would break the promise { to: done, after: { merged: true } }: the work was not merged",
  );
  const explained = await life.does("explain");
  expect(explained).toContain("open  { to: done, after: { merged: true } }");
  expect(explained).toContain("kept  { to: done, never_by: [worker, reviewer] }");
  expect(await life.moves()).toEqual(["pending → working (engine rule 1)"]);
});
nextInLine(scenes);
everyMoveWasSeen(scenes);
