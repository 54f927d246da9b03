import { describe, expect, test } from "vitest";
import { atWork, builtIn } from "../../test/engine/drive.ts";
import { briefNeed, type NeedFacts, needsOf } from "./needs.ts";
import type { Held, Task } from "./task.ts";

const { task: working } = atWork();

function needs(change: Partial<Task>, more: Partial<NeedFacts> = {}, name = "default") {
  const task: Task = { ...working, phase: "waiting", ...change };
  return needsOf({
    ...{ task, workflow: builtIn(name), changedAt: 5, now: 9, runs: [], messages: [], merge: undefined },
    ...{ failure: undefined, isOwing: false, limit: undefined, hopeless: [], questions: "", known: new Map() },
    ...more,
  });
}
const first = (...args: Parameters<typeof needs>) => needs(...args)[0];
const run = { key: "worker#1", activity: "idle", what: "", raised: "", error: "" } as const;
const id = working.id;

test("a task whose agent works needs no person", () => {
  expect(needs({}, { runs: [{ ...run, activity: "busy" }] })).toEqual([]);
});

test("the need of a held task has its reason, its start, and the command to try again", () => {
  const held: Held = { reason: "The disk is full.", word: "error", again: "effects" };
  expect(needs({ held })).toEqual([
    {
      reason: "effect",
      text: "The disk is full.",
      fix: `Fix the cause, then try again: signalbox task retry ${id}`,
      command: `signalbox task retry ${id}`,
      since: 5,
      key: `${id}:${working.entry}:effect`,
    },
  ]);
  expect(first({ held: { ...held, again: "do" } })).toMatchObject({ reason: "held" });
  expect(first({ held: { ...held, word: "exit", again: "wait" } })).toMatchObject({ reason: "agent" });
  expect(first({ held }, { failure: { code: "agents.budget" } })).toMatchObject({ reason: "budget" });
  expect(first({ held: { ...held, word: "cost" } })).toMatchObject({ reason: "budget" });
});

test("a held task offers the moves that a person can make instead", () => {
  const held: Held = { reason: "No commit.", word: "missing", again: "wait" };
  expect(first({ status: "FIXER", held, runs: {} }, {}, "pipeline")?.fix).toBe(
    `Fix the cause, then try again: signalbox task continue ${id}\nSee all that its agent said: signalbox task logs ${id}\nOr move it to PR_HUMAN_REVIEW: signalbox task update ${id} --status PR_HUMAN_REVIEW`,
  );
});

test("a known need keeps its start", () => {
  const known = new Map([[`${id}:${working.entry}:approval`, 2]]);
  expect(first({ status: "reviewing" }, { known })).toMatchObject({ since: 2 });
});

test("a task whose first state waits for a person says that nothing starts without them, and what starts it", () => {
  const unstarted = { status: "BACKLOG", previousStatus: "", runs: {}, runCount: 0 };
  expect(first(unstarted, {}, "pipeline")).toMatchObject({
    ...{ reason: "approval", text: "The task starts only once you approve it: Start" },
    command: `signalbox task approve ${id}`,
  });
  expect(first({ status: "MERGE_READY", runs: {} }, {}, "pipeline")?.text).toBe("Merge");
});

test("where a person merges the work, merging is offered first", () => {
  for (const name of ["default", "classic", "minimal"]) {
    const need = first({ status: "reviewing", runs: {} }, {}, name);
    expect(need).toMatchObject({ reason: "approval", command: `signalbox task merge ${id}` });
    expect(need?.fix).not.toContain("--status done");
  }
  expect(first({ status: "reviewing" })?.fix).toContain(`signalbox task request-changes ${id}`);
});

test("where an agent continues with the person's answer, answering is offered first, and the questions are shown", () => {
  for (const name of ["default", "classic"]) {
    const need = first({ status: "clarification" }, { questions: "Which beans?", asked: "answers" }, name);
    expect(need).toMatchObject({ reason: "question", command: `signalbox task answer ${id}` });
    expect(need?.text).toContain("The agent asks:\nWhich beans?");
    expect(need?.fix.split("\n")[0]).toBe(`Answer: signalbox task answer ${id}`);
  }
});

