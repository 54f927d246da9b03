import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import type { Life } from "./life.ts";
import {
  answers,
  builds,
  but,
  finds,
  good,
  hangs,
  packed,
  passes,
  says,
  specified,
  withQuickRetries,
} from "./pipeline-agents.ts";
import { everyMoveWasSeen, type How, openScenes, scenario } from "./scenes.ts";
import { type Behaviour, build, during, type Step } from "./steps.ts";

const scenes = await openScenes("pipeline", { change: withQuickRetries });
afterAll(scenes.close);
// Tea has no tests; milk has one workspace; in coffee, work with a file broken.md fails the tests.
await scenes.addProject("tea", 4);
await scenes.addProject("milk", 1);
writeFileSync(join(scenes.repository, "Makefile"), "test:\n\ttest ! -e broken.md\n");
scenes.git(scenes.repository, "add", "-A");
scenes.git(scenes.repository, "commit", "-qm", "tests");
scenes.git(scenes.repository, "push", "-q", "origin", "main");

const cold = { title: "It is cold", severity: "high", file: "cup.md", line: 3, evidence: "20 degrees" };
const small = { title: "It is small", severity: "medium", file: "pot.md", line: 1, evidence: "One cup fits" };

const quick: How = { flags: ["--preset", "quick-fix"] };
const full: How = { flags: ["--preset", "full-pipeline"] };
const set = (...settings: readonly string[]): How => ({
  flags: ["--preset", "quick-fix", ...settings.flatMap((setting) => ["--set", setting])],
});

/** The task is started, and a person continues it at the gates on its way. */
async function reaches(life: Life, status: string): Promise<void> {
  await life.does("spawn");
  if (["PR_HUMAN_REVIEW", "IMPLEMENT", "CONTEXT_PACK", "SPEC", "PR_REVIEW"].includes(status))
    return void (await life.reaches(status));
  await life.reaches("PR_HUMAN_REVIEW");
  if (status === "PR_HUMAN_REVIEW") return;
  await life.does("launch-fixer", "--yes");
  await life.reaches(status);
}

/** The names of its states, in the order in which it was in them. */
const stagesOf = async (life: Life) => {
  const moves = (await life.moves()).map((move) => move.split(" (")[0]?.split(" → ") ?? []);
  return [moves[0]?.[0], ...moves.map(([, to]) => to)].join(" ");
};

/** The commits of main, by their subjects. */
const merged = () => scenes.git(scenes.repository, "log", "--format=%s", "main");

const context = "BACKLOG TODO CONTEXT_PACK CONTEXT_REVIEW";
const rest = "IMPLEMENT PR_REVIEW PR_HUMAN_REVIEW TESTING DOC_REVIEW MERGE_READY DONE";

for (const [preset, stages] of [
  ["full-pipeline", `${context} SPEC SPEC_REVIEW ${rest}`],
  ["quick-fix", `${context} ${rest}`],
  ["docs-only", `${context} ${rest}`],
  ["security-critical", `${context} SPEC SPEC_REVIEW ${rest}`],
] as const)
  scenario(
    scenes,
    `MERGE_READY → DONE (engine rule 2): ${preset} goes through its stages, and without a forge the merge queue merges the work`,
    but({ implementer: [during("IMPLEMENT", ...build(`by ${preset}`)), passes] }),
    async (life) => {
      await reaches(life, "MERGE_READY");
      expect((await life.now()).needsPerson).toBe(true);
      expect(merged()).not.toContain(`by ${preset}`);
      await life.does("continue");
      await life.reaches("DONE");
      expect(await stagesOf(life)).toBe(stages);
      expect(merged()).toContain(`by ${preset}`);
      await life.gaveBack();
    },
    { flags: ["--preset", preset] },
  );

