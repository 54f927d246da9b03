import { expect } from "vitest";
import { fails, hangs, nonsense } from "./simulated-stage.ts";
import { everyMoveWasMade, type Scene, scenarioOf } from "./team/stage.ts";

const scenario = scenarioOf("team");
const talks = { skip_clarification: false };
const twoParts = [{ id: "cup" }, { id: "pot" }];

scenario(
  "QUEUED → REPO_SYNC (engine rule 1): a task starts by itself, and waits while the project has no free slot",
  { poolSize: 1, turns: { PLANNING: hangs } },
  async (life) => {
    await life.works(await life.reaches("PLANNING"));
    const second = await life.create();
    await life.passes(60_000);
    expect(await life.now(second)).toMatchObject({ status: "QUEUED", workspace: "" });
    await life.ask("cancelTask", life.parent);
    await life.ends("CANCELLED");
    await life.until(async () => ((await life.now(second)).status === "PLANNING" ? true : undefined));
  },
);
scenario(
  "QUEUED → REPO_SYNC (human rule 1): a person starts a task that does not start by itself",
  { autostart: false },
  async (life) => {
    await life.passes(60_000);
    expect(await life.now()).toMatchObject({ status: "QUEUED" });
    await life.ask("spawnTask", life.parent);
    await life.ends("COMPLETED");
  },
);
scenario(
  "REPO_SYNC → WORKSPACE_CREATED (engine rule 2): work begins at the newest commit of the repository",
  { turns: { PLANNING: hangs } },
  async (life) => {
    const { branches, commits, folders, head } = life.world.repositories;
    const { workspace } = await life.reaches("PLANNING");
    const folder = folders.get(workspace) ?? expect.fail("There is no folder.");
    expect(head(folder)).toBe(branches.get("main"));
    expect([...commits.get(head(folder)).tree.keys()]).toEqual(["recipe.md"]);
  },
);
scenario(
  "REPO_SYNC → FAILED (engine rule 1): a repository that cannot be read fails the task",
  { breaks: { syncFrom: "REPO_SYNC" } },
  async (life) => {
    await life.ends("FAILED");
    expect(life.told()).toEqual([expect.stringMatching(/Failed in REPO_SYNC: .*syncFrom is broken/)]);
  },
);
scenario(
  "WORKSPACE_CREATED → BRANCH_CREATED (engine rule 2): the task has a workspace before its branch is named",
  {},
  async (life) => {
    life.interrupt("BRANCH_CREATED", async ({ id }) => expect((await life.now(id)).workspace).not.toBe(""));
    await life.ends("COMPLETED");
  },
);
scenario(
  "WORKSPACE_CREATED → FAILED (engine rule 1): a workspace that cannot be prepared fails the task",
  { breaks: { prepare: "WORKSPACE_CREATED" } },
  async (life) => expect((await life.ends("FAILED")).reason).toContain("prepare is broken"),
);
scenario(
  "BRANCH_CREATED → CLARIFYING (engine rule 2): the branch is named after the request, and the architect asks",
  { settings: talks, turns: { CLARIFYING: [{ answer: { status: "questions", message: "Milk?" } }, {}] } },
  async (life) => {
    const task = await life.asks();
    expect(task.branch).toMatch(/^swe-team\/brew-a-cup-[0-9a-f]{8}$/);
    expect(life.prompts(life.parent)[0]).toContain("Request: Brew a cup");
    expect(await life.calls()).toEqual(["The agent asks: Milk?"]);
  },
);
scenario(
  "BRANCH_CREATED → FAILED (engine rule 1): a branch that cannot be named fails the task",
  { breaks: { renameBranch: "BRANCH_CREATED" } },
  async (life) => expect((await life.ends("FAILED")).reason).toContain("renameBranch is broken"),
);
scenario(
  "CLARIFYING → CLARIFIED (engine rule 1): the person answers, confirms the requirement, and the plan is made for it",
  {
    settings: talks,
    turns: {
      CLARIFYING: [
        { answer: { status: "questions", message: "Milk?" } },
        { answer: { status: "ready", message: "A cup of tea with milk" } },
      ],
    },
  },
  async (life) => {
    await life.asks();
    await life.ask("replyTask", life.parent, { text: "With milk" });
    await life.asks();
    expect((await life.now()).wait.turn).toBe("confirm");
    await life.ask("replyTask", life.parent, { text: "yes" });
    await life.ends("COMPLETED");
    const [, , plan] = life.prompts(life.parent);
    expect(plan).toContain("Requirement: A cup of tea with milk");
  },
);
scenario(
  "CLARIFYING → CLARIFIED (engine rule 1): after the last allowed question the work begins",
  {
    settings: { ...talks, max_clarification_rounds: 2 },
    turns: { CLARIFYING: [{ answer: { status: "questions", message: "Milk?" } }] },
  },
  async (life) => {
    for (const text of ["With milk", "Yes, milk"]) {
      await life.asks();
      await life.ask("replyTask", life.parent, { text });
    }
    await life.ends("COMPLETED");
  },
);
scenario(
  "CLARIFYING → FAILED (engine rule 2): an architect whose program fails three times fails the task",
  { settings: talks, turns: { CLARIFYING: fails } },
  async (life) => {
    await life.ends("FAILED");
    expect(life.prompts(life.parent)).toHaveLength(3);
  },
);
scenario(
  "CLARIFIED → PLANNING (engine rule 1): without a clarification the plan is made for the request itself",
  {},
  async (life) => {
    await life.ends("COMPLETED");
    expect(life.prompts(life.parent)[0]).toContain("Requirement: Brew a cup");
  },
);
scenario(
  "PLANNING → PLANNED (engine rule 2): a plan that cannot be used is refused with the reason",
  { turns: { PLANNING: [{ answer: { subtasks: [] } }, { answer: { subtasks: [planned("cup")] } }] } },
  async (life) => {
    await life.ends("COMPLETED");
    expect(life.prompts(life.parent)[1]).toContain("subtasks must have at least 1 item");
  },
);
scenario(
  "PLANNING → FAILED (engine rule 1): an architect that makes no plan in three attempts fails the task",
  { turns: { PLANNING: nonsense } },
  async (life) => {
    await life.ends("FAILED");
    expect(life.prompts(life.parent).filter((text) => text.startsWith("Requirement"))).toHaveLength(3);
    expect(await life.parts()).toEqual([]);
  },
);
scenario(
  "PLANNED → AGENTS_SPAWNED (engine rule 1): a plan that needs no approval starts the engineers at once",
  {},
  async (life) => {
    await life.ends("COMPLETED");
    expect(life.told()).toEqual([expect.stringContaining("Ready to review: ")]);
  },
);
scenario(
  "PLANNED → AGENTS_SPAWNED (human rule 1): the person changes the plan, approves it, and the changed plan is built",
  { settings: { plan_approval: true } },
  async (life) => {
    await life.reaches("PLANNED");
    await life.passes(60_000);
    expect(await life.parts()).toEqual([]);
    expect(await life.calls()).toEqual(["Start the engineers"]);
    await life.ask("putPlan", life.parent, { items: [planned("pot")] });
    await life.ask("continueTask", life.parent);
    await life.ends("COMPLETED");
    expect((await life.parts()).map(({ part }) => part?.item)).toEqual(["pot"]);
  },
);
scenario(
  "AGENTS_SPAWNED → SUBTASK_IMPLEMENTING (engine rule 1): the parent gives its workspace back, so that one is enough",
  { poolSize: 1, plan: twoParts },
  async (life) => {
    const { workspace } = await life.reaches("SUBTASK_IMPLEMENTING");
    expect(workspace).toBe("");
    await life.ends("COMPLETED");
  },
);
scenario(
  "SUBTASK_IMPLEMENTING → SUBTASK_DONE (engine rule 2): a failed part is tried again, and the rest is built without it",
  {
    plan: [...twoParts, { id: "lid", needs: ["pot"] }],
    settings: { failure_policy: "retry" },
    engineer: ({ part }) => (part?.item === "pot" ? { fails: true } : undefined),
  },
  async (life) => {
    await life.ends("COMPLETED");
    const ends = (await life.parts()).map(({ part, status }) => `${part?.item} ${part?.try} ${status}`);
    expect(ends.sort()).toEqual([
      "cup 1 SUBTASK_DONE",
      "lid 1 SUBTASK_CANCELLED",
      "pot 1 SUBTASK_FAILED",
      "pot 2 SUBTASK_FAILED",
    ]);
    const { body } = (await life.world.store.pullRequests.get(life.parent)) ?? expect.fail("No pull request.");
    for (const row of ["The cup | done", "The pot | failed", "The lid | skipped"]) expect(body).toContain(`| ${row} |`);
  },
);
scenario(
  "SUBTASK_IMPLEMENTING → FAILED (engine rule 1): with the policy stop the first failed part ends the others",
  {
    plan: twoParts,
    settings: { failure_policy: "stop" },
    engineer: ({ part }) => (part?.item === "pot" ? { hangs: true } : { fails: true }),
  },
  async (life) => {
    await life.ends("FAILED");
    expect((await life.part("pot")).reason).toBe('Stopped: "cup" was not done, and the policy is stop.');
  },
);
scenario(
  "SUBTASK_DONE → MERGING_AGENTS (engine rule 2): one part that is done is enough",
  { plan: twoParts, engineer: ({ part }) => (part?.item === "pot" ? { fails: true } : undefined) },
  async (life) => void (await life.ends("COMPLETED")),
);
scenario(
  "SUBTASK_DONE → FAILED (engine rule 1): without any part that is done there is nothing to offer",
  { plan: twoParts, turns: { SUBTASK_IMPLEMENTING: fails } },
  async (life) => {
    await life.ends("FAILED");
    expect(await life.world.store.pullRequests.get(life.parent)).toBeUndefined();
  },
);
scenario(
  "MERGING_AGENTS → RESOLVING (engine rule 1): tests that fail on the whole are mended there",
  { tests: ({ status, files }) => status !== "MERGING_AGENTS" || files.has("whole.md") },
  async (life) => {
    await life.ends("COMPLETED");
    expect(life.prompts(life.parent).at(-1)).toMatch(/Failing tests: .*1 failed/s);
  },
);
scenario(
  "MERGING_AGENTS → RESOLVING (engine rule 1): a part that the branch has lost is merged again, and its conflict resolved",
  {
    tests: ({ status, files }) => status !== "MERGING_AGENTS" || files.has("whole.md"),
    turns: { RESOLVING: [{ restarts: true, writes: { "cup.md": "other", "whole.md": "whole" } }, { merges: true }] },
  },
  async (life) => {
    await life.ends("COMPLETED");
    expect(life.prompts(life.parent).at(-1)).toMatch(/Conflicts: cup\.md/);
  },
);
scenario(
  "MERGING_AGENTS → RESOLVING (engine rule 1): the engineer gets the branch of a part that conflicts into its workspace",
  { hasClones: true, turns: { RESOLVING: [{ merges: true }] } },
  async (life) => {
    life.interrupt("MERGING_AGENTS", async ({ id }) => life.loseParts(id, { "cup.md": "other" }));
    const { branch } = await life.ends("COMPLETED");
    expect(life.prompts(life.parent).at(-1)).toContain(`to be merged: git merge origin/${branch}-agent-1`);
  },
);
scenario(
  "MERGING_AGENTS → CREATING_PR (engine rule 2): without tests the whole is offered untested",
  { hasTests: false },
  async (life) => void (await life.ends("COMPLETED")),
);
scenario("MERGING_AGENTS → CREATING_PR (engine rule 4): the tests of the whole pass", {}, async (life) => {
  await life.ends("COMPLETED");
  expect(life.tested.filter((status) => status === "MERGING_AGENTS")).toHaveLength(1);
});

