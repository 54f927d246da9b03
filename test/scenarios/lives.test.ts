import { afterAll, expect, test } from "vitest";
import type { Life } from "./life.ts";
import { openScenes } from "./scenes.ts";
import {
  askFor,
  type Behaviour,
  build,
  busy,
  during,
  handoff,
  plan,
  review,
  section,
  told,
  untilGo,
  whenAllowed,
} from "./steps.ts";

/** Whole lives of `default`, from the person's first command to the last. The last test kills their daemon. */
const scenes = await openScenes("default");
afterAll(scenes.close);

const planned = [plan, askFor("working"), ...build("one"), handoff("one"), askFor("agent-review")];
const mends = told("Review failed", ...build("two"), handoff("two"), askFor("agent-review"));
const passes = { steps: [review("PASS", "Round {review_round}."), askFor("reviewing")] };

const live = (name: string, branch: string, part: Behaviour, play: (life: Life) => Promise<void>) =>
  test.concurrent(name, async () => {
    const life = await scenes.begin(branch, part);
    try {
      await play(life);
    } finally {
      await scenes.end(life);
    }
  });

/** Reviews and merges the work, as a person. */
async function merged(life: Life): Promise<void> {
  await life.does("merge");
  expect((await life.reaches("done")).outcome).toBe("done");
  await life.gaveBack();
  await life.onlyAlive();
}