scenario(
  scenes,
  "BACKLOG → TODO (human rule 1): a task starts only in its first states, and is refused clearly elsewhere",
  but({ analyst: [hangs] }),
  async (life) => {
    expect((await life.reaches("BACKLOG")).needsPerson).toBe(true);
    await life.does("spawn");
    await life.reaches("CONTEXT_PACK");
    expect(await life.isRefused("spawn")).toContain('The task has already started: it is in "CONTEXT_PACK".');
  },
  quick,
);
scenario(
  scenes,
  "CONTEXT_PACK (evidence): an analyst that hands no document over is told once, then the task is held",
  but({ analyst: [says] }),
  async (life) => {
    await life.does("spawn");
    expect((await life.isHeld()).held).toMatchObject({
      ...{ word: "missing", reason: expect.stringContaining("No document was handed over") },
    });
    expect(await life.runs()).toHaveLength(2);
    await life.hears("analyst#2", "Hand it over with work_complete");
    scenes.teach(life.branch, but({ analyst: [packed, hangs] }));
    await life.does("clear-error");
    await life.reaches("CONTEXT_REVIEW");
  },
  quick,
);
scenario(
  scenes,
  "SPEC (evidence): a writer that hands no document over is told once, then the task is held",
  but({ writer: [says] }),
  async (life) => {
    await life.does("spawn");
    expect(await life.isHeld()).toMatchObject({ status: "SPEC", held: { word: "missing" } });
  },
  full,
);
scenario(
  scenes,
  "IMPLEMENT (evidence): an implementer that leaves no commit is told once, then the task is held, and nothing is pushed",
  but({ implementer: [says] }),
  async (life) => {
    await life.does("spawn");
    expect((await life.isHeld()).held).toMatchObject({
      word: "missing",
      reason: expect.stringContaining("no new commit"),
    });
    const implementers = (await life.runs()).filter(({ role }) => role === "implementer");
    expect(implementers).toHaveLength(2);
    expect((await life.heard(implementers[1]?.key ?? "")).join()).toContain("The branch has no new commit");
    expect(scenes.remoteBranches()).not.toContain(life.branch);
    expect((await life.now()).crashCount).toBe(0);
    scenes.teach(life.branch, good);
    await life.does("clear-error");
    await life.reaches("PR_HUMAN_REVIEW");
    expect(scenes.remoteBranches()).toContain(life.branch);
  },
  quick,
);
scenario(
  scenes,
  "IMPLEMENT (work): files that the implementer left uncommitted are committed, and count as its work",
  but({ implementer: [during("IMPLEMENT", { write: { file: "cup.md", text: "a cup\n" } }), passes] }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    const workspace = await life.hasWorkspace();
    expect(scenes.git(workspace, "show", "HEAD:cup.md")).toBe("a cup");
  },
  quick,
);
scenario(
  scenes,
  "FIXER (evidence): a fixer that leaves no commit is told once, then the task is held",
  but({ implementer: [builds, during("FIXER", { say: "No." }), passes], judge: [finds(cold)] }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    await life.does("findings", "approve", "F1");
    await life.does("launch-fixer");
    expect((await life.isHeld()).held?.word).toBe("missing");
    expect((await life.now()).status).toBe("FIXER");
  },
  quick,
);
scenario(
  scenes,
  "PR_HUMAN_REVIEW → FIXER (human rule 1): findings that nobody has decided about are named first; approved ones are fixed and judged again",
  but({
    judge: [
      { when: { run: 1 }, steps: [{ answer: { findings: [cold, small] } }] },
      answers({
        findings: [
          { id: "F1", state: "fixed" },
          { id: "F2", state: "dismissed", reason: "It is meant to be" },
        ],
      }),
    ],
  }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    const refusal = await life.isRefused("launch-fixer");
    expect(refusal).toContain("2 findings are undecided: F1 (high) It is cold; F2 (medium) It is small.");
    expect(refusal).toContain(`signalbox task findings ${life.id} approve F1`);
    await life.does("findings", "approve", "F1");
    await life.does("findings", "dismiss", "F2", "-m", "It is meant to be");
    await life.does("launch-fixer");
    await life.makes("FIXER → PR_REVIEW (engine rule 1)");
    await life.makes("PR_REVIEW → PR_HUMAN_REVIEW (engine rule 1)");
    await life.reaches("PR_HUMAN_REVIEW");
    const { findings } = await scenes.call(routes.listFindings, { params: { task: life.id } });
    expect(findings.map(({ id, state }) => `${id} ${state}`)).toEqual(["F1 fixed", "F2 dismissed"]);
    expect(scenes.git(scenes.origin, "log", "--format=%s", life.branch)).toContain("mended");
  },
  quick,
);
scenario(
  scenes,
  "PR_HUMAN_REVIEW → TESTING (human rule 2): a person may go on without deciding, and without the fixer",
  but({ judge: [finds(cold)], implementer: [builds, during("TESTING", "hang")] }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    expect((await life.now()).needsPerson).toBe(true);
    await life.isRefused("continue");
    await life.isRefused("approve");
    await life.does("continue", "--yes");
    await life.reaches("TESTING");
  },
  quick,
);
scenario(
  scenes,
  "SPEC_REVIEW → SPEC (engine rule 2): a specification is sent back three times, then a person looks",
  but({ analyst: [packed, during("SPEC_REVIEW", { answer: { outcome: "revise", reason: "Say more." } }), says] }),
  async (life) => {
    await life.does("spawn");
    expect((await life.isHeld()).status).toBe("SPEC_REVIEW");
    const back = (await life.moves()).filter((move) => move === "SPEC_REVIEW → SPEC (engine rule 2)");
    expect(back).toHaveLength(3);
    const specs = (await life.runs()).filter(({ role }) => role === "writer");
    expect((await life.heard(specs[1]?.key ?? "")).join()).toContain("Earlier feedback: Say more.");
  },
  full,
);