scenario(
  "MERGING_AGENTS → FAILED (engine rule 3): tests that still fail after three attempts to mend them fail the task",
  { tests: ({ status }) => status !== "MERGING_AGENTS" },
  async (life) => {
    expect((await life.ends("FAILED")).reason).toContain("1 failed");
    expect(life.prompts(life.parent).filter((text) => text.startsWith("Joining"))).toHaveLength(3);
  },
);
scenario(
  "MERGING_AGENTS → FAILED (engine rule 3): a workspace that cannot be prepared again fails the task",
  { breaks: { prepare: "MERGING_AGENTS" } },
  async (life) => expect((await life.ends("FAILED")).reason).toContain("prepare is broken"),
);
scenario(
  "MERGING_AGENTS (dropped): a part whose changes were taken back calls a person, who brings them back",
  {
    tests: ({ status, files }) => status !== "MERGING_AGENTS" || files.has("whole.md"),
    turns: { RESOLVING: [{ deletes: ["cup.md"], writes: { "whole.md": "whole" } }] },
  },
  async (life) => {
    const held = await life.isHeld();
    expect(held).toMatchObject({ status: "MERGING_AGENTS", held: { word: "dropped" } });
    const { id } = await life.part();
    life.write(held.workspace, { "cup.md": `${id} SUBTASK_IMPLEMENTING 0` });
    await life.ask("continueTask", life.parent);
    await life.ends("COMPLETED");
  },
);
scenario(
  "RESOLVING → MERGING_AGENTS (engine rule 2): the mended whole is tested again",
  { tests: ({ status, files }) => status !== "MERGING_AGENTS" || files.has("whole.md") },
  async (life) => void (await life.ends("COMPLETED")),
);
scenario(
  "RESOLVING → FAILED (engine rule 1): an engineer whose program fails twice fails the task",
  { tests: ({ status }) => status !== "MERGING_AGENTS", turns: { RESOLVING: fails } },
  async (life) => {
    await life.ends("FAILED");
    expect(life.prompts(life.parent).filter((text) => text.startsWith("Joining"))).toHaveLength(2);
  },
);
scenario(
  "CREATING_PR → COMPLETED (engine rule 2): the branch with the parts is offered, and nothing is left",
  { plan: twoParts },
  async (life) => {
    const { branch } = await life.ends("COMPLETED");
    const { branches, commits } = life.world.repositories;
    expect([...commits.get(branches.get(branch) ?? "").tree.keys()].sort()).toEqual(["cup.md", "pot.md", "recipe.md"]);
    expect(await life.world.store.pullRequests.get(life.parent)).toMatchObject({ head: branch });
  },
);
scenario(
  "CREATING_PR → FAILED (engine rule 1): a branch that cannot be offered fails the task, and keeps the work",
  { breaks: { publish: "CREATING_PR" } },
  async (life) => expect((await life.ends("FAILED")).reason).toContain("publish is broken"),
);

