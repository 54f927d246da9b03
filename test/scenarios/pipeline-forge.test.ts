import { afterAll, expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { openForgeScenes } from "./forge-scenes.ts";
import type { Life } from "./life.ts";
import { builds, but, finds, findsIn, passes, withQuickRetries } from "./pipeline-agents.ts";
import { scenario } from "./scenes.ts";
import { build, type Step } from "./steps.ts";

const scenes = await openForgeScenes("pipeline", { change: withQuickRetries });
afterAll(scenes.close);
// The branch is protected: nobody merges without another person's approval.
scenes.github.state.ruleApprovals = 1;

const cold = { title: "It is cold", severity: "high", file: "cup.md", line: 3, evidence: "20 degrees" };
const small = { title: "It is small", severity: "medium", file: "pot.md", line: 1, evidence: "One cup fits" };
const loud = { title: "The mill is loud", severity: "medium", file: "mill.md", line: 7, evidence: "90 decibels" };
const reworded = { ...loud, title: "The mill makes loud noise", severity: "critical", evidence: "Neighbours complain" };

const tells = (message: string): Step => ({
  tool: { name: "stage_message", input: { to: "PR_HUMAN_REVIEW", message, priority: "normal" } },
});

const findingsOf = async ({ id }: Life) => {
  const { findings } = await scenes.call(routes.listFindings, { params: { task: id } });
  return findings.map(({ id: name, state, by }) => `${name} ${state} ${by}`);
};
/** What each run of a role was told, in order. */
const toldTo = async (life: Life, role: string, part = "") => {
  const runs = (await life.runs()).filter((run) => run.role === role);
  const texts = await Promise.all(runs.map(({ key }) => life.heard(key)));
  return texts.map((each) => each.join("\n")).filter((text) => text.includes(part));
};
/** Waits for the review with this number, and for the person's turn after it. */
const isReviewed = (life: Life, round: number) =>
  life.soon(
    async () => {
      const { status, phase } = await life.now();
      const reviews = (await life.moves()).filter((move) => move.startsWith("PR_REVIEW → PR_HUMAN_REVIEW"));
      return reviews.length === round && status === "PR_HUMAN_REVIEW" && phase === "waiting" ? true : undefined;
    },
    async () => `${JSON.stringify(await life.now())}\n${await life.story()}`,
  );

scenario(
  scenes,
  "MERGE_READY → DONE (engine rule 2): security-critical with three findings, of which two are approved and one is dismissed: the fixer mends them one after the other, and what was dismissed stays so",
  but({
    implementer: [
      { ...builds, steps: [...builds.steps, tells("  Mind the handle.\n\n"), tells("It is hot.")] },
      { when: { status: "FIXER", prompt: "F1" }, steps: build("warmed") },
      { when: { status: "FIXER" }, steps: build("widened") },
      passes,
    ],
    scout: [findsIn(1, cold, small, loud), findsIn(2, small, reworded), finds()],
    judge: [
      findsIn(1, cold, small, loud),
      findsIn(2, { id: "F1", state: "fixed" }, { id: "F2", state: "open", reason: "Still one cup" }, reworded),
      finds({ id: "F2", state: "fixed" }),
    ],
  }),
  async (life) => {
    await life.does("spawn");
    await isReviewed(life, 1);
    expect(await findingsOf(life)).toEqual(["F1 open judge", "F2 open judge", "F3 open judge"]);
    await life.does("findings", "approve", "F1", "F2");
    await life.does("findings", "dismiss", "F3", "-m", "Mills are loud");
    await life.does("launch-fixer");

    await isReviewed(life, 2);
    expect(await findingsOf(life)).toEqual(["F1 fixed judge", "F2 approved human", "F3 dismissed human"]);
    await life.does("launch-fixer");

    await isReviewed(life, 3);
    expect(await findingsOf(life)).toEqual(["F1 fixed judge", "F2 fixed judge", "F3 dismissed human"]);
    await life.does("launch-fixer");
    await life.reaches("MERGE_READY");

    const [first, second, third, ...more] = scenes.commentsOn(life);
    expect(more).toEqual([]);
    expect(first?.split("\n\n---\n\n")).toEqual([
      expect.stringMatching(
        /^The review found:[\s\S]*F1 \*\*high\*\* It is cold[\s\S]*F2[\s\S]*F3 \*\*medium\*\* The mill is loud/,
      ),
      "> Mind the handle.",
      "> It is hot.",
    ]);
    expect(second).toContain("F2 **medium** It is small");
    expect(second).toContain("Fixed: F1.");
    expect(second).not.toMatch(/F3|F4|noise/);
    expect(third).toBe("The review found nothing.\n\nFixed: F2.");
    expect(scenes.pullsOf(life)).toHaveLength(1);

    const [fixer = "", again = "", ...others] = await toldTo(life, "implementer", "Fix exactly these approved");
    expect(others).toEqual([]);
    expect(fixer).toMatch(/F1[\s\S]*F2/);
    expect(fixer).not.toMatch(/F3|mill/);
    expect(again).toMatch(/F2/);
    expect(again).not.toMatch(/F1|F3|mill/);
    const [, judge = "", last = ""] = await toldTo(life, "judge");
    expect(judge).toMatch(/Known findings[\s\S]*F1 \(high, approved by a person\)[\s\S]*F2[\s\S]*Closed findings/);
    expect(judge).toMatch(
      /Closed findings[\s\S]*F3 \(medium, dismissed by a person\) mill\.md:7[^\n]*\n.*\n {2}The person's note: Mills are loud/,
    );
    expect(last).toMatch(/Known findings[\s\S]*F2[\s\S]*Closed findings[\s\S]*F1[\s\S]*F3/);

    // The person's word does not replace the approval that the forge demands.
    await life.does("continue");
    expect(await life.isHeld()).toMatchObject({ status: "MERGE_READY", held: { word: "unapproved" } });
    expect(scenes.pullOf(life).state).toBe("open");
    scenes.approve(life);
    await life.until(({ status }) => status === "DONE");
    expect(scenes.pullOf(life).mergeCommit).toContain(scenes.git(scenes.remote, "rev-parse", life.branch));
    expect(scenes.git(scenes.remote, "log", "--format=%s", "main")).toMatch(/widened\nwarmed\none/);
    expect(scenes.commentsOn(life)).toHaveLength(3);
    await life.gaveBack();
  },
  { flags: ["--preset", "security-critical"] },
);
