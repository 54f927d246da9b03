import { expect, test } from "vitest";
import { needsOf } from "../../src/engine/needs.ts";
import { buildPrompt } from "../../src/engine/prompt.ts";
import { builtIn, drive, loadText, reasonsOf } from "./drive.ts";

const workflow = loadText(`
version: 1
roles: { any: { mode: turn, permissions: reduced, limits: { attempts: 3 } }, scout: {}, judge: {}, fixer: { permissions: full } }
settings: { scouts: { default: [small, large] } }
states:
  review:
    panel:
      members: { role: scout, model: "{scouts}", prompt: look, result: reports }
      judge: { role: judge, prompt: judge, result: review }
    next: gate
  gate: { waits_for: human, outcomes: [{ when: approved_findings > 0, then: fixing }], next: done }
  fixing: { agent: { role: fixer, prompt: fix, result: review }, next: review }
  done: { terminal: true }
schemas:
  reports: { type: object, required: [findings], properties: { findings: { type: array } } }
  review: { type: object, required: [findings], properties: { findings: { type: array } } }
prompts:
  look: Look.
  judge: "Reports: {reports} Known: {findings} Closed: {closed_findings} Refused: {refused}"
  fix: "Fix {approved}"
`);

const key = { title: "The API key is written to the log", severity: "critical", file: "src/log.ts", line: 4 };
const salt = { title: "Passwords are hashed without a salt", severity: "high", file: "src/login.ts", line: 20 };
const retry = {
  ...{ title: "The retry delay has no upper limit", severity: "medium", file: "src/retry.ts", line: 9 },
  evidence: "delay doubles for ever, also after one day",
};

function atPanel() {
  const task = drive(workflow);
  const scouts = (findings: readonly object[] = []) => {
    task.ended("scout/1", "ok", { findings });
    task.ended("scout/2", "ok", { findings: [] });
  };
  const judge = (findings: readonly object[]) => task.ended("judge", "ok", { findings });
  const decided = (state: "approved" | "dismissed", ...findings: readonly string[]) =>
    task.request({ kind: "finding", actor: { role: "human" }, findings, state, reason: "" });
  const states = () => (task.task.ledger?.findings ?? []).map(({ id, state }) => `${id} ${state}`);
  const prompt = (name: string) => buildPrompt(workflow, task.task, name, {});
  return { task, scouts, judge, decided, states, prompt };
}

/** After a first round with three findings: two approved, the last dismissed by the person. */
function afterFirstRound() {
  const stage = atPanel();
  stage.scouts();
  stage.judge([key, salt, retry]);
  stage.decided("approved", "F1", "F2");
  stage.decided("dismissed", "F3");
  return stage;
}

test("the scouts of a panel run side by side, one for each model, and the judge sees their answers and the ledger", () => {
  const { task, scouts, prompt } = atPanel();
  expect(Object.keys(task.task.runs)).toEqual(["scout/1", "scout/2"]);
  scouts([key]);
  expect(prompt("judge")).toMatchObject({ ok: true, text: expect.stringContaining("The API key is written") });
  const later = afterFirstRound();
  later.task.continue();
  later.task.commit("c2").ended("fixer", "ok", { findings: [] });
  later.scouts();
  expect(later.prompt("judge")).toMatchObject({
    ok: true,
    text: expect.stringMatching(
      /Known: F1 \(critical, approved by a person\) src\/log\.ts:4 .*F2 .*Closed: F3 \(medium, dismissed by a person\) src\/retry\.ts:9/s,
    ),
  });
});

const refused = [
  ["without a file", [{ title: "Leak", severity: "high" }], /findings\[0\] \("Leak"\) names no file/],
  ["without a title", [{ file: "a.ts", severity: "high" }], /findings\[0\] needs a title and a file/],
  ["with an empty file", [{ ...key, file: " " }], /findings\[0\] names the file " ", which is empty/],
  ["above the repository", [key, { ...salt, file: "../etc/passwd" }], /findings\[1\] .*leads out of the repository/],
  ["with an absolute file", [{ ...key, file: "/etc/passwd" }], /which is absolute/],
  ["of git's own files", [{ ...key, file: ".git/config" }], /belongs to git itself/],
  ["over 200", Array.from({ length: 201 }, (_, i) => ({ ...key, title: `Leak ${i}` })), /201 findings, but 200/],
  ["of an unknown severity", [{ ...key, severity: "awful" }], /findings\[0\]\.severity must be one of/],
  ["with an unknown id", [{ id: "F7", state: "fixed" }], /names "F7", which is no known finding/],
  ["dismissed without a reason", [{ ...key, state: "dismissed" }], /dismissed without a reason/],
] as const;

