import { expect, test } from "vitest";
import { migrate } from "../../src/engine/migrate.ts";
import { verify } from "../../src/engine/verify/verify.ts";
import { atWork, builtIn, drive, loadText, reasonsOf } from "./drive.ts";

const done = "done: { terminal: true }";

test("after a limit of the task during the state's own work, continuing starts that work again", () => {
  const workflow = loadText(
    `version: 1\nlimits: { cost: 5 }\nstates:\n  test: { do: [run_tests], next: done }\n  ${done}`,
  );
  const task = drive(workflow);
  expect(task.task.phase).toBe("doing");
  task.request({ kind: "limit", word: "cost" });
  task.continue();
  expect(task.actions).toEqual(["run_tests"]);
  expect(task.status).toBe("test");
});

test("a limit of the task that is reached while hooks are owed leaves them owed", () => {
  const workflow = loadText(
    `version: 1\nlimits: { cost: 5 }\nstates:\n  a: { waits_for: human, next: b }\n  b: { do: [run_tests], next: done }\n  ${done}`,
  );
  const task = drive(workflow);
  task.owe().continue();
  task.request({ kind: "limit", word: "cost" });
  expect(task.task).toMatchObject({ phase: "entering", held: { word: "cost" } });
  task.settle();
  expect(task.task).toMatchObject({ status: "b", phase: "waiting", held: { word: "cost" } });
  task.continue();
  expect(task.task.phase).toBe("doing");
});

test("a limit of a state does not move a task that is held or has not settled yet", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { agent: { mode: turn, prompt: p }, limits: { time: 1h }, outcomes: [{ on: time, then: done }, { on: ok, then: done }] }\n  ${done}\nprompts: { p: Go }`,
  );
  const held = drive(workflow);
  held.ended("worker", "error");
  expect(held.task.held).toBeDefined();
  expect(held.request({ kind: "limit", word: "time", entry: held.task.entry }).kind).toBe("ignored");
  const entering = drive(workflow, { status: "a" });
  expect(entering.request({ kind: "limit", word: "time", entry: entering.task.entry }).kind).toBe("ignored");
});

test("the reason for an ending that the workflow leaves to a person says so, and names the reason before it", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { do: [run_tests], outcomes: [{ on: failed, then: b }], next: done }\n  b: { waits_for: 60s, outcomes: [{ action: mark_dead }] }\n  ${done}`,
  );
  const task = drive(workflow);
  task.did("tests", "Two tests fail.");
  expect(task.status).toBe("b");
  task.continue("engine");
  expect(task.task.held?.reason).toMatch(
    /^"b" ended with \w+, which the workflow leaves to a person\. Before that: Two tests fail\.$/,
  );
});

test("a limit on a fan-out stops the children, and a person can start them again", () => {
  const team = builtIn("team");
  const fanOut = Object.values(team.states).find((state) => state.wait.kind === "fan_out");
  const limited = {
    ...team,
    states: { ...team.states, [fanOut?.name ?? ""]: { ...fanOut, limits: { time: 60 }, rules: [] } },
  } as typeof team;
  const task = drive(limited, { settings: { skip_clarification: true } });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  task.ended("architect", "ok", { subtasks: [{ id: "a", title: "A", description: "A" }] });
  task.did("ok");
  task.request({ kind: "limit", word: "time", entry: task.task.entry });
  expect(task.actions).toEqual(["stop_children"]);
  task.continue();
  expect(task.actions).toEqual(["start_children"]);
});

test("a task whose ticket is closed while it waits for a time is held, and then waits on", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, next: b }\n  b: { waits_for: 10m, next: done }\n  ${done}`,
  );
  const task = drive(workflow);
  task.continue();
  task.request({ kind: "ticket", reason: "The ticket was closed." });
  expect(task.task).toMatchObject({ status: "b", held: { word: "ticket", again: "effects" } });
  task.continue();
  expect(task.task).toMatchObject({ status: "b", held: undefined });
});

test("a wait that is skipped asks for no evidence", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, next: b }\n  b: { unless: merged == true, agent: { prompt: p, mode: turn }, evidence: [new_commits > 0], next: c }\n  c: { waits_for: human, next: done }\n  ${done}\nprompts: { p: Go }`,
  );
  const task = drive(workflow);
  task.fact("merged", 1).fact("new_commits", 0).continue();
  expect(task.status).toBe("c");
  expect(task.task.runs).toEqual({});
});

