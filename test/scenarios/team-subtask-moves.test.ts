import { expect } from "vitest";
import { fails, hangs, nonsense, type Turn } from "./simulated-stage.ts";
import { everyMoveWasMade, type Life, type Scene, scenarioOf } from "./team/stage.ts";

const scenario = scenarioOf("team-subtask");
const twoParts = [{ id: "cup" }, { id: "pot" }];
const chain = [{ id: "cup" }, { id: "lid", needs: ["cup"] }];

const cold = { severity: "high", file: "cup.md", line: 3, title: "It is cold", evidence: "20 degrees in the cup" };
const small = { severity: "low", file: "lid.md", line: 1, title: "No lid", evidence: "The lid lies beside the cup" };
const hot = { ...cold, file: "handle.md", title: "The handle is hot", evidence: "It burns" };
const about = (severity: string, file: string, title: string) => ({ ...cold, severity, file, title, evidence: title });
const fixed = { id: "F1", state: "fixed" };
const stillOpen = { id: "F1", state: "open" };

const rejects = (...findings: readonly object[]): Turn => ({ answer: { approved: false, feedback: "Hm.", findings } });
/** The second review says that the first finding is fixed, reports a small one, and does not approve. */
const lateRejection = [rejects(cold), rejects(fixed, small)];
const approves: Turn = { answer: { approved: true, findings: [] } };

const accepts = (id: string): Turn => ({ answer: { approved: true, findings: [{ id, state: "fixed" }] } });
const dismisses = (id: string, approved: boolean): Turn => ({
  answer: { approved, findings: [{ id, state: "dismissed", reason: "It is fine" }] },
});
const wantFixed = (life: Life, task: string, id: string) =>
  life.request("decideFindings", task, { findings: [id], state: "approved" });

/** The texts that the agents of a part were started with, by their beginnings. */
const heard = async (life: Life, beginning: string, item = "cup") =>
  life.prompts((await life.part(item)).id).filter((text) => text.startsWith(beginning));

