import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually, startStage } from "./stage.ts";

test("in the workflow default a worker plans and builds, a reviewer judges, and a person merges", async () => {
  const stage = await startStage();
  const id = await stage.create("Add a greeting", { branch: "greeting", context: "Say hello." });
  await stage.until(id, ({ status }) => status === "reviewing");
  const started = (await stage.events(id)).filter(({ type }) => type === "agent.started");
  expect(started.map(({ data }) => [data.run, data.window])).toEqual([
    ["worker#1", "worker"],
    ["reviewer#2", "review-1"],
  ]);
  // The reviewer is gone; the worker is kept for the person.
  await stage.untilRun(({ key, activity }) => key === "worker#1" && activity === "idle");
  await eventually(async () => ((await stage.runs()).length === 1 ? true : undefined));
  await stage.call(routes.mergeTask, { params: { task: id }, body: {} });
  await stage.until(id, ({ phase }) => phase === "over");
  expect(stage.git(stage.repository, "log", "--oneline", "main").split("\n").length).toBeGreaterThan(2);
  expect(stage.processesOf(id, "worker#1")).toEqual([]);
  expect(await stage.runs()).toEqual([]);
});

const judged = `name: flow
version: 1
roles:
  judge: { mode: turn, harness: task, permissions: reduced, result: verdict }
schemas:
  verdict: { type: object, required: [good], properties: { good: { type: boolean } } }
states:
  todo: { waits_for: slot, next: judging }
  judging:
    agent: { role: judge, prompt: judge }
    outcomes:
      - { on: ok, result: { good: true }, then: good }
      - { on: ok, then: bad }
      - { on: invalid, then: nonsense }
      - { on: failed, then: failed }
  good: { terminal: true }
  bad: { terminal: true }
  nonsense: { terminal: true, outcome: failed }
  failed: { terminal: true, outcome: failed }
transitions:
  - { from: todo, to: judging, hooks: [acquire_workspace] }
prompts:
  judge: Judge {summary}
`;

test("a turn's answer is validated, and decides where the task goes", async () => {
  const script = `roles: { judge: [{ steps: [{ say: "I have looked." }, { answer: { good: true } }] }] }`;
  const stage = await startStage({ flow: judged, script });
  const id = await stage.create("the beans");
  await stage.until(id, ({ status }) => status === "good");
});

test("an invalid answer is asked for again in the same session", async () => {
  const script = `roles:
  judge:
    - { when: { turn: 1 }, steps: [{ answer: They are fine }] }
    - { when: { prompt: "cannot be used" }, steps: [{ answer: { good: false } }] }
`;
  const stage = await startStage({ flow: judged, script });
  const id = await stage.create("the beans");
  await stage.until(id, ({ status }) => status === "bad");
  expect((await stage.runs(true)).map(({ key }) => key)).toEqual(["judge#1"]);
});

test("an agent that never gives a valid answer ends with the outcome that the workflow names", async () => {
  const stage = await startStage({
    flow: judged,
    script: `roles: { judge: [{ steps: [{ answer: { good: perhaps } }] }] }`,
  });
  const id = await stage.create("the beans");
  await stage.until(id, ({ status }) => status === "nonsense");
});

const stepped = `name: flow
version: 1
roles:
  builder: { mode: steps, harness: task, prompt: init, step_prompt: step, marker: DONE, keep: true }
states:
  todo: { waits_for: slot, next: building }
  building:
    agent: { role: builder }
    limits: { steps: 4, attempts: 2 }
    outcomes:
      - { on: ok, then: built }
      - { on: steps, then: cut }
      - { on: failed, then: failed }
  built: { terminal: true }
  cut: { terminal: true }
  failed: { terminal: true, outcome: failed }
transitions:
  - { from: todo, to: building, hooks: [acquire_workspace] }
prompts:
  init: Build {summary}
  step: Go on
`;

test("a stepped run continues in one session until it prints DONE on a line of its own", async () => {
  const script = `roles:
  builder:
    - { when: { turn: 1 }, steps: [{ write: { file: a.txt, text: a } }, { commit: one }, { say: "Not DONE yet." }] }
    - { when: { turn: 3 }, steps: [{ say: "That was it." }, marker] }
    - { when: { prompt: Go on }, steps: [{ say: "Going on." }] }
`;
  const stage = await startStage({ flow: stepped, script });
  const id = await stage.create("a cup");
  await stage.until(id, ({ status }) => status === "built");
  const all = await stage.runs(true);
  expect(all.map(({ key }) => key)).toEqual(["builder#1", "builder#2", "builder#3"]);
  expect(new Set(all.map(({ session }) => session)).size).toBe(1);
});

test("a stepped run that never ends is cut off at its limit", async () => {
  const stage = await startStage({
    flow: stepped,
    script: `roles: { builder: [{ steps: [{ say: "More to do." }] }] }`,
  });
  const id = await stage.create("a cathedral");
  await stage.until(id, ({ status }) => status === "cut");
  expect((await stage.runs(true)).length).toBe(4);
});

test("a step that gives no sign of life is ended, and retried in a new session with the work so far", async () => {
  const script = `roles:
  builder:
    - { when: { run: 1, turn: 2 }, steps: [hang] }
    - { when: { prompt: You have worked on this before }, steps: [{ say: "I see." }, marker] }
    - { steps: [{ say: "Going on." }] }
`;
  const stage = await startStage({ flow: stepped, script, agents: "stall: 2s" });
  const id = await stage.create("a cup");
  await stage.until(id, ({ status }) => status === "built");
  const ended = (await stage.events(id)).filter(({ type, data }) => type === "agent.ended" && data.run !== undefined);
  expect(ended.map(({ data }) => data.word)).toEqual(["step", "stall", "ok"]);
});

const talked = `name: flow
version: 1
roles:
  host: { mode: dialogue, harness: task, result: order, until: { clear: true } }
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
states:
  todo: { waits_for: slot, next: asking }
  asking:
    agent: { role: host, prompt: ask }
    outcomes: [{ on: ok, then: clear }, { on: failed, then: failed }]
  clear: { terminal: true }
  failed: { terminal: true, outcome: failed }
transitions:
  - { from: todo, to: asking, hooks: [acquire_workspace] }
prompts:
  ask: "What is {summary}? So far: {log}"
`;

test("in a dialogue a person's answers reach the same session", async () => {
  const script = `roles:
  host:
    - { when: { prompt: with milk }, steps: [{ answer: { clear: true, message: "With milk then." } }] }
    - { steps: [{ answer: { clear: false, message: "Milk?" } }] }
`;
  const stage = await startStage({ flow: talked, script });
  const id = await stage.create("a coffee");
  await stage.until(id, ({ needsPerson }) => needsPerson);
  await stage.call(routes.replyTask, { params: { task: id }, body: { text: "with milk" } });
  await stage.until(id, ({ status }) => status === "clear");
  const all = await stage.runs(true);
  expect([all.length, new Set(all.map(({ session }) => session)).size]).toEqual([2, 1]);
});
