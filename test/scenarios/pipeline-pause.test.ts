import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { but, withQuickRetries } from "./pipeline-agents.ts";
import { openScenes, scenario } from "./scenes.ts";

// The project's tests wait for the person, so that the pause begins while the result of the merge is tested.
const scenes = await openScenes("pipeline", { change: withQuickRetries, config: "test_merges: true\n" });
afterAll(scenes.close);
const began = join(scenes.base, "merge-tests-began");
const ended = join(scenes.base, "merge-tests-may-end");
const inMerge = `case "$$PWD" in */.merging/*) touch ${began}; until [ -e ${ended} ]; do sleep 0.1; done;; esac`;
writeFileSync(join(scenes.repository, "Makefile"), `test:\n\t${inMerge}\n`);
scenes.git(scenes.repository, "add", "-A");
scenes.git(scenes.repository, "commit", "-qm", "tests");
scenes.git(scenes.repository, "push", "-q", "origin", "main");

const tip = () => scenes.git(scenes.repository, "rev-parse", "main");
const entries = async () =>
  (await scenes.call(routes.listMerges, { query: {} })).queues.flatMap((queue) => queue.entries);

scenario(
  scenes,
  "a pause stops a workflow's merge that a person began, while its tests run; it is merged once the project is resumed",
  but({}),
  async (life) => {
    await life.does("spawn");
    await life.reaches("PR_HUMAN_REVIEW");
    await life.does("continue");
    await life.reaches("MERGE_READY");
    const before = tip();
    await life.does("continue");
    await expect.poll(() => existsSync(began), { timeout: 120_000 }).toBe(true);
    expect((await scenes.signalbox("task", "merge", life.id, "--cancel")).stderr).toContain("signalbox pause");
    const paused = await scenes.signalbox("pause", "--project", "coffee");
    expect(paused).toMatchObject({ code: 0, stderr: expect.not.stringContaining("The merge of") });
    writeFileSync(ended, "");
    await expect
      .poll(async () => ((await life.now()).status === "DONE" ? "merged" : (await entries())[0]?.state), {
        timeout: 60_000,
      })
      .toBe("paused");
    expect(tip()).toBe(before);
    expect(await scenes.signalbox("resume", "--project", "coffee")).toMatchObject({ code: 0 });
    await life.reaches("DONE");
    expect(tip()).not.toBe(before);
  },
  { flags: ["--preset", "quick-fix"] },
);
