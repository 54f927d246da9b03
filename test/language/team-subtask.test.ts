import { describe, expect, test } from "vitest";
import { play } from "./stage.ts";
import { builtIn, load } from "./workflow-texts.ts";

// The review of one part of a team's plan, with the ledger of its findings.

const workflow = load(builtIn("team-subtask"));
const cold = { severity: "high", file: "cup.ts", line: 3, title: "It is cold", evidence: "20 degrees in the cup" };
const small = { severity: "low", file: "lid.ts", line: 1, title: "No lid", evidence: "The lid lies beside the cup" };
const fixed = { id: "F1", state: "fixed" };

describe("a part whose reviewer rejects it", () => {
  test("is not merged because only small findings are noted: the reviewer is asked what must change", () => {
    const stage = reachLateRejection();
    expect(stage.end("architect", "ok", { answer: { approved: true, findings: [] } })).toBe("SUBTASK_MERGING");
  });

  test("goes back to the engineer if the reviewer then names a defect", () => {
    const stage = reachLateRejection();
    const other = { ...cold, title: "The handle is hot", file: "handle.ts" };
    expect(stage.end("architect", "ok", { answer: { approved: false, findings: [other] } })).toBe("SUBTASK_FEEDBACK");
  });

  test("waits for a person if the reviewer rejects it again without a finding that is open", () => {
    for (const findings of [[], [small], undefined]) {
      const stage = reachLateRejection();
      const answer = { approved: false, feedback: "Hm.", ...(findings === undefined ? {} : { findings }) };
      expect(stage.end("architect", "ok", { answer })).toBe("SUBTASK_UNDECIDED");
      expect(stage.ask("human", "SUBTASK_FEEDBACK")).toBe("SUBTASK_FEEDBACK");
    }
    const stage = reachLateRejection();
    stage.end("architect", "ok", { answer: { approved: false } });
    expect(stage.take({ what: "continue", by: "human" })).toBe("SUBTASK_MERGING");
  });

  test("goes to the engineer with the review's text if there are no findings at all", () => {
    const stage = reachReview();
    expect(stage.end("architect", "ok", { answer: { approved: false, feedback: "Warm it." } })).toBe(
      "SUBTASK_FEEDBACK",
    );
  });
});

describe("a part that its reviewer rejects for the last time", () => {
  const hot = { severity: "critical", file: "handle.ts", title: "The handle is hot." };

  test("fails with the open findings and the reviewer's last words as its reason", () => {
    const stage = reachReview();
    const open = ["F1", "F2"].map((id) => ({ id, state: "open" }));
    stage.end("architect", "ok", { answer: { approved: false, findings: [cold, hot] } });
    toReview(stage);
    stage.end("architect", "ok", { answer: { approved: false, feedback: "No,\nnot yet.", findings: open } });
    expect(stage.task).toMatchObject({
      status: "SUBTASK_FAILED",
      reason:
        "Neither the branch nor the findings have changed. Rejected in 2 reviews. Open: F2 The handle is hot (handle.ts), F1 It is cold (cup.ts:3). The reviewer's last words: No, not yet.",
    });
  });

  test("waits for a person with the reviewer's last words as its reason", () => {
    const stage = reachLateRejection();
    stage.end("architect", "ok", { answer: { approved: false, feedback: "Hm.", findings: [] } });
    expect(stage.task).toMatchObject({
      status: "SUBTASK_UNDECIDED",
      reason: "It had 3 reviews. No finding is open. The reviewer's last words: Hm.",
    });
  });
});

test("a part whose reviewer never gives a usable answer says how often it failed", () => {
  const stage = reachReview();
  for (let tries = 0; tries < 3; tries++) stage.end("architect", "ok", { answer: { feedback: "Hm." } });
  expect(stage.task).toMatchObject({
    status: "SUBTASK_FAILED",
    reason: "architect failed 3 times in a row. The last answer of architect was refused: approved is missing.",
  });
});

test("a part without commits fails, and says that nothing was committed", () => {
  const stage = reachImplementing();
  stage.end("swe", "ok");
  expect(stage.take({ what: "did", by: "engine", word: "ok", facts: { commits: 0 } })).toBe("SUBTASK_FAILED");
  expect(stage.task.reason).toBe("The engineer has committed nothing.");
});

function reachReview() {
  return toReview(reachImplementing());
}

function reachImplementing() {
  const stage = play(workflow);
  stage.take({ what: "continue", by: "engine" });
  if (stage.task.status === "SUBTASK_QUEUED") stage.take({ what: "did", by: "engine", word: "ok" });
  expect(stage.task.status).toBe("SUBTASK_IMPLEMENTING");
  return stage;
}

function toReview(stage: ReturnType<typeof play>) {
  stage.end("swe", "ok");
  stage.take({ what: "did", by: "engine", word: "ok", facts: { commits: 1 } });
  expect(stage.take({ what: "did", by: "engine", word: "ok" })).toBe("SUBTASK_REVIEWING");
  return stage;
}

/** The second review says that the first finding is fixed, reports a small one, and does not approve. */
function reachLateRejection() {
  const stage = reachReview();
  expect(stage.end("architect", "ok", { answer: { approved: false, findings: [cold] } })).toBe("SUBTASK_FEEDBACK");
  toReview(stage);
  expect(stage.end("architect", "ok", { answer: { approved: false, findings: [fixed, small] } })).toBe(
    "SUBTASK_ASKING",
  );
  return stage;
}