live(
  "work that passes the first review: one worker, one reviewer, and the branch name that the worker chose",
  "happy",
  {
    worker: [
      during(
        "planning",
        { run: ["git", "branch", "-m", "telling"] },
        { cli: ["task", "update", "--branch"] },
        plan,
        askFor("working"),
        { write: { file: "happy.md", text: "one\n" } },
        { commit: "one" },
        handoff("one"),
        askFor("agent-review"),
      ),
    ],
  },
  async (life) => {
    scenes.teach("telling", { reviewer: [passes] });
    expect((await life.reaches("reviewing")).branch).toBe("telling");
    expect(scenes.tmux("show-options", "-v", "-t", `sb-${life.id}`, "@signalbox_title")).toBe("coffee/telling");
    await merged(life);
    expect(scenes.git(scenes.repository, "show", "main:happy.md")).toBe("one");
    expect(await life.moves()).toEqual([
      "pending → planning (engine rule 1)",
      "planning → working (worker asked)",
      "working → agent-review (worker asked)",
      "agent-review → reviewing (reviewer asked)",
      "reviewing → done (human asked)",
    ]);
    expect(await life.windowsHad()).toEqual(["worker#1 worker", "reviewer#2 review-1"]);
    const { stdout } = await scenes.signalbox("task", "history", life.id);
    expect(stdout).toMatch(/reviewer#2 +agent-review → reviewing \(asked; ## Review/);
  },
);

live(
  "work that fails once: the same worker fixes it, and the second review passes",
  "once",
  {
    worker: [mends, during("planning", ...planned)],
    reviewer: [{ when: { task: { review_round: "1" } }, steps: [review("FAIL"), askFor("working")] }, passes],
  },
  async (life) => {
    await life.reaches("reviewing");
    await merged(life);
    expect(scenes.git(scenes.repository, "show", "main:once.md")).toBe("one\ntwo");
    expect(await life.windowsHad()).toEqual(["worker#1 worker", "reviewer#2 review-1", "reviewer#3 review-2"]);
    expect(await life.round()).toBe(2);
  },
);

live(
  "work that fails twice: a person fixes it with the worker, reviews it and merges it",
  "twice",
  {
    worker: [
      told("Make it sweet", ...build("sweet"), handoff("sweet")),
      told("# Stuck", { say: "It is bitter. What now?" }),
      mends,
      during("planning", ...planned),
    ],
    reviewer: [
      { when: { task: { review_round: "1" } }, steps: [review("FAIL"), askFor("working")] },
      { steps: [review("FAIL", "Still bitter."), askFor("stuck")] },
    ],
  },
  async (life) => {
    await life.reaches("stuck");
    await life.hears("worker#1", "# Stuck");
    await life.does("send", "Make it sweet");
    const workspace = await life.hasWorkspace();
    await life.soon(async () => (scenes.git(workspace, "log", "-1", "--format=%s") === "sweet" ? true : undefined));
    await life.does("continue");
    await life.reaches("reviewing");
    await merged(life);
    expect(scenes.git(scenes.repository, "show", "main:twice.md")).toBe("one\ntwo\nsweet");
    expect((await life.moves()).slice(-3)).toEqual([
      "agent-review → stuck (reviewer asked)",
      "stuck → reviewing (human rule 1)",
      "reviewing → done (human asked)",
    ]);
  },
);

live(
  "work with questions: a person answers, and the worker plans with the answer",
  "asks",
  {
    worker: [
      told("Twice as strong", ...planned),
      told("A person has moved the task"),
      during("planning", section("Questions", "1. How strong?"), askFor("clarification")),
    ],
    reviewer: [passes],
  },
  async (life) => {
    await life.reaches("clarification");
    expect((await scenes.signalbox("task", "show", life.id, "--json")).stdout).toContain("How strong?");
    expect(await life.isRefused("continue")).toContain("signalbox task answer ");
    await life.does("continue", "--yes");
    await life.does("send", "Twice as strong");
    await life.reaches("reviewing");
    await merged(life);
    expect(await life.windowsHad()).toEqual(["worker#1 worker", "reviewer#2 review-1"]);
  },
);

test("a killed daemon does not harm any task, whatever its state", async () => {
  const begin = (branch: string, part: Behaviour, ...flags: readonly string[]) => scenes.begin(branch, part, { flags });
  const lives: Readonly<Record<string, Life>> = {
    pending: await begin("k-pending", { worker: [busy] }, "--no-spawn"),
    planning: await begin("k-planning", { worker: [{ steps: [untilGo, plan, askFor("working"), "hang"] }] }),
    clarification: await begin("k-clarification", { worker: [{ steps: [untilGo] }] }, "--status", "clarification"),
    working: await begin(
      "k-working",
      { worker: [{ steps: [untilGo, handoff("one"), askFor("agent-review")] }], reviewer: [passes] },
      "--status",
      "working",
    ),
    "agent-review": await begin(
      "k-review",
      { worker: [busy], reviewer: [{ steps: [whenAllowed(review("FAIL"), askFor("working"))] }] },
      "--status",
      "agent-review",
    ),
    reviewing: await begin("k-reviewing", { worker: [{ steps: [...build("one"), untilGo] }] }, "--status", "reviewing"),
    stuck: await begin("k-stuck", { worker: [busy] }, "--status", "stuck"),
  };
  const of = (status: string) => lives[status] as Life;
  const alive = async () => {
    const before: Record<string, readonly string[]> = {};
    for (const [status, life] of Object.entries(lives)) before[status] = await life.alive();
    return before;
  };
  for (const [status, life] of Object.entries(lives)) await life.reaches(status);
  await of("reviewing").soon(async () =>
    scenes.git((await of("reviewing").now()).workspace, "log", "-1", "--format=%s") === "one" ? true : undefined,
  );
  for (const status of ["planning", "clarification", "working", "reviewing", "stuck"])
    await of(status).onlyAlive("worker#1");
  await of("agent-review").onlyAlive("reviewer#1");
  const [before, moves] = [await alive(), await Promise.all(Object.values(lives).map((life) => life.moves()))];

  await scenes.killDaemon();
  expect(await scenes.isListening()).toBe(false);
  await scenes.restart();

  for (const [status, life] of Object.entries(lives)) await life.reaches(status);
  expect(await alive()).toEqual(before);
  expect(await Promise.all(Object.values(lives).map((life) => life.moves()))).toEqual(moves);

  // Every task continues with the same agents.
  await of("pending").does("spawn");
  for (const status of ["planning", "working", "clarification"]) of(status).go();
  await of("agent-review").allows("reviewer#1");
  await of("clarification").does("continue");
  await of("stuck").does("continue");
  await of("reviewing").does("merge");
  const next = { pending: "planning", planning: "working", clarification: "planning", working: "reviewing" };
  const rest = { "agent-review": "working", reviewing: "done", stuck: "reviewing" };
  for (const [status, to] of Object.entries({ ...next, ...rest })) await of(status).reaches(to);
  expect(await of("planning").windowsHad()).toEqual(["worker#1 worker"]);
  expect(await of("agent-review").windowsHad()).toEqual(["reviewer#1 review-1", "worker#2 worker"]);
  await of("reviewing").gaveBack();
  for (const life of Object.values(lives)) await scenes.end(life);
});
