import { expect } from "vitest";
import { everyMoveWasMade, finds, hands, type Life, type Scene, scenario } from "./pipeline/stage.ts";
import { hangs, type Turn } from "./simulated-stage.ts";

const cold = { title: "It is cold", severity: "high", file: "cup.md", line: 3, evidence: "20 degrees" };
const small = { title: "It is small", severity: "medium", file: "pot.md", line: 1, evidence: "One cup fits" };
const silent: readonly Turn[] = [{}];
const broken = ({ files }: { readonly files: ReadonlyMap<string, string> }) => !files.has("broken.md");

/** The task is started, and a person continues it at the gate on its way. */
async function comesTo(life: Life, status: string) {
  await life.spawn();
  await life.reaches("PR_HUMAN_REVIEW");
  await life.goOn();
  return life.reaches(status);
}

const context = "BACKLOG TODO CONTEXT_PACK CONTEXT_REVIEW";
const rest = "IMPLEMENT PR_REVIEW PR_HUMAN_REVIEW TESTING DOC_REVIEW MERGE_READY DONE";

for (const [preset, stages] of [
  ["full-pipeline", `${context} SPEC SPEC_REVIEW ${rest}`],
  ["quick-fix", `${context} ${rest}`],
  ["docs-only", `${context} ${rest}`],
  ["security-critical", `${context} SPEC SPEC_REVIEW ${rest}`],
] as const)
  scenario(
    `MERGE_READY → DONE (engine rule 2): ${preset} goes through its stages, and without a forge the merge queue merges the work`,
    { preset },
    async (life) => {
      await comesTo(life, "MERGE_READY");
      expect(await life.calls()).toEqual(["Merge"]);
      expect(life.merged()).not.toContain("IMPLEMENT.md");
      await life.goOn();
      await life.ends("DONE");
      expect(await life.stages()).toBe(stages);
      expect(life.merged()).toContain("IMPLEMENT.md");
      expect(await life.hasFreed()).toBe(true);
    },
  );