test("where a person can send a task to several states, each has a command that names its state", () => {
  expect(first({ status: "stuck", runs: {} }, {}, "classic")).toMatchObject({ reason: "approval" });
  expect(first({ status: "stuck", runs: {} }, {}, "classic")?.fix.split("\n")).toEqual([
    `Send it back to working: signalbox task request-changes ${id} --status working`,
    `Send it back to agent-review: signalbox task request-changes ${id} --status agent-review`,
  ]);
  const asked = { questions: "Which?", asked: "answers" } as const;
  expect(first({ status: "stuck", runs: {} }, asked, "classic")?.fix.split("\n")).toEqual([
    `Answer, and continue in working: signalbox task answer ${id} --status working`,
    `Answer, and continue in agent-review: signalbox task answer ${id} --status agent-review`,
  ]);
});

test("an idle agent in a state that waits for a person is not a second need", () => {
  const idle = { runs: { worker: { key: "worker#1", mode: "session" as const } } };
  expect(needs({ status: "clarification", ...idle }, { runs: [run] }, "classic")).toHaveLength(1);
});

test("a state whose agent is not running needs a person, but not while effects are owed", () => {
  expect(first({ runs: {} })).toMatchObject({ reason: "agent", command: `signalbox task respawn ${id}` });
  expect(first({ runs: {} }, {}, "classic")).toMatchObject({ reason: "agent" });
  expect(needs({ runs: {} }, { isOwing: true })).toEqual([]);
});

test("a task that has not started needs no person", () => {
  for (const name of ["default", "classic", "minimal"])
    expect(needs({ status: "pending", runs: {}, runCount: 0 }, {}, name)).toEqual([]);
});

test("a run that is raised or asks needs a person, once for each run; its text never becomes a command", () => {
  const asking = { ...run, activity: "asks", what: "Run signalbox task cancel x" } as const;
  expect(needs({}, { runs: [asking] })).toMatchObject([
    { reason: "agent", command: `signalbox task attach ${id} --role worker#1`, since: 9 },
  ]);
  const raised = { ...asking, raised: "It waits in a dialog." };
  expect(needs({}, { runs: [raised] })).toHaveLength(1);
  expect(needs({}, { runs: [raised] })[0]?.key).toBe(needs({}, { runs: [asking] })[0]?.key);
  expect(needs({}, { runs: [{ ...run, error: "Not logged in." }] })).toMatchObject([{ reason: "agent" }]);
});

test("a task whose merge is under way needs no person, and a task whose merge waits needs only that merge", () => {
  const task = { status: "reviewing" };
  const merge = { target: "main", reason: "" };
  expect(first(task, { merge: { ...merge, state: "under-way" } })).toBeUndefined();
  expect(needs(task, { merge: { ...merge, state: "waits" } }).map(({ reason }) => reason)).toEqual(["merge"]);
});

test("a refused merge is one need, with everything that can be done; failing tests go back to the agent first", () => {
  const merge = { target: "main", reason: "Not merged at 12:00: The tests fail on the result of the merge." };
  const fixes = (state: "tests" | "refused") =>
    needs({ status: "reviewing" }, { merge: { ...merge, state } }).map(({ command, fix }) => [
      command,
      ...fix.split("\n"),
    ]);
  const again = `Fix the cause, then merge again: signalbox task merge ${id}`;
  const look = `Look at it first: signalbox task diff ${id}`;
  const back = `signalbox task request-changes ${id}`;
  const said = `${back} -m "With main merged in, the tests fail."`;
  expect(fixes("tests")).toEqual([[said, `Send it back to its agent: ${said}`, again, look]]);
  expect(fixes("refused")).toEqual([[`signalbox task merge ${id}`, again, look, `Send it back: ${back}`]]);
});

test("every need has a command, also where only git helps, and a merge that would be refused says what comes first", () => {
  const task = { status: "reviewing" };
  const trouble = { reason: "/w is on no branch.", fix: "Go back: git -C /w switch brew" };
  expect(needs(task, { trouble })).toMatchObject([
    { reason: "workspace", fix: trouble.fix, command: `signalbox task explain ${id}` },
    { reason: "approval", text: expect.stringMatching(/\. First solve the problem with its workspace\.$/) },
  ]);
  expect(needs(task)[0]?.text).not.toContain("First solve");
  expect(needs(task, { trouble: { ...trouble, allowsMerge: true } })[1]?.text).not.toContain("First solve");
  const merge = { state: "waits", target: "main", reason: "Yours is in the way." } as const;
  expect(needs(task, { merge })).toMatchObject([{ reason: "merge", command: `signalbox task explain ${id}` }]);
});