const breaks: readonly Step[] = [{ write: { file: "broken.md", text: "broken\n" } }, { commit: "broken" }];
const mends: readonly Step[] = [{ run: ["git", "rm", "-q", "broken.md"] }, { commit: "repaired" }];

scenario(
  scenes,
  "TESTING → IMPLEMENT (engine rule 3): failing tests send the work back, whatever the agent says, and the implementer sees them",
  but({
    implementer: [{ when: { status: "IMPLEMENT", run: 1 }, steps: breaks }, during("IMPLEMENT", ...mends), passes],
  }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    await life.does("continue");
    await life.makes("TESTING → IMPLEMENT (engine rule 3)");
    await life.makes("IMPLEMENT → PR_REVIEW (engine rule 1)");
    await life.reaches("PR_HUMAN_REVIEW");
    expect((await life.now()).counters).toEqual({ sent_back: 1 });
    expect((await life.now()).tested).toMatchObject({ word: "tests" });
  },
  quick,
);
scenario(
  scenes,
  "TESTING → IMPLEMENT (human asked): work that failed its tests four times is held; a person sends it back with a new count",
  but({
    implementer: [
      { when: { status: "IMPLEMENT" }, steps: [{ append: { file: "broken.md", text: "x\n" } }, { commit: "broken" }] },
      passes,
    ],
  }),
  async (life) => {
    await life.does("spawn");
    for (let i = 0; i < 4; i++) {
      await life.until(({ status }) => status === "PR_HUMAN_REVIEW");
      await life.does("continue");
      await life.until(({ status }) => status !== "PR_HUMAN_REVIEW");
    }
    expect((await life.isHeld()).held?.word).toBe("tests");
    expect((await life.now()).counters.sent_back).toBe(3);
    await life.does("request-changes", "-m", "Mend it.");
    expect((await life.now()).counters.sent_back).toBe(0);
  },
  quick,
);
scenario(
  scenes,
  "DOC_REVIEW → MERGE_READY (engine rule 1): a commit after the tests is tested again before the merge; one after the verdict is shown to the person",
  but({
    writer: [during("DOC_REVIEW", { write: { file: "{branch}-docs.md", text: "a guide\n" } })],
    implementer: [during("IMPLEMENT", ...build("documented")), passes],
  }),
  async (life) => {
    await reaches(life, "MERGE_READY");
    const before = await life.now();
    const workspace = await life.hasWorkspace();
    const head = scenes.git(workspace, "rev-parse", "HEAD");
    expect(before.tested).toMatchObject({ word: "ok" });
    expect(before.tested?.commit).not.toBe(head);
    const explained = (await scenes.signalbox("task", "explain", life.id)).stdout;
    expect(explained).toContain("Nobody has reviewed the difference.");
    expect(explained).toContain(`The last tests ran on ${before.tested?.commit.slice(0, 10)}`);
    expect(await life.isRefused("continue")).toContain("with 1 commit more");
    await life.does("diff", "--since-review");
    await life.does("continue");
    await life.reaches("DONE");
    expect((await life.now()).tested).toEqual({ commit: head, word: "ok" });
    expect(merged()).toContain("documented");
  },
  quick,
);
scenario(
  scenes,
  "MERGE_READY → PR_REVIEW (engine rule 1): with auto_merge, commits since the verdict are reviewed once more, then a person looks",
  but({ writer: [during("DOC_REVIEW", { append: { file: "{branch}-docs.md", text: "more\n" } })] }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    await life.does("continue");
    await life.makes("MERGE_READY → PR_REVIEW (engine rule 1)");
    await life.until(({ status }) => status === "PR_HUMAN_REVIEW");
    await life.does("continue");
    const { status, held } = await life.isHeld();
    expect([status, held?.word]).toEqual(["MERGE_READY", "unreviewed"]);
    await life.does("diff", "--since-review");
    await life.does("clear-error");
    await life.reaches("DONE");
  },
  set("auto_merge=true"),
);
scenario(
  scenes,
  "MERGE_READY → DONE (engine rule 2): with auto_merge, reviewed work is merged without a person",
  but({ implementer: [during("IMPLEMENT", ...build("by itself")), passes] }),
  async (life) => {
    await reaches(life, "PR_HUMAN_REVIEW");
    await life.does("continue");
    await life.reaches("DONE");
    expect(merged()).toContain("by itself");
  },
  set("auto_merge=true"),
);
scenario(
  scenes,
  "MERGE_READY → IMPLEMENT (human asked): a person sends the work back from the last gate",
  but({
    implementer: [
      { when: { status: "IMPLEMENT", run: 1 }, steps: build("one") },
      { when: { status: "IMPLEMENT" }, steps: ["hang"] },
      passes,
    ],
  }),
  async (life) => {
    await reaches(life, "MERGE_READY");
    await life.does("request-changes", "-m", "The cup is too small.");
    await life.reaches("IMPLEMENT");
  },
  quick,
);