scenario(
  "BACKLOG → TODO (human rule 1): a task starts only in its first states, and is refused clearly elsewhere",
  { turns: { CONTEXT_PACK: hangs } },
  async (life) => {
    await life.passes(60_000);
    expect((await life.reaches("BACKLOG")).runs).toEqual({});
    expect(await life.calls()).not.toEqual([]);
    await life.spawn();
    await life.reaches("CONTEXT_PACK");
    expect(await life.isRefused("spawnTask")).toContain('The task has already started: it is in "CONTEXT_PACK".');
  },
);
scenario(
  "TODO → CONTEXT_PACK (engine rule 1): the task has a workspace, on a branch that is named after the issue",
  { turns: { CONTEXT_PACK: hangs } },
  async (life) => {
    let before: string | undefined;
    life.interrupt("CONTEXT_PACK", async ({ workspace }) => {
      before = workspace;
    });
    await life.spawn();
    const { branch, workspace } = await life.reaches("CONTEXT_PACK");
    expect(before).toBe(workspace);
    expect(branch).toMatch(/^\w+\/brew-a-cup$/);
    expect((await life.folder()).branch).toBe(branch);
  },
);
scenario(
  "CONTEXT_PACK (evidence): an analyst that hands no document over is told once, then the task is held",
  { turns: { CONTEXT_PACK: silent } },
  async (life) => {
    await life.spawn();
    expect((await life.isHeld()).held).toMatchObject({
      ...{ word: "missing", reason: expect.stringContaining("No document was handed over") },
    });
    const [, second, ...more] = life.heard("analyst");
    expect(more).toEqual([]);
    expect(second).toContain("Hand it over with work_complete");
    life.teach({ CONTEXT_PACK: [hands], CONTEXT_REVIEW: hangs });
    await life.goOn();
    await life.reaches("CONTEXT_REVIEW");
  },
);
scenario(
  "SPEC (evidence): a writer that hands no document over is told once, then the task is held",
  { preset: "full-pipeline", turns: { SPEC: silent } },
  async (life) => {
    await life.spawn();
    expect(await life.isHeld()).toMatchObject({ status: "SPEC", held: { word: "missing" } });
    expect(life.runs("writer")).toHaveLength(2);
  },
);
scenario(
  "SPEC → SPEC_REVIEW (engine rule 1): what the writer left uncommitted is committed, and is no evidence of the implementer's",
  { preset: "full-pipeline", turns: { SPEC: [{ ...hands, leaves: { "spec.md": "a cup" } }], IMPLEMENT: silent } },
  async (life) => {
    await life.spawn();
    expect(await life.isHeld()).toMatchObject({ status: "IMPLEMENT", held: { word: "missing" } });
    expect(await life.committed()).toContain("spec.md");
  },
);
scenario(
  "IMPLEMENT (evidence): an implementer that leaves no commit is told once, then the task is held, and nothing is pushed",
  { hasForge: true, turns: { IMPLEMENT: silent } },
  async (life) => {
    await life.spawn();
    const { held, crashCount } = await life.isHeld();
    expect(held).toMatchObject({ word: "missing", reason: expect.stringContaining("no new commit") });
    expect(crashCount).toBe(0);
    const [, second, ...more] = life.heard("implementer");
    expect(more).toEqual([]);
    expect(second).toContain("The branch has no new commit");
    expect(await life.pushed()).toEqual([]);
    life.teach({ IMPLEMENT: [{ writes: { "cup.md": "a cup" } }] });
    await life.goOn();
    await life.reaches("PR_HUMAN_REVIEW");
    expect(await life.pushed()).toContain("cup.md");
  },
);
scenario(
  "IMPLEMENT (evidence): an implementer that leaves files behind which still change is told once, then the task is held",
  { litter: "log.md", turns: { IMPLEMENT: [{ leaves: { "cup.md": "a cup" } }] } },
  async (life) => {
    await life.spawn();
    expect(await life.isHeld()).toMatchObject({ status: "IMPLEMENT", held: { word: "missing" } });
  },
);
scenario(
  "IMPLEMENT → PR_REVIEW (engine rule 1): files that the implementer left uncommitted are committed, and count as its work",
  { turns: { IMPLEMENT: [{ leaves: { "cup.md": "a cup" } }] } },
  async (life) => {
    await life.spawn();
    await life.reaches("PR_HUMAN_REVIEW");
    expect(await life.committed()).toContain("cup.md");
    expect(life.runs("implementer")).toHaveLength(1);
  },
);
scenario(
  "IMPLEMENT → PR_REVIEW (engine rule 1): the work is pushed, and its pull request is open before the scouts begin",
  { hasForge: true, turns: { scout: hangs } },
  async (life) => {
    await life.spawn();
    await life.works(await life.reaches("PR_REVIEW"));
    expect(await life.pushed()).toContain("IMPLEMENT.md");
    expect(life.pull()).toMatchObject({ state: "open", comments: [] });
  },
);
scenario(
  "IMPLEMENT → PR_REVIEW (engine rule 1): the work is on the remote, even if the forge does not answer when its pull request is to be opened",
  { hasForge: true, breaks: { findPullRequest: "PR_REVIEW" } },
  async (life) => {
    await life.spawn();
    expect((await life.isHeld()).held?.reason).toContain("findPullRequest is broken");
    expect(await life.pushed()).toContain("IMPLEMENT.md");
  },
);
scenario(
  "PR_REVIEW → PR_HUMAN_REVIEW (engine rule 1): the pull request gets what the judge has found, and the person is called",
  { hasForge: true, turns: { scout: [finds(cold, small)], judge: [finds(cold)] } },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    expect(life.heard("judge")[0]).toMatch(/It is cold[\s\S]*It is small/);
    expect(life.pull().comments.map(({ text }) => text)).toEqual([expect.stringContaining("F1 **high** It is cold")]);
    expect(await life.calls()).not.toEqual([]);
  },
);
scenario(
  "FIXER (evidence): a fixer that leaves no commit is told once, then the task is held",
  { turns: { judge: [finds(cold)], FIXER: silent } },
  async (life) => {
    await fixes(life);
    expect(await life.isHeld()).toMatchObject({ status: "FIXER", held: { word: "missing" } });
  },
);
scenario(
  "FIXER (evidence): a fixer that leaves files behind which still change is told once, then the task is held",
  {
    litter: "log.md",
    turns: { judge: [finds(cold)], FIXER: [{ leaves: { "cup.md": "a warm cup" } }] },
  },
  async (life) => {
    await fixes(life);
    expect(await life.isHeld()).toMatchObject({ status: "FIXER", held: { word: "missing" } });
  },
);
scenario(
  "FIXER → PR_REVIEW (engine rule 2): files that the fixer left uncommitted are committed, and pushed before the review",
  {
    hasForge: true,
    turns: { scout: [finds(), { hangs: true }], judge: [finds(cold)], FIXER: [{ leaves: { "cup.md": "a warm cup" } }] },
  },
  async (life) => {
    await fixes(life);
    await life.works(await life.reaches("PR_REVIEW"));
    expect(await life.pushed()).toContain("cup.md");
    expect(life.runs("implementer")).toHaveLength(2);
  },
);
scenario(
  "FIXER → PR_HUMAN_REVIEW (engine rule 1): a fixer that leaves no commit, because the person has dismissed the finding meanwhile, does not hold the task",
  { turns: { judge: [finds(cold)], FIXER: silent } },
  async (life) => {
    const body = { findings: ["F1"], state: "dismissed", reason: "It is meant to be" };
    life.interrupt("FIXER", () => life.request("decideFindings", life.id, body));
    await fixes(life);
    await life.reaches("PR_HUMAN_REVIEW");
    expect(life.runs("implementer")).toHaveLength(3);
  },
);
scenario(
  "FIXER → PR_HUMAN_REVIEW (human asked): a person takes the task back from a fixer that has nothing to fix",
  { turns: { judge: [finds(cold)], FIXER: hangs } },
  async (life) => {
    await fixes(life);
    await life.works(await life.reaches("FIXER"));
    await life.does("moveTask", { to: "PR_HUMAN_REVIEW" });
    await life.reaches("PR_HUMAN_REVIEW");
    expect((await life.now()).runs).toEqual({});
  },
);
scenario(
  "FIXER → PR_HUMAN_REVIEW (human rule 1): of a task that is held without a fix, the person dismisses the finding and continues",
  { turns: { judge: [finds(cold)], FIXER: silent } },
  async (life) => {
    await fixes(life);
    expect(await life.isHeld()).toMatchObject({ status: "FIXER", held: { word: "missing" } });
    await life.decide("dismissed", "F1");
    await life.goOn();
    await life.reaches("PR_HUMAN_REVIEW");
    expect(life.runs("implementer")).toHaveLength(3);
  },
);
scenario(
  "PR_HUMAN_REVIEW → FIXER (human rule 1): findings that nobody has decided about are named first; approved ones are fixed and judged again",
  {
    turns: {
      judge: [
        finds(cold, small),
        finds({ id: "F1", state: "fixed" }, { id: "F2", state: "dismissed", reason: "It is meant to be" }),
      ],
    },
  },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    const refusal = await life.isRefused("continueTask");
    expect(refusal).toContain("2 findings are undecided: F1 (high) It is cold; F2 (medium) It is small.");
    expect(refusal).toContain(`signalbox task findings ${life.id} approve F1`);
    await life.decide("approved", "F1");
    await life.decide("dismissed", "F2");
    await life.goOn();
    const { ledger } = await life.isReviewed(2);
    expect(ledger?.findings.map(({ id, state }) => `${id} ${state}`)).toEqual(["F1 fixed", "F2 dismissed"]);
    expect(life.heard("implementer")[1]).toMatch(/F1[\s\S]*It is cold/);
    expect(life.heard("implementer")[1]).not.toContain("F2");
    expect(await life.committed()).toContain("FIXER.md");
  },
);
scenario(
  "PR_HUMAN_REVIEW → TESTING (human rule 2): a person may go on without deciding, and without the fixer",
  { turns: { judge: [finds(cold)], TESTING: hangs } },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    expect(await life.calls()).not.toEqual([]);
    await life.isRefused("continueTask");
    await life.isRefused("approveTask");
    await life.goOn({ unanswered: true });
    await life.reaches("TESTING");
  },
);
scenario(
  "SPEC_REVIEW → SPEC (engine rule 2): a specification is sent back three times, then a person looks",
  { preset: "full-pipeline", turns: { SPEC_REVIEW: [{ answer: { outcome: "revise", reason: "Say more." } }] } },
  async (life) => {
    await life.spawn();
    expect((await life.isHeld()).status).toBe("SPEC_REVIEW");
    expect((await life.stages()).match(/SPEC_REVIEW SPEC\b/g)).toHaveLength(3);
    expect(life.heard("writer")[1]).toContain("Earlier feedback: Say more.");
  },
);
for (const to of ["IMPLEMENT", "SPEC"])
  scenario(
    `SPEC_REVIEW → ${to} (human asked): of a specification that was sent back three times, a person decides where it goes`,
    { preset: "full-pipeline", turns: { SPEC_REVIEW: [{ answer: { outcome: "revise", reason: "Say more." } }] } },
    async (life) => {
      await life.spawn();
      await life.isHeld();
      life.teach({ [to]: hangs });
      await life.does("moveTask", { to });
      expect((await life.reaches(to)).held).toBeUndefined();
    },
  );