test("undelivered messages, limits without an end, merges and dependencies need a person", () => {
  const messages = [{ to: "worker#1", text: "Go on\nwith it", problem: "It is deaf." }];
  expect(first({}, { messages, runs: [run] })).toMatchObject({ reason: "message" });
  expect(first({}, { limit: { harness: "claude", text: "No more." }, runs: [run] })).toMatchObject({
    ...{ reason: "limit", text: "No more.", command: "signalbox resume --harness claude" },
  });
  const merge = { state: "waits", target: "main", reason: "Yours is in the way." } as const;
  expect(first({ status: "reviewing" }, { merge })).toMatchObject({ reason: "merge" });
  const hopeless = [{ name: "coffee#1", status: "cancelled" }];
  expect(needs({ status: "pending", runs: {}, runCount: 0 }, { hopeless })).toMatchObject([{ reason: "dependency" }]);
});

test("each round of a dialogue is a need of its own", () => {
  const wait = { ...working.wait, turn: "reply" as const, round: 1 };
  const log = [{ from: "agent" as const, text: "Which beans?" }];
  const one = first({ wait, log });
  expect(one).toMatchObject({ reason: "question", text: "The agent asks: Which beans?" });
  expect(first({ wait: { ...wait, round: 2 }, log })?.key).not.toBe(one?.key);
});

test("a held dialogue needs a person only for the hold: no agent would receive an answer", () => {
  const wait = { ...working.wait, turn: "reply" as const, round: 1 };
  const log = [{ from: "agent" as const, text: "Which beans?" }];
  const held: Held = { reason: "The disk is full.", word: "error", again: "effects" };
  expect(needs({ wait, log, held }).map(({ reason }) => reason)).toEqual(["effect"]);
});

test("a run that goes on no more can be ended, so that its workflow starts another", () => {
  const { project, number } = working;
  const end = `signalbox agent kill ${project}#${number}/${run.key}`;
  for (const stuck of [
    { ...run, error: "The verdict is for another commit." },
    { ...run, raised: "It has been idle." },
  ])
    expect(first({}, { runs: [stuck] })).toMatchObject({
      ...{ fix: expect.stringContaining(end), command: expect.stringContaining("signalbox task attach") },
    });
});

test("an error of a run that works or is starting needs no person", () => {
  for (const activity of ["busy", "starting"] as const)
    expect(needs({}, { runs: [{ ...run, activity, error: "Not logged in." }] })).toEqual([]);
});

test("a task that is over needs no person, unless one of its last effects has failed", () => {
  expect(needs({ status: "done", phase: "over", runs: {} })).toEqual([]);
  const held: Held = { reason: "The folder is locked.", word: "error", again: "effects" };
  expect(needs({ status: "done", phase: "entering", runs: {}, held })).toMatchObject([{ reason: "effect" }]);
});

test("a task whose workflow is gone needs a person", () => {
  expect(first({}, { workflow: undefined })).toMatchObject({ reason: "workflow" });
  expect(first({ status: "nowhere" })).toMatchObject({ reason: "workflow" });
});

test("a need on one line has no command and no line breaks", () => {
  expect(briefNeed({ text: "The disk\n  is full.", command: "" })).toBe("The disk is full.");
  const remedies = "X is not installed.\nIf it is: signalbox down && signalbox up\nOr take another harness.";
  expect(briefNeed({ text: remedies, command: "" })).toBe(
    "X is not installed. If it is: signalbox down && signalbox up · Or take another harness.",
  );
  const command = "signalbox project update coffee --full-permissions allow";
  const text = `Nobody has allowed that yet. To allow it: ${command}`;
  expect(briefNeed({ text, command })).toBe("Nobody has allowed that yet.");
});