test.each(refused)("findings %s are refused, and the judge's next try is told why", (_, findings, reason) => {
  const { task, scouts, judge, states, prompt } = atPanel();
  scouts();
  judge(findings);
  expect(task.status).toBe("review");
  expect(states()).toEqual([]);
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { role: "judge" } }]);
  const next = prompt("judge");
  expect(next.ok && next.text.split("Refused: ")[1]).toMatch(reason);
  judge([key]);
  expect([task.status, ...states()]).toEqual(["gate", "F1 open"]);
});

test("a judge that never answers every open finding holds the task with the reason", () => {
  const { task, judge, scouts, states } = afterFirstRound();
  task.continue();
  task.commit("c2").ended("fixer", "ok", { findings: [] });
  scouts();
  for (let i = 0; i < 3; i++) judge([{ id: "F1", state: "fixed" }]);
  expect(task.task.held).toMatchObject({ word: "invalid", reason: expect.stringContaining("the open finding F2") });
  expect(task.task.held?.reason).toBe(
    "judge failed 3 times in a row. The last answer of judge was refused: The answer says nothing about the open finding F2.",
  );
  const [need] = needsOf({
    ...{ task: task.task, workflow, changedAt: 5, now: 9, runs: [], messages: [], merge: undefined },
    ...{ failure: undefined, isOwing: false, limit: undefined, hopeless: [], questions: "", known: new Map() },
  });
  expect(need?.fix).toContain("signalbox task findings t1 dismiss F2");
  expect(states()).toEqual(["F1 approved", "F2 approved", "F3 dismissed"]);
});

test("a finding that a person dismissed is not opened again, however a later round words it", () => {
  const { task, judge, scouts, states, decided } = afterFirstRound();
  for (const [round, reworded] of [
    { ...retry, title: "Retry delay: no limit above!", line: 31 },
    {
      ...retry,
      title: "There is no upper limit of the delays between retries",
      evidence: "a new loop, without an end",
    },
    { ...retry, id: "F3", state: "open", severity: "critical", evidence: "It blocked production for one week" },
  ].entries()) {
    task.continue();
    expect(task.status).toBe("fixing");
    task.commit(`c${round + 2}`).ended("fixer", "ok", { findings: [] });
    scouts([reworded]);
    judge([{ id: "F1" }, { id: "F2" }, reworded]);
    expect([task.status, ...states()]).toEqual(["gate", "F1 approved", "F2 approved", "F3 dismissed"]);
  }
  expect(reasonsOf(decided("approved", "F3"))).toMatchObject([
    { text: "F3 was already marked as dismissed by a person." },
  ]);
});

test("only the judge says that an approved finding is fixed, and no judge can dismiss it", () => {
  const { task, judge, scouts, states } = afterFirstRound();
  task.continue();
  task.commit("c2").ended("fixer", "ok", { findings: [{ id: "F1", state: "fixed" }] });
  expect(states()).toEqual(["F1 approved", "F2 approved", "F3 dismissed"]);
  scouts([{ id: "F2", state: "fixed" }]);
  expect(states()).toEqual(["F1 approved", "F2 approved", "F3 dismissed"]);
  judge([
    { id: "F1", state: "fixed" },
    { id: "F2", state: "dismissed", reason: "It is only a demo." },
  ]);
  expect([task.status, ...states()]).toEqual(["gate", "F1 fixed", "F2 approved", "F3 dismissed"]);
  const reviews = task.events.filter(({ type }) => type === "finding.reviewed");
  expect(reviews.map(({ data }) => data)).toMatchObject([
    { round: 1, open: 3, quiet: 0 },
    { round: 2, open: 1, findings: [{ id: "F1", state: "fixed" }] },
  ]);
});