scenario(
  "TESTING → IMPLEMENT (engine rule 3): failing tests send the work back, whatever the agent says, and the implementer sees them",
  { tests: broken, turns: { IMPLEMENT: [{ writes: { "broken.md": "broken" } }, { deletes: ["broken.md"] }] } },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    await life.goOn();
    const { counters, tested } = await life.isReviewed(2);
    expect(counters).toEqual({ sent_back: 1 });
    expect(tested).toMatchObject({ word: "tests" });
    expect(life.heard("implementer").at(-1)).toMatch(/Failing tests: .*1 failed/s);
  },
);
scenario(
  "TESTING → IMPLEMENT (engine rule 3): without a test command an agent that says no sends the work back",
  { hasTests: false, turns: { TESTING: [{ answer: { passed: false } }, { answer: { passed: true } }] } },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    await life.goOn();
    expect((await life.isReviewed(2)).counters).toEqual({ sent_back: 1 });
  },
);
scenario(
  "TESTING → IMPLEMENT (human asked): work that failed its tests four times is held; a person sends it back with a new count",
  { tests: () => false },
  async (life) => {
    await life.spawn();
    for (const round of [1, 2, 3, 4]) {
      await life.isReviewed(round);
      await life.goOn();
    }
    const { held, counters } = await life.isHeld();
    expect(held?.word).toBe("tests");
    expect(counters.sent_back).toBe(3);
    await life.does("requestChanges", { text: "Mend it." });
    expect((await life.now()).counters.sent_back).toBe(0);
  },
);
scenario(
  "TESTING → DOC_REVIEW (engine rule 1): what the tester left uncommitted is committed before the tests run",
  { turns: { TESTING: [{ leaves: { "cup.test.md": "is it warm?" }, answer: { passed: true } }], DOC_REVIEW: hangs } },
  async (life) => {
    const { tested } = await comesTo(life, "DOC_REVIEW");
    expect(await life.committed()).toContain("cup.test.md");
    expect(tested).toEqual({ word: "ok", commit: await life.head() });
  },
);
scenario(
  "TESTING → DOC_REVIEW (engine rule 2): without a test command the agent's claim counts, and is marked as one",
  { hasTests: false },
  async (life) => {
    expect((await comesTo(life, "MERGE_READY")).tested?.word).toBe("untested");
    await life.goOn();
    await life.ends("DONE");
  },
);
scenario(
  "DOC_REVIEW → MERGE_READY (engine rule 1): a commit after the tests is tested again before the merge; one after the verdict is shown to the person",
  { hasForge: true, turns: { DOC_REVIEW: [{ leaves: { "guide.md": "a guide" } }] } },
  async (life) => {
    const { tested } = await comesTo(life, "MERGE_READY");
    const head = await life.head();
    expect(await life.committed()).toContain("guide.md");
    expect(await life.pushed()).toContain("guide.md");
    expect(tested).toMatchObject({ word: "ok" });
    expect(tested?.commit).not.toBe(head);
    const explained = JSON.stringify(await life.does("explainTask"));
    expect(explained).toContain("Nobody has reviewed the difference.");
    expect(explained).toContain(`The last tests ran on ${tested?.commit.slice(0, 10)}`);
    expect(await life.isRefused("continueTask")).toContain("with 1 commit more");
    await life.does("diffTask");
    await life.goOn();
    expect((await life.ends("DONE")).tested).toEqual({ commit: head, word: "ok" });
    expect(life.merged()).toContain("guide.md");
  },
);
scenario(
  "MERGE_READY → DONE (engine rule 2): what the person has committed at the last gate is pushed, tested and merged",
  { hasForge: true },
  async (life) => {
    const { workspace } = await comesTo(life, "MERGE_READY");
    life.write(workspace, { "sugar.md": "two spoons" });
    await life.does("diffTask");
    await life.goOn();
    await life.ends("DONE");
    expect(life.merged()).toContain("sugar.md");
    expect(life.tested.filter((status) => status === "MERGE_READY")).toHaveLength(1);
  },
);
scenario(
  "MERGE_READY → DONE (engine rule 2): a free workspace follows the default branch, and the ticket is closed",
  { ticket: "brew" },
  async (life) => {
    const second = await life.create();
    await comesTo(life, "MERGE_READY");
    await life.ask("spawnTask", second);
    const { workspace } = await life.comesTo(second, "CONTEXT_PACK");
    await life.ask("cancelTask", second);
    await life.endsIn(second, "CANCELLED");
    await life.passes(60_000);
    const { repositories, tickets } = life.world;
    const free = () => repositories.folders.get(workspace)?.parkedAt;
    expect(free()).toBe(repositories.branches.get("main"));
    await life.goOn();
    await life.ends("DONE");
    await life.passes(60_000);
    expect(life.merged()).toContain("IMPLEMENT.md");
    expect(free()).toBe(repositories.branches.get("main"));
    expect((await tickets.get("brew"))?.status).toBe("closed");
  },
);
scenario(
  "MERGE_READY → PR_REVIEW (engine rule 1): with auto_merge, commits since the verdict are reviewed once more, then a person looks",
  {
    settings: { auto_merge: true },
    turns: { DOC_REVIEW: [{ leaves: { "guide.md": "one" } }, { leaves: { "guide.md": "two" } }] },
  },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    await life.goOn();
    await life.isReviewed(2);
    await life.goOn();
    expect(await life.isHeld()).toMatchObject({ status: "MERGE_READY", held: { word: "unreviewed" } });
    await life.does("diffTask");
    await life.goOn();
    await life.ends("DONE");
  },
);
scenario(
  "MERGE_READY → PR_REVIEW (engine rule 1): with auto_merge, a finding that a person approves after the gate is fixed before the merge",
  {
    settings: { auto_merge: true },
    turns: { judge: [finds(cold), finds({ id: "F1", state: "open" }), finds({ id: "F1", state: "fixed" })] },
  },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    await life.goOn({ unanswered: true });
    await life.decide("approved", "F1");
    await life.isReviewed(2);
    await life.goOn();
    await life.isReviewed(3);
    await life.goOn();
    await life.ends("DONE");
    expect(life.merged()).toContain("FIXER.md");
  },
);
scenario(
  "MERGE_READY → DONE (engine rule 2): with auto_merge, reviewed work is merged without a person",
  { settings: { auto_merge: true } },
  async (life) => {
    await comesTo(life, "DONE");
    expect(life.merged()).toContain("IMPLEMENT.md");
  },
);
scenario(
  "MERGE_READY → IMPLEMENT (human asked): a person sends the work back from the last gate, with a new count",
  {
    tests: broken,
    turns: {
      IMPLEMENT: [{ writes: { "broken.md": "broken" } }, { deletes: ["broken.md"] }, { hangs: true }],
    },
  },
  async (life) => {
    await life.spawn();
    await life.isReviewed(1);
    await life.goOn();
    await life.isReviewed(2);
    await life.goOn();
    expect((await life.reaches("MERGE_READY")).counters).toEqual({ sent_back: 1 });
    await life.does("requestChanges", { text: "The cup is too small." });
    expect((await life.reaches("IMPLEMENT")).counters).toEqual({ sent_back: 0 });
  },
);

