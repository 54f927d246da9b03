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

/** What a reviewer wrote and handed in, for others to ask with. */
const wrote = (verdict: "PASS" | "FAIL"): Behaviour[string] => [
  { steps: [review(verdict, "Round {review_round}."), handIn, "hang"] },
];
/** A worker that goes round by `stuck`, so that it is still alive when its work is reviewed, and then does this. */
const roundabout = (...steps: readonly Step[]): Turn => ({
  steps: [askFor("stuck"), askFor("agent-review"), untilGo, ...steps],
});

/** From `agent-review`. */
export function reviews(scenes: Scenes): void {
  scenario(
    scenes,
    "agent-review → reviewing (reviewer asked): only with a passing verdict, and nobody is left running",
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
    "agent-review → reviewing (engine rule 1): a reviewer that ends with a passing verdict written has passed the work",
    { reviewer: [{ steps: [review("PASS"), { exit: 0 }] }] },
    async (life) => {
      await life.reaches("reviewing");
      await life.onlyAlive();
      await life.hasWorkspace();
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → reviewing (human asked): a person goes ahead with the verdict that the reviewer has written",
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
    "agent-review → reviewing (worker asked): a worker that is still there may ask too, but only the reviewer's verdict counts",
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
    "agent-review → working (reviewer asked): a failing verdict of the first round starts a worker that mends it",
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
    "agent-review → working (engine rule 2): so does one that the reviewer only wrote down",
    { worker: [busy], reviewer: [{ steps: [review("FAIL"), { exit: 0 }] }] },
    async (life) => {
      await life.reaches("working");
      await life.hears("worker#2", "# Fixing Issues");
      await life.onlyAlive("worker#2");
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → working (human asked): a person does not wait for the reviewer that has its verdict written",
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
    "agent-review → working (worker asked): a worker that is still there takes the failing verdict itself, and is replaced",
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

  /** In the second round of reviews, to which the worker that mends goes so. */
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
    "agent-review → stuck (reviewer asked): a failing verdict of the second round is a person's business",
    second(straight, tryFor("stuck"), review("FAIL", "Still bitter."), tryFor("working"), askFor("stuck")),
    async (life) => {
      await life.reaches("stuck");
      // Nothing was committed since the first verdict, so it is not stale, but spent.
      expect(await life.refusals()).toEqual(["reviewer stuck: gate-spent", "reviewer working: guard"]);
      await life.onlyAlive();
      expect(await life.round()).toBe(2);
    },
  );
  scenario(
    scenes,
    "agent-review → stuck (engine rule 3): so is one that the reviewer of the second round only wrote down",
    second(straight, review("FAIL", "Still bitter."), { exit: 0 }),
    async (life) => {
      await life.reaches("stuck");
      await life.onlyAlive();
      expect(await life.round()).toBe(2);
    },
  );
  scenario(
    scenes,
    "agent-review → stuck (human asked): a person does not wait for the reviewer of the second round either",
    second(straight, review("FAIL", "Still bitter."), "hang"),
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
    "agent-review → stuck (worker asked): nor does a worker that is still there",
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
    "agent-review → stuck (engine escalated): a second silent reviewer in a row asks for a person",
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
    "agent-review → cancelled (human asked): worker and reviewer are ended, and the workspace given back",
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
    "agent-review → cancelled (reviewer asked): so they are where the reviewer asks for it",
    { reviewer: [{ steps: [askFor("cancelled"), "hang"] }] },
    async (life) => {
      await life.reaches("cancelled");
      await life.endedFirst();
    },
    inState("agent-review"),
  );
  scenario(
    scenes,
    "agent-review → cancelled (worker asked): and where the worker does that is still there",
    { worker: [{ steps: [askFor("stuck"), askFor("agent-review"), askFor("cancelled"), "hang"] }], reviewer: [busy] },
    async (life) => {
      await life.reaches("cancelled");
      await life.endedFirst();
    },
  );
}