test("a decision about an unknown or closed finding is refused with its own sentence, and decides none", () => {
  const { decided, states } = afterFirstRound();
  const before = states();
  expect(reasonsOf(decided("dismissed", "F1", "F9"))).toMatchObject([{ text: 'There is no finding "F9".' }]);
  expect(reasonsOf(decided("approved", "F3"))).toMatchObject([
    { text: "F3 was already marked as dismissed by a person." },
  ]);
  expect(states()).toEqual(before);
});

const own = { file: "./src/log.ts", line: 7, severity: "high", text: "Use a diamond burr\nSteel gets dull." } as const;

test("a person's own finding is approved, the fixer is given it, and only the judge says that it is fixed", () => {
  const { task, scouts, judge, decided, states, prompt } = atPanel();
  scouts();
  judge([key]);
  decided("dismissed", "F1");
  expect(task.request({ kind: "own_finding", actor: { role: "human" }, finding: own }).kind).toBe("stayed");
  expect(task.events.at(-1)).toMatchObject({
    ...{ type: "finding.added", by: "human" },
    data: { findings: [{ id: "F2", severity: "high", file: "src/log.ts", line: 7, title: "Use a diamond burr" }] },
  });
  task.continue();
  expect([task.status, ...states()]).toEqual(["fixing", "F1 dismissed", "F2 approved"]);
  expect(prompt("fix")).toMatchObject({
    text: "Fix F2 (high, approved by a person) src/log.ts:7 Use a diamond burr\n  Steel gets dull.",
  });
  task.commit("c2").ended("fixer", "ok", { findings: [{ id: "F2", state: "fixed" }] });
  scouts();
  judge([{ id: "F2", state: "dismissed", reason: "Steel is fine." }]);
  expect(states()).toEqual(["F1 dismissed", "F2 approved"]);
  task.continue();
  task.commit("c3").ended("fixer", "ok", { findings: [] });
  scouts();
  judge([{ id: "F2", state: "fixed", reason: "It is one." }]);
  expect(states()).toEqual(["F1 dismissed", "F2 fixed"]);
});

test.each([
  ["without a file", { file: " " }, "The finding names no file.", /--file/],
  [
    "outside of the repository",
    { file: "../x" },
    /"\.\.\/x", which leads out of the repository\.$/,
    /Name a file in it/,
  ],
  ["with a long path", { file: "x".repeat(1_001) }, "The file's path has 1001 characters.", /At most 1000/],
  ["without a text", { text: "\n" }, "The finding has no text.", /-m/],
  [
    "with a long text",
    { text: "x".repeat(4_001) },
    "The text has 4001 characters; at most 4000 are allowed.",
    /Shorten/,
  ],
  ["that is known", { file: key.file, text: key.title }, "That is the finding F1.", /approve F1/],
] as const)("a person's own finding %s is refused with its own sentence", (_, wrong, problem, fix) => {
  const { task, scouts, judge, states } = atPanel();
  scouts();
  judge([key]);
  const [reason, ...more] = reasonsOf(
    task.request({ kind: "own_finding", actor: { role: "human" }, finding: { ...own, ...wrong } }),
  );
  expect(more).toEqual([]);
  expect(reason?.text).toMatch(problem);
  expect(reason?.fix).toMatch(fix);
  expect(states()).toEqual(["F1 open"]);
});

test("a person adds a finding to 200 others, an agent adds none, and a workflow without reviews takes none", () => {
  const { task, scouts, judge } = atPanel();
  const add = (role: string, of = task) =>
    reasonsOf(of.request({ kind: "own_finding", actor: { role }, finding: own })).map(({ text }) => text);
  expect(add("scout")).toEqual(["Only a person can add findings."]);
  scouts();
  judge(Array.from({ length: 200 }, (_, i) => ({ ...key, title: `Leak${i}` })));
  expect(task.request({ kind: "own_finding", actor: { role: "human" }, finding: own }).kind).toBe("stayed");
  expect(task.task.ledger?.findings).toHaveLength(201);
  expect(add("human", drive(builtIn("default")))).toEqual([
    expect.stringMatching(/^No reviewer of the workflow "default"/),
  ]);
});