/** For each state a scene that leads into it, and keeps an agent or a test busy there if it can. */
const ways: Readonly<Record<string, Scene & { readonly isBusy?: true; readonly from?: string }>> = {
  QUEUED: { autostart: false },
  REPO_SYNC: {},
  WORKSPACE_CREATED: {},
  BRANCH_CREATED: {},
  CLARIFYING: { isBusy: true, settings: talks, turns: { CLARIFYING: hangs } },
  CLARIFIED: { from: "CLARIFYING", isBusy: true, settings: talks, turns: { CLARIFYING: hangs } },
  PLANNING: { isBusy: true, turns: { PLANNING: hangs } },
  PLANNED: { settings: { plan_approval: true } },
  AGENTS_SPAWNED: {},
  SUBTASK_IMPLEMENTING: { plan: twoParts, turns: { SUBTASK_IMPLEMENTING: hangs } },
  SUBTASK_DONE: { from: "SUBTASK_IMPLEMENTING", plan: twoParts, turns: { SUBTASK_IMPLEMENTING: hangs } },
  MERGING_AGENTS: { tests: ({ status }) => (status === "MERGING_AGENTS" ? "hang" : true) },
  RESOLVING: { isBusy: true, tests: ({ status }) => status !== "MERGING_AGENTS", turns: { RESOLVING: hangs } },
  CREATING_PR: {},
};

