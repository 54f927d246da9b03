import { expect } from "vitest";
import { inState, type Scenes, scenario } from "../scenes.ts";
import {
  askFor,
  type Behaviour,
  busy,
  deaf,
  handIn,
  handoff,
  review,
  type Step,
  section,
  type Turn,
  told,
  tryFor,
  untilGo,
  whenAllowed,
} from "../steps.ts";

/** A verdict that the reviewer has handed in, with which others ask. */
const wrote = (verdict: "PASS" | "FAIL"): Behaviour[string] => [
  { steps: [review(verdict, "Round {review_round}."), handIn, "hang"] },
];
/** A worker that asks for the review from `stuck`, so that it is still alive during the review, and then does this. */
const roundabout = (...steps: readonly Step[]): Turn => ({
  steps: [askFor("stuck"), askFor("agent-review"), untilGo, ...steps],
});

/** From `agent-review`. */
export function reviews(scenes: Scenes): void {
  scenario(
    scenes,
    "agent-review → reviewing (reviewer asked): only with a passing verdict, and no agent is left running",
    {
      reviewer: [
        {
          steps: [
            tryFor("reviewing"),
            review("FAIL"),
            tryFor("reviewing"),
            tryFor("stuck"),
            section("Review", "All is well, this is a pass.\n\nFine."),
            askFor("reviewing"),
          ],
        },
      ],
    },
    async (life) => {
      await life.reaches("reviewing");
      expect(await life.refusals()).toEqual([
        "reviewer reviewing: gate-missing",
        "reviewer reviewing: gate-verdict",
        "reviewer stuck: guard",
      ]);
      await life.onlyAlive();
      expect(await life.round()).toBe(1);
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → reviewing (engine rule 1): a reviewer that ends after it has handed in a passing verdict has passed the work",
    { reviewer: [{ steps: [review("PASS"), handIn, { exit: 0 }] }] },
    async (life) => {
      await life.reaches("reviewing");
      await life.onlyAlive();
      await life.hasWorkspace();
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → reviewing (human asked): a person uses the verdict that the reviewer has written",
    { reviewer: wrote("PASS") },
    async (life) => {
      await life.reaches("agent-review");
      await life.hasWritten("Verdict: PASS");
      await life.does("update", "--status", "reviewing");
      await life.reaches("reviewing");
      await life.onlyAlive();
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → reviewing (worker asked): a live worker may ask too, but only the reviewer's verdict counts",
    {
      worker: [
        {
          steps: [
            askFor("stuck"),
            askFor("agent-review"),
            section("Review", "Verdict: PASS\n\nI am good."),
            tryFor("reviewing"),
            untilGo,
            askFor("reviewing"),
          ],
        },
      ],
      reviewer: [{ steps: [whenAllowed(section("Review", "A clear pass."), handIn, "hang")] }],
    },
    async (life) => {
      await life.isRefusedAll("worker reviewing: gate-missing");
      await life.onlyAlive("worker#1", "reviewer#2");
      await life.allows("reviewer#2");
      await life.hasWritten("A clear pass");
      life.go();
      await life.reaches("reviewing");
      await life.onlyAlive();
    },
  );

  scenario(
    scenes,
    "agent-review → working (reviewer asked): a failing verdict of the first round starts a worker that fixes the work",
    { worker: [busy], reviewer: [{ steps: [tryFor("working"), review("FAIL"), askFor("working")] }] },
    async (life) => {
      await life.reaches("working");
      expect(await life.refusals()).toEqual(["reviewer working: gate-missing"]);
      expect(await life.hears("worker#2", "# Fixing Issues")).toContain("Review round: 1");
      await life.onlyAlive("worker#2");
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → working (engine rule 2): so does a verdict that the reviewer handed in before it ended",
    { worker: [busy], reviewer: [{ steps: [review("FAIL"), handIn, { exit: 0 }] }] },
    async (life) => {
      await life.reaches("working");
      await life.hears("worker#2", "# Fixing Issues");
      await life.onlyAlive("worker#2");
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → working (human asked): a person does not wait for a reviewer that has written its verdict",
    { worker: [busy], reviewer: wrote("FAIL") },
    async (life) => {
      await life.reaches("agent-review");
      await life.hasWritten("Verdict: FAIL");
      await life.does("update", "--status", "working");
      await life.reaches("working");
      await life.hears("worker#2", "# Fixing Issues");
      await life.onlyAlive("worker#2");
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → working (worker asked): a live worker uses the failing verdict itself, and is replaced",
    { worker: [told("# Fixing", "hang"), roundabout(askFor("working"))], reviewer: wrote("FAIL") },
    async (life) => {
      await life.reaches("agent-review");
      await life.hasWritten("Verdict: FAIL");
      await life.onlyAlive("worker#1", "reviewer#2");
      life.go();
      await life.hears("worker#3", "# Fixing Issues");
      await life.onlyAlive("worker#3");
    },
  );

  /** A task in the second round of reviews, which its fixing worker asks for like this. */
  const second = (mends: Turn, ...steps: readonly Step[]): Behaviour => ({
    worker: [{ when: { prompt: "# Fixing" }, steps: mends.steps }, { steps: [handoff("one"), askFor("agent-review")] }],
    reviewer: [
      { when: { task: { review_round: "1" } }, steps: [review("FAIL"), askFor("working")] },
      { steps: [...steps] },
    ],
  });
  const straight: Turn = { steps: [handoff("two"), askFor("agent-review")] };
  scenario(
    scenes,
    "agent-review → stuck (reviewer asked): a failing verdict of the second round needs a person",
    second(straight, tryFor("stuck"), review("FAIL", "Still bitter."), tryFor("working"), askFor("stuck")),
    async (life) => {
      await life.reaches("stuck");
      // Nothing was committed since the first verdict, so it is spent, not stale.
      expect(await life.refusals()).toEqual(["reviewer stuck: gate-spent", "reviewer working: guard"]);
      await life.onlyAlive();
      expect(await life.round()).toBe(2);
    },
  );
  scenario(
    scenes,
    "agent-review → stuck (engine rule 3): so does a verdict that the reviewer of the second round handed in before it ended",
    second(straight, review("FAIL", "Still bitter."), handIn, { exit: 0 }),
    async (life) => {
      await life.reaches("stuck");
      await life.onlyAlive();
      expect(await life.round()).toBe(2);
    },
  );
  scenario(
    scenes,
    "agent-review → stuck (human asked): a person does not wait for the reviewer of the second round",
    second(straight, review("FAIL", "Still bitter."), handIn, "hang"),
    async (life) => {
      await life.until(({ counters }) => counters.review_round === 2);
      await life.hasWritten("Still bitter");
      await life.does("update", "--status", "stuck");
      await life.reaches("stuck");
      await life.onlyAlive();
    },
  );
  scenario(
    scenes,
    "agent-review → stuck (worker asked): a live worker does not wait for the reviewer either",
    second(roundabout(askFor("stuck")), review("FAIL", "Still bitter."), handIn, "hang"),
    async (life) => {
      await life.until(({ counters }) => counters.review_round === 2);
      await life.hasWritten("Still bitter");
      life.go();
      await life.reaches("stuck");
      await life.onlyAlive();
    },
  );
  scenario(
    scenes,
    "agent-review → stuck (engine escalated): a second silent reviewer in a row calls a person",
    { reviewer: [{ steps: [{ exit: 0 }] }] },
    async (life) => {
      const held = await life.isHeld();
      expect([held.status, held.crashCount, held.session]).toEqual(["agent-review", 1, "dead"]);
      await life.does("respawn");
      expect((await life.reaches("stuck")).crashCount).toBe(0);
      expect(await life.round()).toBe(1);
      expect(await life.windowsHad()).toEqual(["reviewer#1 reviewer", "reviewer#2 reviewer"]);
      await life.onlyAlive();
    },
    inState("agent-review"),
  );

  scenario(
    scenes,
    "without a sandbox, a verdict that the reviewer left in its file and did not hand in does not count",
    { reviewer: [{ steps: [review("PASS"), { exit: 0 }] }] },
    async (life) => {
      expect((await life.isHeld()).status).toBe("agent-review");
      const story = await life.story();
      expect(story).toContain("document.unclaimed engine");
      expect(story).toContain("It had no sandbox");
    },
    inState("agent-review"),
  );

  scenario(
    scenes,
    "agent-review → cancelled (human asked): worker and reviewer are ended, and the workspace is released",
    { worker: [roundabout()], reviewer: [deaf] },
    async (life) => {
      await life.hears("reviewer#2", "# Review Task");
      await life.onlyAlive("worker#1", "reviewer#2");
      for (const status of ["reviewing", "working"])
        expect(await life.isRefused("update", "--status", status)).toContain("## Review is missing");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
    },
  );
  scenario(
    scenes,
    "agent-review → cancelled (reviewer asked): the same happens if the reviewer asks",
    { reviewer: [{ steps: [askFor("cancelled"), "hang"] }] },
    async (life) => {
      await life.reaches("cancelled");
      await life.endedFirst();
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → cancelled (worker asked): the same happens if a live worker asks",
    { worker: [{ steps: [askFor("stuck"), askFor("agent-review"), askFor("cancelled"), "hang"] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("cancelled");
      await life.endedFirst();
    },
  );
}
