import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { bubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import { root } from "../documents.ts";
import { inState, openScenes } from "./scenes.ts";
import { askFor, build, busy, handoff, review, type Step, told } from "./steps.ts";

// Reviewers of `classic` that write their verdict and end, in sandboxes. The scenarios of classic show the same without.

const state = await bubblewrap({ commands: spawnCommands, env: process.env }).detect();
const classic = readFileSync(join(root, "workflows", "classic.yml"), "utf8");

if (!state.works) {
  test("where no sandbox can be made, verdicts must be handed in", () => expect(state.works).toBe(false));
} else {
  const scenes = await openScenes("classic", {
    ...{ agents: "most: 80, sandbox: auto", workspaces: "clone" },
    workflows: { loose: `${classic}\nroles: { worker: { sandbox: off }, reviewer: {} }\n` },
  });
  afterAll(scenes.close);
  const ends = (verdict: "PASS" | "FAIL"): readonly Step[] => [review(verdict), { exit: 0 }];

  test("a sandboxed reviewer that writes its verdict and ends has judged the commit that it was given", async () => {
    const life = await scenes.begin("sealed-pass", {
      worker: [{ steps: [...build("one"), handoff("one"), askFor("agent-review")] }],
      reviewer: [{ steps: ends("PASS") }],
    });
    const { judged, workspace } = await life.reaches("reviewing");
    expect((await life.moves()).at(-1)).toBe("agent-review → reviewing (engine rule 1)");
    expect(judged?.commit).toBe(scenes.git(workspace, "rev-parse", "HEAD"));
    expect(await life.story()).toContain('document.changed reviewer {"sections":["Review"],"run":"reviewer#2"}');
    await life.does("merge");
    await life.reaches("done");
    await scenes.end(life);
  });

  test("its failing verdict starts a worker that fixes the work", async () => {
    const life = await scenes.begin(
      "sealed-fail",
      { worker: [busy], reviewer: [{ steps: ends("FAIL") }] },
      inState("agent-review"),
    );
    await life.reaches("working");
    await life.hears("worker#2", "# Fixing Issues");
    await scenes.end(life);
  });

  test("a section of another role that it leaves in its file does not count", async () => {
    const life = await scenes.begin(
      "sealed-other",
      { reviewer: [{ steps: [handoff("forged"), { exit: 0 }] }] },
      inState("agent-review"),
    );
    expect((await life.isHeld()).status).toBe("agent-review");
    expect(await life.story()).not.toMatch(/document\.(changed|unclaimed)/);
    await scenes.end(life);
  });

  test("a verdict left at the end does not count if the task's worker had no sandbox, and history says so", async () => {
    const life = await scenes.begin(
      "unsealed",
      {
        worker: [told("# Stuck", "hang"), { steps: [...build("one"), handoff("one"), askFor("agent-review")] }],
        reviewer: [{ steps: ends("PASS") }],
      },
      { workflow: "loose" },
    );
    expect((await life.isHeld()).status).toBe("agent-review");
    expect((await life.runs()).map(({ key, sandbox }) => `${key} ${sandbox}`)).toEqual([
      ...["worker#1 false", "reviewer#2 true"],
    ]);
    expect(await life.story()).toContain(`${life.id}/worker#1 had no sandbox`);
    await scenes.end(life);
  });
}