for (const [kind, tries] of [
  ["server", 3],
  ["timeout", 3],
  ["authentication", 1],
  ["refusal", 1],
  ["budget", 1],
] as const)
  scenario(
    `CONTEXT_PACK (retry): ${kind} is tried ${tries === 1 ? "once" : "three times"}, then the breaker is open until a person clears it`,
    { turns: { CONTEXT_PACK: [{ error: kind }] } },
    async (life) => {
      await life.spawn();
      expect((await life.isHeld()).status).toBe("CONTEXT_PACK");
      expect(life.runs("analyst")).toHaveLength(tries);
      life.teach({ CONTEXT_PACK: hangs });
      await life.goOn();
      await life.reaches("CONTEXT_PACK");
    },
  );

/** For each state a scene in which a task stays there. */
const ways: Readonly<Record<string, Scene>> = {
  BACKLOG: {},
  CONTEXT_PACK: { turns: { CONTEXT_PACK: hangs } },
  CONTEXT_REVIEW: { turns: { CONTEXT_REVIEW: hangs } },
  SPEC: { turns: { SPEC: hangs } },
  SPEC_REVIEW: { turns: { SPEC_REVIEW: hangs } },
  IMPLEMENT: { turns: { IMPLEMENT: hangs } },
  PR_REVIEW: { turns: { scout: hangs } },
  PR_HUMAN_REVIEW: {},
  FIXER: { turns: { judge: [finds(cold)], FIXER: hangs } },
  TESTING: { turns: { TESTING: hangs } },
  DOC_REVIEW: { turns: { DOC_REVIEW: hangs } },
  MERGE_READY: {},
};
for (const [status, scene] of Object.entries(ways))
  scenario(
    `${status} → CANCELLED (human asked): its agents end, and its workspace is released`,
    { preset: "full-pipeline", ...scene },
    async (life) => {
      if (status === "FIXER") await fixes(life);
      else if (["TESTING", "DOC_REVIEW", "MERGE_READY"].includes(status)) await comesTo(life, status);
      else if (status !== "BACKLOG") await life.spawn();
      const task = await life.reaches(status);
      if (scene.turns !== undefined) await life.works(task);
      await life.does("cancelTask");
      await life.ends("CANCELLED");
      expect(life.live()).toEqual([]);
      expect(await life.hasFreed()).toBe(true);
    },
  );
scenario(
  "TODO → CANCELLED (human asked): a task that waits for a slot is cancelled before anything was started for it",
  { poolSize: 1, turns: { CONTEXT_PACK: hangs } },
  async (life) => {
    const first = await life.create();
    await life.ask("spawnTask", first);
    await life.comesTo(first, "CONTEXT_PACK");
    await life.spawn();
    await life.passes(60_000);
    expect((await life.reaches("TODO")).workspace).toBe("");
    await life.does("cancelTask");
    await life.ends("CANCELLED");
    await life.ask("cancelTask", first);
    await life.endsIn(first, "CANCELLED");
    expect(life.prompts(life.id)).toEqual([]);
    expect(await life.stages()).toBe("BACKLOG TODO CANCELLED");
    expect(await life.hasFreed()).toBe(true);
  },
);

everyMoveWasMade();

/** The task comes to the fixer, for the first finding. */
async function fixes(life: Life): Promise<void> {
  await life.spawn();
  await life.isReviewed(1);
  await life.decide("approved", "F1");
  await life.goOn();
}