test("a long first line is the title in short, and the whole text is kept", () => {
  const { task } = atPanel();
  const text = `It is ${"very ".repeat(100)}cold`;
  task.request({ kind: "own_finding", actor: { role: "human" }, finding: { ...own, text } });
  expect(task.task.ledger?.findings).toMatchObject([{ id: "F1", evidence: text, title: expect.stringMatching(/…$/) }]);
});

test("the fixer of pipeline is given the approved findings alone", () => {
  const pipeline = builtIn("pipeline");
  const { task } = afterFirstRound();
  const built = buildPrompt(pipeline, task.task, "fixer", { documents: "", messages: "" });
  expect(built).toMatchObject({ ok: true, text: expect.stringMatching(/F1 .*F2 /s) });
  expect(built.ok && built.text.includes("F3")).toBe(false);
});

test("a panel whose work moves begins again with the present commit, and its scouts too", () => {
  const { task, judge, scouts, states } = atPanel();
  scouts([key]);
  task.commit("c2");
  judge([key]);
  expect([task.status, ...states()]).toEqual(["review"]);
  expect(Object.keys(task.task.runs)).toEqual(["scout/1", "scout/2"]);
  scouts();
  judge([salt]);
  expect([task.status, ...states()]).toEqual(["gate", "F1 open"]);
  expect(task.task.judged).toMatchObject({ commit: "c2" });
});

test("a panel whose work moves again and again is held after its attempts", () => {
  const { task, judge, scouts } = atPanel();
  for (const commit of ["c2", "c3", "c4"]) {
    scouts();
    task.commit(commit);
    judge([key]);
  }
  expect(task.task.held).toMatchObject({ word: "invalid", reason: expect.stringContaining("the branch is at c4") });
});

test.each(["login", "cost"] as const)("a member and a judge that end with %s are not tried again", (word) => {
  const { task } = atPanel();
  task.ended("scout/1", word);
  expect(Object.keys(task.task.runs)).toEqual(["scout/2"]);
  task.ended("scout/2", "ok", { findings: [] });
  task.ended("judge", word);
  expect(task.task).toMatchObject({ status: "review", runs: {}, held: { word: "error" } });
});

test("a member that fails otherwise is tried again", () => {
  const { task } = atPanel();
  task.ended("scout/1", "error");
  expect(Object.keys(task.task.runs).toSorted()).toEqual(["scout/1", "scout/2"]);
});

test("a judge is told why its answer was refused, and nothing where none was, whatever the task came back for", () => {
  const { task, scouts, judge } = atPanel();
  scouts();
  const told = () => buildPrompt(workflow, { ...task.task, reason: "You approved F1." }, "judge", {});
  expect(told()).toMatchObject({ text: expect.stringMatching(/Refused: $/) });
  task.ended("judge", "ok", {});
  expect(told()).toMatchObject({ text: expect.stringMatching(/Refused: .*findings/) });
  judge([key]);
  task.continue();
  task.request({ kind: "finding", actor: { role: "human" }, findings: ["F1"], state: "approved", reason: "" });
  expect(told()).toMatchObject({ text: expect.stringMatching(/Refused: $/) });
});

test("where only the judge has failed, continuing starts only the judge, unless the branch has moved since", () => {
  const started = (isMoved: boolean) => {
    const { task, scouts } = atPanel();
    scouts([key]);
    for (let i = 0; i < 3; i++) task.ended("judge", "ok", {});
    expect(task.task.held).toMatchObject({ word: "invalid" });
    if (isMoved) task.commit("c9");
    task.continue();
    const prompt = buildPrompt(workflow, task.task, "judge", {});
    return [task.effects.map(({ agent }) => agent?.role), prompt.ok && prompt.text.includes(key.title)];
  };
  expect(started(false)).toEqual([["judge"], true]);
  expect(started(true)[0]).toEqual(["scout", "scout"]);
});