scenario(
  "SUBTASK_QUEUED → SUBTASK_IMPLEMENTING (engine rule 2): a part starts on a branch of its slot, with what it needs in it",
  { plan: chain },
  async (life) => {
    await life.partReaches("SUBTASK_IMPLEMENTING");
    expect((await life.part("lid")).status).toBe("SUBTASK_QUEUED");
    expect((await life.part()).branch).toBe(`${(await life.now()).branch}-agent-1`);
    const { workspace, branch } = await life.partReaches("SUBTASK_IMPLEMENTING", "lid");
    expect(branch).toBe(`${(await life.now()).branch}-agent-1`);
    expect([...(life.world.repositories.folders.get(workspace)?.files.keys() ?? [])]).toContain("cup.md");
    expect((await heard(life, "Subtask The cup"))[0]).toContain("Whole requirement: Brew a cup");
    await life.ends("COMPLETED");
  },
);
scenario(
  "SUBTASK_QUEUED → SUBTASK_FAILED (engine rule 1): a part without a workspace fails",
  { breaks: { prepare: "SUBTASK_QUEUED" } },
  async (life) => {
    expect((await life.partEnds("SUBTASK_FAILED")).reason).toContain("prepare is broken");
    await life.ends("FAILED");
  },
);
scenario(
  "SUBTASK_QUEUED → SUBTASK_CANCELLED (engine asked): a part is skipped if a part that it needs has failed",
  { plan: chain, turns: { SUBTASK_IMPLEMENTING: fails } },
  async (life) => {
    await life.ends("FAILED");
    expect((await life.part("lid")).reason).toBe('Skipped: it needs "cup", which failed.');
  },
);
scenario(
  "SUBTASK_IMPLEMENTING → SUBTASK_COMMITTING (engine rule 2): an engineer that ends has built its part",
  {},
  async (life) => void (await life.partEnds("SUBTASK_DONE")),
);
scenario(
  "SUBTASK_IMPLEMENTING → SUBTASK_FAILED (engine rule 1): an engineer whose program fails twice fails the part",
  { turns: { SUBTASK_IMPLEMENTING: fails } },
  async (life) => {
    await life.partEnds("SUBTASK_FAILED");
    expect(await heard(life, "Subtask")).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_COMMITTING → SUBTASK_TESTING (engine rule 3): what the engineer left uncommitted is committed and merged",
  { turns: { SUBTASK_IMPLEMENTING: [{ leaves: { "cup.md": "a cup" } }] } },
  async (life) => {
    const { branch } = await life.ends("COMPLETED");
    const { branches, commits } = life.world.repositories;
    expect(commits.get(branches.get(branch) ?? "").tree.get("cup.md")).toBe("a cup");
  },
);
scenario(
  "SUBTASK_COMMITTING → SUBTASK_FAILED (engine rule 1): an engineer that has changed nothing has built nothing",
  { turns: { SUBTASK_IMPLEMENTING: [{}] } },
  async (life) => expect((await life.partEnds("SUBTASK_FAILED")).reason).toBe("The engineer has committed nothing."),
);
scenario(
  "SUBTASK_COMMITTING → SUBTASK_FAILED (engine rule 2): work that cannot be committed fails the part, and is saved",
  {
    breaks: { commitAll: "SUBTASK_COMMITTING" },
    turns: { SUBTASK_IMPLEMENTING: [{ writes: { "cup.md": "a cup" }, leaves: { "lid.md": "a lid" } }] },
  },
  async (life) => expect((await life.partEnds("SUBTASK_FAILED")).reason).toContain("commitAll is broken"),
);
scenario("SUBTASK_TESTING → SUBTASK_REVIEWING (engine rule 5): tested work is reviewed", {}, async (life) => {
  await life.partEnds("SUBTASK_DONE");
  expect(await heard(life, "Work these in")).toEqual([]);
});
scenario(
  "SUBTASK_TESTING → SUBTASK_FEEDBACK (engine rule 2): the engineer gets the failing tests",
  { tests: ({ files }) => String(files.get("cup.md")).includes("FEEDBACK") },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "Work these in"))[0]).toMatch(/Failing tests: .*1 failed/s);
  },
);
scenario(
  "SUBTASK_TESTING → SUBTASK_REVIEWING (engine rule 3): if the tests fail three times, the architect decides",
  { tests: ({ status }) => status !== "SUBTASK_TESTING" },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_TESTING → SUBTASK_FAILED (engine rule 4): tests that are killed say nothing about the work",
  { tests: () => "killed" },
  async (life) => expect((await life.partEnds("SUBTASK_FAILED")).reason).toMatch(/tests|killed/),
);
scenario(
  "SUBTASK_TESTING → SUBTASK_CLAIMING (engine rule 1): without a test command the engineer is asked",
  { hasTests: false },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Run the tests that concern this subtask")).toHaveLength(1);
  },
);
scenario(
  "SUBTASK_CLAIMING → SUBTASK_REVIEWING (engine rule 1): the engineer's word is enough for a review",
  { hasTests: false },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toEqual([]);
  },
);
scenario(
  "SUBTASK_CLAIMING → SUBTASK_FEEDBACK (engine rule 2): the engineer mends what it found",
  {
    hasTests: false,
    turns: { SUBTASK_CLAIMING: [{ answer: { passed: false, errors: "It leaks" } }, { answer: { passed: true } }] },
  },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "Work these in"))[0]).toContain("It leaks");
  },
);
scenario(
  "SUBTASK_CLAIMING → SUBTASK_REVIEWING (engine rule 3): after three failures the architect decides",
  { hasTests: false, turns: { SUBTASK_CLAIMING: [{ answer: { passed: false } }] } },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_CLAIMING → SUBTASK_FAILED (engine rule 4): an engineer that says nothing about the tests fails the part",
  { hasTests: false, turns: { SUBTASK_CLAIMING: nonsense } },
  async (life) => void (await life.partEnds("SUBTASK_FAILED")),
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_MERGING (engine rule 1): an approved part is merged into the parent's branch",
  { plan: [...chain] },
  async (life) => {
    const { reason } = await life.partEnds("SUBTASK_DONE");
    expect(reason).toBe("");
    await life.ends("COMPLETED");
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FEEDBACK (engine rule 4): the engineer gets the findings",
  { turns: { SUBTASK_REVIEWING: [rejects(cold), accepts("F1")] } },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "Work these in"))[0]).toContain("F1 (high) cup.md:3 It is cold");
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FEEDBACK (engine rule 4): an approval with an open finding is none",
  {
    turns: {
      SUBTASK_REVIEWING: [{ answer: { approved: true, findings: [cold] } }, accepts("F1")],
    },
  },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(1);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FEEDBACK (engine rule 4): a rejection without any finding goes to the engineer",
  { turns: { SUBTASK_REVIEWING: [rejects(), approves] } },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "Work these in"))[0]).toContain("Review: Hm.");
    expect(await heard(life, "You rejected the subtask")).toEqual([]);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FEEDBACK (engine rule 4): a finding that is still open is worked in, beside a small one",
  { turns: { SUBTASK_REVIEWING: [rejects(cold), rejects(stillOpen, small), accepts("F1")] } },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(2);
    expect(await heard(life, "You rejected the subtask")).toEqual([]);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FEEDBACK (engine rule 4): what a person wants fixed must be fixed, whatever the reviewer says",
  { turns: { SUBTASK_REVIEWING: [rejects(cold), dismisses("F1", true), accepts("F1")] } },
  async (life) => {
    life.interrupt("SUBTASK_FEEDBACK", ({ id }) => wantFixed(life, id, "F1"));
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FEEDBACK (engine rule 4): what a person wants fixed is no small finding that came late",
  { turns: { SUBTASK_REVIEWING: [rejects(cold), rejects(stillOpen, small), accepts("F1")] } },
  async (life) => {
    life.interrupt("SUBTASK_FEEDBACK", ({ id }) => wantFixed(life, id, "F1"));
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(2);
    expect(await heard(life, "You rejected the subtask")).toEqual([]);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FAILED (engine rule 3): a round that changed neither the branch nor the findings is the last",
  { turns: { SUBTASK_REVIEWING: [rejects(cold), rejects(stillOpen)], SUBTASK_FEEDBACK: [{}] } },
  async (life) => {
    const { reason } = await life.partEnds("SUBTASK_FAILED");
    expect(reason).toContain("Neither the branch nor the findings have changed.");
    expect(await heard(life, "Work these in")).toHaveLength(1);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FAILED (engine rule 5): a part that is rejected three times fails",
  { turns: { SUBTASK_REVIEWING: [rejects(cold), rejects(stillOpen)] } },
  async (life) => {
    await life.partEnds("SUBTASK_FAILED");
    expect(await heard(life, "Work these in")).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_FAILED (engine rule 5): a reviewer that gives no verdict in three attempts fails the part",
  { turns: { SUBTASK_REVIEWING: nonsense } },
  async (life) => void (await life.partEnds("SUBTASK_FAILED")),
);
scenario(
  "SUBTASK_REVIEWING → SUBTASK_ASKING (engine rule 2): a rejection for small findings that came late is questioned",
  { turns: { SUBTASK_REVIEWING: lateRejection } },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "You rejected the subtask"))[0]).toContain("Your feedback was: Hm.");
  },
);
scenario(
  "SUBTASK_ASKING → SUBTASK_MERGING (engine rule 1): the reviewer approves after all",
  { turns: { SUBTASK_REVIEWING: lateRejection, SUBTASK_ASKING: [approves] } },
  async (life) => void (await life.partEnds("SUBTASK_DONE")),
);
scenario(
  "SUBTASK_ASKING → SUBTASK_FEEDBACK (engine rule 3): the reviewer names what must change",
  {
    turns: {
      SUBTASK_REVIEWING: [...lateRejection, accepts("F3")],
      SUBTASK_ASKING: [rejects(hot)],
    },
  },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "Work these in")).at(-1)).toContain("F3 (high) handle.md:3 The handle is hot");
  },
);
scenario(
  "SUBTASK_ASKING → SUBTASK_FEEDBACK (engine rule 3): an approval that names what must change is none",
  {
    turns: {
      SUBTASK_REVIEWING: [...lateRejection, accepts("F3")],
      SUBTASK_ASKING: [{ answer: { approved: true, findings: [hot] } }],
    },
  },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    expect(await heard(life, "Work these in")).toHaveLength(2);
  },
);
for (const isApproved of [true, false])
  scenario(
    `SUBTASK_ASKING → SUBTASK_FEEDBACK (engine rule 3): a person wants the noted finding fixed, and the reviewer ${isApproved ? "approves" : "rejects"}`,
    {
      turns: {
        SUBTASK_REVIEWING: [...lateRejection, accepts("F2")],
        SUBTASK_ASKING: [dismisses("F2", isApproved)],
      },
    },
    async (life) => {
      life.interrupt("SUBTASK_ASKING", ({ id }) => wantFixed(life, id, "F2"));
      await life.partEnds("SUBTASK_DONE");
      expect((await heard(life, "Work these in")).at(-1)).toContain("F2 (low, approved by a person) lid.md:1 No lid");
    },
  );