const resting = ["QUEUED", "PLANNED", "SUBTASK_IMPLEMENTING", "MERGING_AGENTS"];
for (const [status, { isBusy, from, ...scene }] of Object.entries(ways)) {
  scenario(
    `${status} → CANCELLED (human asked): its agents end, its workspace is free, and its parts end with it`,
    scene,
    async (life) => {
      const cancel = () => life.request("cancelTask", life.parent);
      const rest = from ?? (isBusy || resting.includes(status) ? status : "");
      if (rest !== status) life.interrupt(status, cancel);
      if (rest !== "") {
        const task = await life.reaches(rest);
        if (isBusy) await life.works(task);
        if (rest === "SUBTASK_IMPLEMENTING") for (const item of ["cup", "pot"]) await life.works(await life.part(item));
        if (rest === "MERGING_AGENTS") await life.passes(60_000);
      }
      // No task stays in a state without a wait and without work, unless a person puts it there and it owes something.
      if (from !== undefined) await life.ask("migrateTask", life.parent, { to: status, apply: true });
      else if (rest === status) await cancel();
      await life.ends("CANCELLED");
      for (const part of await life.parts()) expect(part.status).toMatch(/^SUBTASK_(CANCELLED|DONE)$/);
      expect(life.live()).toEqual([]);
      expect(await life.hasFreed()).toBe(true);
    },
  );
}

everyMoveWasMade("team");

function planned(id: string) {
  return { id, title: `The ${id}`, description: "Make it", needs: [] };
}