test("a person's approval of a commit that a role has judged does not hide who judged it", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, next: b }\n  b: { do: [merge], next: done }\n  ${done}\ntransitions:\n  - { from: a, to: b, by: [critic, human], gate: { section: "## Review", verdict: PASS } }`,
  );
  const task = drive(workflow);
  task.commit("c1").write("Review", "Verdict: PASS").writtenBy("Review", { role: "critic", commit: "c1" });
  task.request({ kind: "continue", actor: { role: "human" }, word: { approves: "c1" } });
  expect(task.task).toMatchObject({ status: "b", judged: { commit: "c1", role: "critic" } });
  expect(task.events.map(({ type }) => type)).toContain("task.approved");
});

test("an agent started by a state's own work can end like any other", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, do: [{ action: spawn_agent, role: helper, prompt: p }], next: b }\n  b: { waits_for: human, next: done }\n  ${done}\nprompts: { p: Go }`,
  );
  const task = drive(workflow);
  task.continue();
  task.did("ok");
  task.ended("helper", "exit");
  expect(task.task.runs).toEqual({});
  expect(() => verify(workflow)).not.toThrow();
});

test("a session may have a stall limit, in its state or its role, and verify explores it", () => {
  const text = (limits: string, role: string) =>
    `version: 1\nroles: { coder: { prompt: p${role} } }\nstates:\n  a: { agent: { role: coder }${limits}, outcomes: [{ on: stall, then: late }, { on: ok, then: done }] }\n  late: { waits_for: human, next: a }\n  ${done}\ntransitions: [{ from: a, to: done, by: coder, gate: { section: "## Handoff" }, hooks: [kill_session, release_workspace] }]\nprompts: { p: Go }`;
  for (const workflow of [
    loadText(text(", limits: { stall: 5m }", "")),
    loadText(text("", ", limits: { stall: 5m }")),
  ]) {
    expect(verify(workflow).findings.filter((finding) => finding.level !== "note")).toEqual([]);
  }
});

test("a window's name may contain any variable, and a map is written out", () => {
  const workflow = loadText(
    `version: 1\nsettings: { models: { default: { default: large } } }\nstates:\n  a: { agent: { role: coder, mode: turn, prompt: p, window: "{branch}-{models}" }, next: done }\n  ${done}\nprompts: { p: Go }`,
  );
  const task = drive(workflow, { status: "a" });
  expect(task.effects.at(-1)?.agent?.window).toContain("signalbox/t1-");
});

test("a dead agent that is given a prompt is started with that prompt; a message comes with the respawn prompt", () => {
  const text = (notice: string) =>
    `version: 1\nstates:\n  a: { agent: { role: coder, prompt: p }, respawn_prompt: again, outcomes: [{ on: exit, then: b }] }\n  b: { waits_for: human, next: a }\n  ${done}\ntransitions:\n  - { from: b, to: a, hooks: [{ action: notify_agent, role: coder, ${notice} }] }\n  - { from: a, to: done }\nprompts: { p: Go, again: Again, q: Fix it }`;
  const told = (notice: string) => {
    const task = drive(loadText(text(notice)));
    task.ended("coder", "exit");
    task.continue();
    return task.effects.find((effect) => effect.action === "spawn_agent")?.agent;
  };
  expect(told("prompt: q")).toMatchObject({ prompt: "q" });
  expect(told("message: Look")).toMatchObject({ prompt: "again", message: "Look" });
});