scenario(
  "SUBTASK_ASKING → SUBTASK_FAILED (engine rule 4): a reviewer that gives no verdict in three attempts fails the part",
  { turns: { SUBTASK_REVIEWING: lateRejection, SUBTASK_ASKING: nonsense } },
  async (life) => void (await life.partEnds("SUBTASK_FAILED")),
);
scenario(
  "SUBTASK_ASKING → SUBTASK_FAILED (engine rule 4): a reviewer that finds something else a third time fails the part",
  {
    turns: {
      SUBTASK_REVIEWING: [
        ...lateRejection,
        rejects({ id: "F3", state: "fixed" }, about("low", "spoon.md", "The spoon is missing")),
        rejects({ id: "F5", state: "fixed" }, about("low", "sugar.md", "Nobody has bought sugar")),
      ],
      SUBTASK_ASKING: [
        rejects(hot),
        rejects(about("high", "tray.md", "The tray bends under load")),
        rejects(about("high", "water.md", "Salt in the water")),
      ],
    },
  },
  async (life) => void (await life.partEnds("SUBTASK_FAILED")),
);
scenario(
  "SUBTASK_ASKING → SUBTASK_UNDECIDED (engine rule 2): a second rejection without a finding calls a person",
  { turns: { SUBTASK_REVIEWING: lateRejection, SUBTASK_ASKING: [rejects()] } },
  async (life) => {
    const { id, workspace } = await life.partReaches("SUBTASK_UNDECIDED");
    expect(workspace).not.toBe("");
    expect((await life.calls(id)).join()).toContain("Merge this part");
    await life.passes(3_600_000 / 2);
    expect(await life.now(id)).toMatchObject({ status: "SUBTASK_UNDECIDED" });
  },
);
scenario(
  "SUBTASK_UNDECIDED → SUBTASK_MERGING (human rule 1): the person has it merged",
  { turns: { SUBTASK_REVIEWING: lateRejection, SUBTASK_ASKING: [rejects()] } },
  async (life) => {
    await life.ask("continueTask", (await life.partReaches("SUBTASK_UNDECIDED")).id);
    await life.partEnds("SUBTASK_DONE");
    await life.ends("COMPLETED");
  },
);
scenario(
  "SUBTASK_UNDECIDED → SUBTASK_FEEDBACK (human asked): the person has the review's text worked in",
  { turns: { SUBTASK_REVIEWING: [...lateRejection, approves], SUBTASK_ASKING: [rejects()] } },
  async (life) => {
    const { id } = await life.partReaches("SUBTASK_UNDECIDED");
    await life.ask("moveTask", id, { to: "SUBTASK_FEEDBACK" });
    await life.partEnds("SUBTASK_DONE");
    expect((await heard(life, "Work these in")).at(-1)).toContain("Review: Hm.");
  },
);
scenario(
  "SUBTASK_FEEDBACK → SUBTASK_COMMITTING (engine rule 2): what was worked in is committed, tested and reviewed again",
  {
    turns: {
      SUBTASK_REVIEWING: [rejects(cold), accepts("F1")],
      SUBTASK_FEEDBACK: [{ leaves: { "cup.md": "a warm cup" } }],
    },
  },
  async (life) => {
    const { branch } = await life.ends("COMPLETED");
    const { branches, commits } = life.world.repositories;
    expect(commits.get(branches.get(branch) ?? "").tree.get("cup.md")).toBe("a warm cup");
    expect(await heard(life, "Review this change")).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_FEEDBACK → SUBTASK_FAILED (engine rule 1): an engineer whose program fails twice fails the part",
  { turns: { SUBTASK_REVIEWING: [rejects(cold)], SUBTASK_FEEDBACK: fails } },
  async (life) => void (await life.partEnds("SUBTASK_FAILED")),
);
scenario(
  "SUBTASK_MERGING → SUBTASK_DONE (engine rule 3): the parent's branch has the part before the next one starts",
  { plan: chain, engineer: ({ part }) => (part?.item === "lid" ? { hangs: true } : undefined) },
  async (life) => {
    await life.partEnds("SUBTASK_DONE");
    const { workspace } = await life.partReaches("SUBTASK_IMPLEMENTING", "lid");
    expect([...(life.world.repositories.folders.get(workspace)?.files.keys() ?? [])]).toContain("cup.md");
  },
);
/** Two parts that change the same file: the second one to be merged conflicts. */
const clash: Scene = {
  plan: twoParts,
  engineer: ({ status, part }) =>
    status === "SUBTASK_IMPLEMENTING" ? { writes: { "recipe.md": `${part?.item}` } } : undefined,
};
const second = async (life: Life) => {
  const parts = await life.parts();
  const late = parts.find(({ id }) => life.prompts(id).some((text) => text.startsWith("Merging swe-team")));
  return late?.part?.item ?? expect.fail("No part had a conflict.");
};
scenario(
  "SUBTASK_MERGING → SUBTASK_RESOLVING (engine rule 1): a conflict goes to the engineer, and is reviewed again",
  clash,
  async (life) => {
    await life.ends("COMPLETED");
    const item = await second(life);
    const [told] = await heard(life, "Merging swe-team", item);
    expect(told).toContain("Conflicts: recipe.md");
    expect(told).toMatch(/Merge it here with this command: git merge \S+/);
    expect(await heard(life, "Review this change", item)).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_MERGING → SUBTASK_RESOLVING (engine rule 1): tests that fail only after the merge go to the engineer",
  {
    plan: twoParts,
    tests: ({ files }) => !(files.has("cup.md") && files.has("pot.md")) || files.has("both.md"),
    turns: { SUBTASK_RESOLVING: [{ merges: true, writes: { "both.md": "both" } }] },
  },
  async (life) => {
    await life.ends("COMPLETED");
    expect((await heard(life, "Merging swe-team", await second(life)))[0]).toContain("fail");
  },
);
scenario(
  "SUBTASK_MERGING → SUBTASK_FAILED (engine rule 2): a conflict that the engineer does not resolve fails the part",
  { ...clash, turns: { SUBTASK_RESOLVING: [{ writes: { "note.md": "no" } }] } },
  async (life) => {
    await life.ends("COMPLETED");
    const item = await second(life);
    expect(await life.part(item)).toMatchObject({ status: "SUBTASK_FAILED" });
    expect(await heard(life, "Merging swe-team", item)).toHaveLength(2);
  },
);
scenario(
  "SUBTASK_MERGING (environment): a merge that fails for a reason outside of the work holds the part, and does not fail it",
  { breaks: { mergeAll: "SUBTASK_MERGING" }, fault: "git.not-a-repository" },
  async (life) => {
    const { id } = await life.partReaches("SUBTASK_MERGING");
    expect(await life.isHeld(id)).toMatchObject({ status: "SUBTASK_MERGING" });
  },
);
scenario(
  "SUBTASK_MERGING (protected): a part that changes how the project is tested waits for a person, who sees and confirms it",
  {
    turns: {
      SUBTASK_IMPLEMENTING: [{ writes: { "cup.md": "a cup", ".signalbox/config.yml": "test_command: [yes]" } }],
    },
  },
  async (life) => {
    const { id } = await life.partReaches("SUBTASK_MERGING");
    expect(await life.isHeld(id)).toMatchObject({ status: "SUBTASK_MERGING", held: { word: "protected" } });
    await life.ask("continueTask", id);
    await life.partEnds("SUBTASK_DONE");
  },
);
scenario("SUBTASK_RESOLVING → SUBTASK_COMMITTING (engine rule 2): a resolution is new work", clash, async (life) => {
  await life.ends("COMPLETED");
  const { branches, commits } = life.world.repositories;
  const { branch } = await life.now();
  expect([...commits.get(branches.get(branch) ?? "").tree.keys()]).toContain(`${await second(life)}.md`);
});
scenario(
  "SUBTASK_RESOLVING → SUBTASK_FAILED (engine rule 1): an engineer whose program fails twice fails the part",
  { ...clash, turns: { SUBTASK_RESOLVING: fails } },
  async (life) => {
    await life.ends("COMPLETED");
    expect(await life.part(await second(life))).toMatchObject({ status: "SUBTASK_FAILED" });
  },
);

/** For each state a scene that leads a part into it; `rests` if it stays there, with a busy agent if the state has one. */
const ways: Readonly<Record<string, Scene & { readonly rests: "agent" | "other" | "no"; readonly item?: string }>> = {
  SUBTASK_QUEUED: { rests: "other", item: "lid", plan: chain, turns: { SUBTASK_IMPLEMENTING: hangs } },
  SUBTASK_IMPLEMENTING: { rests: "agent", turns: { SUBTASK_IMPLEMENTING: hangs } },
  SUBTASK_COMMITTING: { rests: "no" },
  SUBTASK_TESTING: { rests: "other", tests: () => "hang" },
  SUBTASK_CLAIMING: { rests: "agent", hasTests: false, turns: { SUBTASK_CLAIMING: hangs } },
  SUBTASK_REVIEWING: { rests: "agent", turns: { SUBTASK_REVIEWING: hangs } },
  SUBTASK_ASKING: { rests: "agent", turns: { SUBTASK_REVIEWING: lateRejection, SUBTASK_ASKING: hangs } },
  SUBTASK_UNDECIDED: { rests: "other", turns: { SUBTASK_REVIEWING: lateRejection, SUBTASK_ASKING: [rejects()] } },
  SUBTASK_FEEDBACK: { rests: "agent", turns: { SUBTASK_REVIEWING: [rejects(cold)], SUBTASK_FEEDBACK: hangs } },
  SUBTASK_MERGING: { rests: "no" },
  SUBTASK_RESOLVING: { rests: "no", ...clash, turns: { SUBTASK_RESOLVING: hangs } },
};

for (const [status, { rests, item = "cup", ...scene }] of Object.entries(ways)) {
  const comeThere = async (life: Life, cancel: (id: string) => Promise<unknown>) => {
    if (rests === "no") return life.interrupt(status, ({ id }) => cancel(id));
    const part = await life.partReaches(status, item);
    if (rests === "agent") await life.works(part);
    await life.passes(10_000);
    await cancel(part.id);
  };
  scenario(
    `${status} → SUBTASK_CANCELLED (human asked): a person ends one part, and its agent and workspace with it`,
    scene,
    async (life) => {
      let cancelled = "";
      await comeThere(life, (id) => {
        cancelled = id;
        return life.request("cancelTask", id);
      });
      await life.until(async () => ((await life.isOver(cancelled)) ? true : undefined));
      expect(await life.now(cancelled)).toMatchObject({ status: "SUBTASK_CANCELLED", workspace: "", runs: {} });
      expect(life.live().filter(({ task }) => task === cancelled)).toEqual([]);
    },
  );
  scenario(
    `${status} → SUBTASK_CANCELLED (engine asked): the parent is cancelled, and stops its part`,
    scene,
    async (life) => {
      await comeThere(life, () => life.request("cancelTask", life.parent));
      await life.ends("CANCELLED");
      for (const part of await life.parts())
        if (part.status !== "SUBTASK_DONE")
          expect(part).toMatchObject({
            ...{ status: "SUBTASK_CANCELLED", workspace: "", runs: {} },
            reason: 'Stopped: its parent ended in "CANCELLED".',
          });
      expect(life.live()).toEqual([]);
      expect(await life.hasFreed()).toBe(true);
    },
  );
}

everyMoveWasMade("team-subtask");
