import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { answers, but, hangs, passes, specified, withQuickRetries } from "./pipeline-agents.ts";
import { type How, openScenes, scenario } from "./scenes.ts";
import { build, during, untilGo } from "./steps.ts";

// What only real programs, git, terminals and the command line can show. The moves are in pipeline-moves.test.ts.
const scenes = await openScenes("pipeline", { change: withQuickRetries });
afterAll(scenes.close);
writeFileSync(join(scenes.repository, "Makefile"), "test:\n\ttest ! -e broken.md || test -e local.ok\n");
scenes.git(scenes.repository, "add", "-A");
scenes.git(scenes.repository, "commit", "-qm", "tests");
scenes.git(scenes.repository, "push", "-q", "origin", "main");

const cold = { title: "It is cold", severity: "high", file: "cup.md", line: 3, evidence: "20 degrees" };
const small = { title: "It is small", severity: "medium", file: "pot.md", line: 1, evidence: "One cup fits" };
const quick: How = { flags: ["--preset", "quick-fix"] };

/** The commits of main, by their subjects. */
const merged = () => scenes.git(scenes.repository, "log", "--format=%s", "main");

scenario(
  scenes,
  "MERGE_READY → DONE (engine rule 2): full-pipeline, from documents that are handed over to the merge without a forge; a commit after the verdict is shown to the person, and tested",
  but({
    writer: [specified, during("DOC_REVIEW", { write: { file: "guide.md", text: "a guide\n" } })],
    implementer: [during("IMPLEMENT", ...build("by full-pipeline")), passes],
  }),
  async (life) => {
    await life.does("spawn");
    await life.reaches("PR_HUMAN_REVIEW");
    expect(scenes.remoteBranches()).toContain(life.branch);
    await life.does("launch-fixer");
    const { needsPerson, tested } = await life.reaches("MERGE_READY");
    const workspace = await life.hasWorkspace();
    const head = scenes.git(workspace, "rev-parse", "HEAD");
    expect(needsPerson).toBe(true);
    expect(scenes.git(workspace, "show", "HEAD:guide.md")).toBe("a guide");
    expect(tested).toMatchObject({ word: "ok" });
    expect(tested?.commit).not.toBe(head);
    const explained = (await scenes.signalbox("task", "explain", life.id)).stdout;
    expect(explained).toContain("Nobody has reviewed the difference.");
    expect(explained).toContain(`The last tests ran on ${tested?.commit.slice(0, 10)}`);
    expect(await life.isRefused("continue")).toContain("with 1 commit more");
    expect(merged()).not.toContain("by full-pipeline");
    expect(await life.does("diff", "--since-review")).toContain("guide.md");
    await life.does("continue");
    await life.reaches("DONE");
    expect((await life.now()).tested).toEqual({ commit: head, word: "ok" });
    expect(merged()).toContain("by full-pipeline");
    const moves = (await life.moves()).map((move) => move.split(" (")[0]?.split(" → ")[1]);
    expect(moves.join(" ")).toBe(
      "TODO CONTEXT_PACK CONTEXT_REVIEW SPEC SPEC_REVIEW IMPLEMENT PR_REVIEW PR_HUMAN_REVIEW TESTING DOC_REVIEW MERGE_READY DONE",
    );
    await life.gaveBack();
  },
  { flags: ["--preset", "full-pipeline"] },
);
scenario(
  scenes,
  "tests that pass because of a file that git ignores count as failed, and name the file",
  but({
    implementer: [
      during(
        "IMPLEMENT",
        { write: { file: ".gitignore", text: "local.ok\nnode_modules\n" } },
        { write: { file: "broken.md", text: "x\n" } },
        { write: { file: "local.ok", text: "x\n" } },
        { write: { file: "node_modules/dependency.js", text: "x\n" } },
        { commit: "broken" },
      ),
      passes,
    ],
  }),
  async (life) => {
    await life.does("spawn");
    await life.reaches("PR_HUMAN_REVIEW");
    await life.does("continue");
    await life.until(({ tested, status }) => tested?.word === "tests" || status === "MERGE_READY");
    const sentence =
      /The tests pass in the workspace, which has files that the commit \w{10} does not have: local\.ok\. /;
    // It is written with the state's decision, a moment after the result of the tests.
    await life.soon(async () => sentence.exec(await life.story()) ?? undefined, life.story);
    expect((await life.now()).status).not.toBe("MERGE_READY");
  },
  quick,
);
scenario(
  scenes,
  "PR_HUMAN_REVIEW → FIXER (human rule 1): findings are decided, and a setting is changed, over the command line; then the work is merged without a person",
  but({
    judge: [
      { when: { run: 1 }, steps: [{ answer: { findings: [cold, small] } }] },
      answers({ findings: [{ id: "F1", state: "fixed" }] }),
    ],
  }),
  async (life) => {
    await life.does("spawn");
    await life.reaches("PR_HUMAN_REVIEW");
    const refusal = await life.isRefused("launch-fixer");
    expect(refusal).toContain("2 findings are undecided: F1 (high) It is cold; F2 (medium) It is small.");
    expect(refusal).toContain(`signalbox task findings ${life.id} approve F1`);
    await life.does("findings", "approve", "F1");
    await life.does("findings", "dismiss", "F2", "-m", "It is meant to be");
    await life.does("launch-fixer");
    await life.makes("FIXER → PR_REVIEW (engine rule 2)");
    await life.reaches("PR_HUMAN_REVIEW");
    const { findings } = await scenes.call(routes.listFindings, { params: { task: life.id } });
    expect(findings.map(({ id, state }) => `${id} ${state}`)).toEqual(["F1 fixed", "F2 dismissed"]);
    expect(scenes.git(scenes.origin, "log", "--format=%s", life.branch)).toContain("mended");
    await life.does("update", "--set", "auto_merge=true");
    await life.does("continue");
    await life.reaches("DONE");
    expect(merged()).toContain("mended");
  },
  quick,
);
scenario(
  scenes,
  "CONTEXT_PACK (retry): an error of the model's server is tried three times, then the task is held until a person clears it",
  but({ analyst: [{ steps: [{ error: { kind: "server", message: "It says server." } }] }] }),
  async (life) => {
    await life.does("spawn");
    expect((await life.isHeld()).status).toBe("CONTEXT_PACK");
    expect(await life.runs()).toHaveLength(3);
    scenes.teach(life.branch, but({ analyst: [hangs] }));
    await life.does("clear-error");
    await life.reaches("CONTEXT_PACK");
  },
  quick,
);
test("a daemon that is killed while the implementer works finds it again, and the task goes on; cancelling it ends the scout with its processes, and releases the workspace", async () => {
  const steps = [untilGo, ...build("after the crash")];
  const agents = but({ implementer: [during("IMPLEMENT", ...steps)], scout: [hangs] });
  const life = await scenes.begin("crashed", agents, quick);
  await life.does("spawn");
  await life.reaches("IMPLEMENT");
  const works = () => life.soon(async () => ((await life.alive()).length > 0 ? life.alive() : undefined));
  const alive = await works();
  await scenes.killDaemon();
  expect(await scenes.isListening()).toBe(false);
  await scenes.restart();
  expect(await life.alive()).toEqual(alive);
  life.go();
  await life.reaches("PR_REVIEW");
  expect((await life.runs()).filter(({ role }) => role === "implementer")).toHaveLength(1);
  expect(scenes.git(await life.hasWorkspace(), "log", "-1", "--format=%s")).toBe("after the crash");
  await works();
  await life.does("cancel");
  await life.reaches("CANCELLED");
  await life.endedFirst();
  await scenes.end(life);
});
