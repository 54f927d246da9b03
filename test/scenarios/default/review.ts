import { expect } from "vitest";
import { inState, type Scenes, scenario } from "../scenes.ts";
import {
  askFor,
  type Behaviour,
  build,
  busy,
  deaf,
  handIn,
  handoff,
  quiet,
  review,
  section,
  told,
  tryFor,
} from "../steps.ts";

const handsOver = [...build("one"), handoff("one"), askFor("agent-review")];
/** Fixes what a review asks for, once more. */
const mender: Behaviour = {
  worker: [
    told("# Stuck", "hang"),
    told("Review failed", ...build("two"), handoff("two"), askFor("agent-review")),
    { steps: handsOver },
  ],
};

/** From `agent-review`. */
export function reviews(scenes: Scenes): void {
  scenario(
    scenes,
    "agent-review → reviewing (reviewer asked): only with a passing verdict on the first line, and the worker is not disturbed",
    {
      worker: [{ steps: handsOver }],
      reviewer: [
        {
          steps: [
            tryFor("reviewing"),
            review("FAIL"),
            tryFor("reviewing"),
            section("Review", "It is good.\n\nVerdict: PASS"),
            tryFor("reviewing"),
            tryFor("cancelled"),
            review("PASS"),
            tryFor("working"),
            askFor("reviewing"),
          ],
        },
      ],
    },
    async (life) => {
      expect((await life.reaches("reviewing")).needsPerson).toBe(true);
      expect(await life.refusals()).toEqual([
        "reviewer reviewing: gate-missing",
        "reviewer reviewing: gate-verdict",
        "reviewer reviewing: gate-verdict",
        "reviewer cancelled: not-allowed",
        "reviewer working: gate-verdict",
      ]);
      await life.onlyAlive("worker#1");
      await life.hasWindows("worker");
      expect(await life.heard("worker#1")).toHaveLength(1);
      expect(await life.round()).toBe(1);
    },
    inState("working"),
  );

  scenario(
    scenes,
    "agent-review → reviewing (engine rule 1): a reviewer that ends after it has handed in a passing verdict has passed the work",
    { worker: [busy], reviewer: [{ steps: [review("PASS"), handIn, { exit: 0 }] }] },
    async (life) => {
      await life.reaches("reviewing");
      await life.onlyAlive("worker#2");
      expect((await life.now()).crashCount).toBe(0);
    },
    inState("agent-review"),
  );

  scenario(
    scenes,
    "agent-review → working (reviewer asked): the waiting worker is told about a failing verdict of the first round",
    {
      worker: [told("Review failed", "hang"), { steps: handsOver }],
      reviewer: [{ steps: [tryFor("working"), review("FAIL"), tryFor("stuck"), askFor("working")] }],
    },
    async (life) => {
      await life.makes("agent-review → working (reviewer asked)");
      expect(await life.refusals()).toEqual(["reviewer working: gate-missing", "reviewer stuck: guard"]);
      expect(await life.hears("worker#1", "Review failed")).toContain("task update --status agent-review");
      await life.onlyAlive("worker#1");
      await life.hasWindows("worker");
      expect(await life.round()).toBe(1);
    },
    inState("working"),
  );

  scenario(
    scenes,
    "agent-review → working (engine rule 2): a reviewer that ends after it has handed in a failing verdict has failed the work; a dead worker is started with the message",
    { worker: [busy], reviewer: [{ steps: [review("FAIL"), handIn, { exit: 0 }] }] },
    async (life) => {
      await life.reaches("working");
      const words = await life.hears("worker#2", "# Resuming");
      expect(words).toContain("Review failed");
      await life.onlyAlive("worker#2");
    },
    inState("agent-review"),
  );

  scenario(
    scenes,
    "agent-review → stuck (reviewer asked): a failing verdict of the second round needs a person",
    {
      ...mender,
      reviewer: [
        { when: { task: { review_round: "1" } }, steps: [review("FAIL"), askFor("working")] },
        { steps: [tryFor("stuck"), review("FAIL", "Still bitter."), tryFor("working"), askFor("stuck")] },
      ],
    },
    async (life) => {
      await life.reaches("stuck");
      // The verdict of the first round is still in the document, and is spent.
      expect(await life.refusals()).toEqual(["reviewer stuck: gate-spent", "reviewer working: guard"]);
      expect((await life.does("explain")).replace(/\s+/g, " ")).toContain(
        `The task came here from "agent-review": the reviewer's verdict in ## Review is FAIL. Read why: signalbox task show ${life.id} --section Review`,
      );
      expect(await life.does("show", "--section", "Review")).toContain("Still bitter.");
      await life.hears("worker#1", "# Stuck");
      await life.onlyAlive("worker#1");
      await life.hasWindows("worker");
      expect(await life.round()).toBe(2);
      expect(await life.windowsHad()).toEqual(["worker#1 worker", "reviewer#2 review-1", "reviewer#3 review-2"]);
    },
    inState("working"),
  );

  scenario(
    scenes,
    "agent-review → stuck (engine rule 3): so does a verdict that a reviewer of the second round only handed in",
    { ...mender, reviewer: [{ steps: [review("FAIL", "Round {review_round}."), handIn, { exit: 0 }] }] },
    async (life) => {
      await life.reaches("stuck");
      expect(await life.moves()).toContain("agent-review → working (engine rule 2)");
      await life.hears("worker#1", "# Stuck");
      expect(await life.round()).toBe(2);
    },
    inState("working"),
  );

  scenario(
    scenes,
    "agent-review → stuck (engine rule 4): a reviewer that ends without a verdict is started again once, in the same window; the second time a person is called",
    { worker: [told("# Stuck", "hang"), { steps: handsOver }], reviewer: [{ steps: [{ exit: 0 }] }] },
    async (life) => {
      await life.reaches("stuck");
      expect(await life.windowsHad()).toEqual(["worker#1 worker", "reviewer#2 review-1", "reviewer#3 review-1"]);
      expect(await life.round()).toBe(1);
      await life.hears("worker#1", "# Stuck");
      expect(await life.does("explain")).toContain('The task came here from "agent-review": It ended with 0.');
      await life.onlyAlive("worker#1");
    },
    inState("working"),
  );

  scenario(
    scenes,
    "agent-review → cancelled (human asked): reviewer and worker are ended, and the workspace is released",
    { worker: [{ steps: handsOver }], reviewer: [deaf] },
    async (life) => {
      await life.reaches("agent-review");
      await life.onlyAlive("worker#1", "reviewer#2");
      await life.does("cancel");
      await life.reaches("cancelled");
      await life.endedFirst();
    },
    inState("working"),
  );

  scenario(
    scenes,
    "agent-review (reminded): an idle reviewer without a verdict is told what is missing",
    { worker: [quiet], reviewer: [quiet] },
    async (life) => {
      await life.reaches("agent-review");
      expect(await life.hears("reviewer#1", "## Review is missing")).toContain("--status reviewing | working | stuck");
    },
    inState("agent-review"),
  );
}