test("migrating to another state ends what only the old state needed", () => {
  const workflow = builtIn("default");
  const task = drive(workflow, { status: "agent-review" });
  const decision = migrate(
    workflow,
    { ...workflow, hash: "new" },
    task.task,
    { role: "human" },
    task.facts(),
    "reviewing",
  );
  expect(decision).toMatchObject({
    kind: "moved",
    effects: expect.arrayContaining([expect.objectContaining({ action: "kill_agent" })]),
  });
});

test("a refusal because of a full pool and a missing section names both", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, next: b }\n  b: { waits_for: human, next: done }\n  ${done}\ntransitions: [{ from: a, to: b, gate: { section: "## Context" }, hooks: [acquire_workspace] }]`,
  );
  const task = drive(workflow).fillPool();
  expect(reasonsOf(task.ask("human", "b")).map((reason) => reason.code)).toEqual(["pool-full", "gate-missing"]);
});

test("an artifact that a rule asks for counts only from its owner, even where it gates no way", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { agent: { role: reviewer, prompt: p }, outcomes: [{ has_artifact: { section: "## Notes" }, then: done }, { action: crash }] }\n  ${done}\nprompts: { p: Go }`,
  );
  const task = drive(workflow);
  task.write("Notes", "written").writtenBy("Notes", { role: "reviewer", commit: "c1" }).ended("reviewer", "exit");
  expect(task.task.held).toBeDefined();
});

test("a limit of an earlier stay does not end the worker", () => {
  const task = atWork();
  expect(task.request({ kind: "limit", word: "time", entry: task.task.entry - 1 }).kind).toBe("ignored");
  expect(task.task.runs.worker).toBeDefined();
});

test("names that plain objects inherit are refused", () => {
  const file = (role: string, counter: string, state: string) =>
    `version: 1\nstates:\n  ${state}: { agent: { role: ${role}, mode: turn, prompt: p }, next: done }\n  ${done}\ntransitions: [{ from: ${state}, to: done, hooks: [{ action: increment, field: ${counter} }] }]\nprompts: { p: Go }`;
  expect(() => loadText(file("coder", "rounds", "a"))).not.toThrow();
  expect(() => loadText(file("constructor", "rounds", "a"))).toThrow(/reserved/);
  expect(() => loadText(file("coder", "constructor", "a"))).toThrow(/name of a counter/);
  expect(() => loadText(file("coder", "rounds", "constructor"))).toThrow(/cannot be used as a name/);
});

test("a person who sends work back from the merge opens three new rounds of tests", () => {
  const way = builtIn("pipeline").states.MERGE_READY?.out.IMPLEMENT?.[0];
  expect(way?.hooks).toMatchObject([{ name: "set_field", params: { field: "sent_back", value: 0 } }]);
});

test("a gate before which no agent runs needs no producer", () => {
  const workflow = loadText(
    `version: 1\nroles: { coder: { mode: session, keep: true, prompt: p } }\nstates:\n  a: { agent: { role: coder }, outcomes: [{ on: ok, then: b }, { action: crash }] }\n  b: { waits_for: human, next: done }\n  ${done}\ntransitions:\n  - { from: a, to: b, by: coder, gate: { section: "## Handoff" } }\n  - { from: b, to: done, gate: { section: "## Notes" }, hooks: [kill_session, release_workspace] }\nprompts: { p: Go }`,
  );
  expect(verify(workflow).findings.filter((finding) => finding.code === "gate-without-producer")).toEqual([]);
});

test("a run whose start was owed after a failed hook is not alive once the task has moved", () => {
  const workflow = builtIn("classic");
  const task = drive(workflow);
  task.owe().ask("human", "working");
  task.request({ kind: "unsettled", entry: task.task.entry, action: "acquire_workspace", reason: "There is none." });
  expect(task.task).toMatchObject({ held: { again: "effects" }, runs: { worker: { key: "worker#1" } } });
  task.unstarted("worker#1").ask("human", "stuck");
  expect(task.task.runs).toEqual({});
  expect(task.actions).toEqual(["kill_agent"]);
  task.settle();
  task.unstarted().ask("human", "working");
  expect(task.actions).toEqual(["spawn_agent"]);
  expect(task.task.runs).toMatchObject({ worker: { key: "worker#2" } });
});