for (const [kind, tries] of [
  ["server", 3],
  ["timeout", 3],
  ["authentication", 1],
  ["refusal", 1],
  ["budget", 1],
] as const)
  scenario(
    scenes,
    `CONTEXT_PACK (retry): ${kind} is tried ${tries === 1 ? "once" : "three times"}, then the breaker is open until a person clears it`,
    but({ analyst: [{ steps: [{ error: { kind, message: `It says ${kind}.` } }] }] }),
    async (life) => {
      await life.does("spawn");
      expect((await life.isHeld()).status).toBe("CONTEXT_PACK");
      expect(await life.runs()).toHaveLength(tries);
      scenes.teach(life.branch, but({ analyst: [hangs] }));
      await life.does("clear-error");
      await life.reaches("CONTEXT_PACK");
    },
    quick,
  );

const stuck: Readonly<Record<string, Behaviour>> = {
  BACKLOG: good,
  CONTEXT_PACK: but({ analyst: [hangs] }),
  CONTEXT_REVIEW: but({ analyst: [packed, during("CONTEXT_REVIEW", "hang"), says] }),
  SPEC: but({ writer: [hangs] }),
  SPEC_REVIEW: but({ analyst: [packed, during("SPEC_REVIEW", "hang"), says] }),
  IMPLEMENT: but({ implementer: [hangs] }),
  PR_REVIEW: but({ scout: [hangs] }),
  PR_HUMAN_REVIEW: good,
  FIXER: but({ implementer: [builds, during("FIXER", "hang"), passes], judge: [finds(cold)] }),
  TESTING: but({ implementer: [builds, during("TESTING", "hang")] }),
  DOC_REVIEW: but({ writer: [specified, during("DOC_REVIEW", "hang")] }),
  MERGE_READY: good,
};

for (const [status, part] of Object.entries(stuck))
  scenario(
    scenes,
    `${status} → CANCELLED (human asked): its agents end, and its workspace is released`,
    part,
    async (life) => {
      if (status !== "BACKLOG") await life.does("spawn");
      if (["FIXER", "TESTING", "DOC_REVIEW", "MERGE_READY"].includes(status)) {
        await life.reaches("PR_HUMAN_REVIEW");
        if (status === "FIXER") await life.does("findings", "approve", "F1");
        await life.does("continue");
      }
      await life.reaches(status);
      await life.does("cancel");
      await life.reaches("CANCELLED");
      await life.endedFirst();
    },
    full,
  );

scenario(
  scenes,
  "TODO → CANCELLED (human asked): a task that waits for a slot is cancelled before anything was started for it",
  good,
  async (life) => {
    const inMilk: How = { flags: ["--preset", "quick-fix", "--project", "milk"] };
    const first = await scenes.begin("has-the-only-slot", but({ analyst: [hangs] }), inMilk);
    await first.does("spawn");
    await first.reaches("CONTEXT_PACK");
    await life.does("spawn");
    await life.reaches("TODO");
    expect((await life.now()).workspace).toBe("");
    await life.does("cancel");
    await life.reaches("CANCELLED");
    await first.does("cancel");
    await first.endedFirst();
    expect(await life.runs()).toEqual([]);
    expect(await stagesOf(life)).toBe("BACKLOG TODO CANCELLED");
    await scenes.end(first);
  },
  { flags: ["--preset", "quick-fix", "--project", "milk"] },
);
scenario(
  scenes,
  "TESTING → DOC_REVIEW (engine rule 2): without a test command the agent's claim counts, and is marked as one",
  good,
  async (life) => {
    await reaches(life, "MERGE_READY");
    expect((await life.now()).tested?.word).toBe("untested");
    await life.does("continue");
    await life.reaches("DONE");
  },
  { flags: ["--preset", "quick-fix", "--project", "tea"] },
);

everyMoveWasSeen(scenes);