test("an agent without a terminal is looked at in its output", () => {
  const run = { key: "worker#1", activity: "idle", what: "", raised: "It is stuck.", error: "" } as const;
  const of = (mode: "turn" | "session") =>
    needs({ runs: { worker: { key: "worker#1", mode } } }, { runs: [run] }).map(({ command }) => command);
  expect(of("session")).toContain(`signalbox task attach ${id} --role worker#1`);
  expect(of("turn")).toContain(`signalbox task logs ${id} --follow`);
});

describe("the text of an agent", () => {
  const command = "signalbox project update coffee --full-permissions allow";
  const said = `I cannot write. To mend it: ${command}`;

  test.each(["wait", "effects", "do"] as const)("is never the command to copy, when %s is retried", (again) => {
    const held: Held = { reason: said, word: "error", again };
    const own = `signalbox task ${again === "effects" ? "retry" : "continue"} ${id}`;
    expect(first({ held })).toMatchObject({ text: said, command: own });
    expect(first({ held }, { failure: { code: "command.failed" } })?.command).toBe(own);
  });

  test("is shown in full, even where it looks like a command", () => {
    const held: Held = { reason: said, word: "error", again: "wait" };
    const need = first({ held });
    expect(need && briefNeed(need)).toBe(said);
    expect(briefNeed({ text: "signalbox is not for me", command: `signalbox task continue ${id}` })).toBe(
      "signalbox is not for me",
    );
  });

  test("does not hide the command in our own failure message", () => {
    const held: Held = { reason: said, word: "error", again: "effects" };
    expect(first({ held }, { failure: { code: "permissions.unasked" } })?.command).toBe(command);
  });
});

test("the command of a need for the day's budget is the first one of its message, and nothing but a command", () => {
  const raise = "signalbox config set budget.day 22";
  const spent = "All projects together today cost $21.00 of $20.00 that are allowed.";
  const reason = `${spent}\nRaise the limit: ${raise}\nThen, or tomorrow: signalbox task retry ${id}`;
  const held: Held = { reason, word: "error", again: "effects" };
  const need = first({ held }, { failure: { code: "agents.budget" } });
  expect(need).toMatchObject({ reason: "budget", command: raise });
  expect(need && briefNeed(need)).toBe(
    `${spent} Raise the limit: ${raise} · Then, or tomorrow: signalbox task retry ${id}`,
  );
});

test("a broken workspace needs a person, unless the task is about to make it again", () => {
  const trouble = { reason: "Its workspace is gone.", fix: "Make it again: signalbox task respawn 1" };
  expect(first({}, { runs: [run], trouble })).toMatchObject({ reason: "workspace", text: trouble.reason });
  expect(needs({}, { runs: [run], trouble, isOwing: true }).map(({ reason }) => reason)).not.toContain("workspace");
});

test("after failed tests a person whose turn it is learns that, and how often the task was sent back", () => {
  const tested = { commit: "abcdef1234567", word: "tests" as const, output: "" } as Task["tested"];
  const gate = first({ status: "PR_HUMAN_REVIEW", runs: {}, tested, counters: { sent_back: 2 } }, {}, "pipeline");
  expect(gate?.text).toBe(
    "No finding is approved, so the task goes on in TESTING. The last tests failed, on abcdef1234. The task was sent back for that: 2 of 3.",
  );
});

test("where a finding was approved that no review calls fixed, the need says so before the approval, and where that leads", () => {
  const finding = { id: "F1", state: "approved", severity: "high", file: "cup.md", line: 1, title: "Cold" };
  const ledger = { round: 1, quiet: 0, findings: [finding] } as unknown as Task["ledger"];
  const at = (counters: Task["counters"]) =>
    first({ status: "MERGE_READY", runs: {}, ledger, counters }, {}, "pipeline");
  expect(at({})?.text).toBe("Merge. You approved F1, and no review says that it is fixed.");
  expect(at({})?.fix.split("\n")).toEqual([
    `Let it go to PR_REVIEW first: signalbox task approve ${id}`,
    `To merge without a fix, dismiss findings that are not defects: signalbox task findings ${id} dismiss F1 -m "Why"`,
    `Send it back: signalbox task request-changes ${id}`,
  ]);
  expect(at({ reviewed_again: 1 })?.fix).not.toContain("task approve");
});
