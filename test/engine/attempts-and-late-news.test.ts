import { expect, test } from "vitest";
import { decide } from "../../src/engine/decide.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { drive, handoff, loadText } from "./drive.ts";

const done = "done: { terminal: true }";

test("a state's own work is tried exactly as often as its attempts allow", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { do: [run_tests], limits: { attempts: 2 }, next: done }\n  ${done}`,
  );
  const task = drive(workflow);
  task.did("error", "No disk.");
  expect([task.task.held, task.actions]).toEqual([undefined, ["run_tests"]]);
  task.did("error", "No disk.");
  expect(task.task).toMatchObject({ phase: "waiting", held: { word: "error", reason: "No disk.", again: "do" } });
  expect(task.actions).toEqual([]);
});

test("an agent that is not logged in uses up no attempt and no rule: a person is needed, who can then continue", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { agent: { role: scout, mode: turn, prompt: p, limits: { attempts: 3 } }, outcomes: [{ on: failed, then: spilt }], next: done }\n  spilt: { terminal: true, outcome: failed }\n  ${done}\nprompts: { p: Look }`,
  );
  const task = drive(workflow);
  task.ended("scout", "login");
  expect(task.task).toMatchObject({ status: "a", crashCount: 0, held: { word: "login", again: "wait" } });
  task.continue();
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { role: "scout" } }]);
  task.ended("scout", "ok", {});
  expect(task.task.status).toBe("done");
});

test("an end that no retry can mend uses no further attempt, of a run, a panel's member and its judge alike", () => {
  const run = (role: string) => `{ role: ${role}, mode: turn, prompt: p, result: view }`;
  const alone = loadText(
    `version: 1\nstates:\n  a: { agent: ${run("scout")}, limits: { attempts: 3 }, next: done }\n  ${done}\nschemas: { view: { type: object } }\nprompts: { p: Look }`,
  );
  const panel = loadText(
    `version: 1\nstates:\n  a: { panel: { members: ${run("scout")}, judge: ${run("judge")} }, limits: { attempts: 3 }, next: done }\n  ${done}\nschemas: { view: { type: object } }\nprompts: { p: Look }`,
  );
  type Life = ReturnType<typeof drive>;
  const final = (workflow: Workflow, run: string, word: "error" | "login" = "error", task: Life = drive(workflow)) => {
    const ended = { kind: "ended", run, word, reason: "It refuses." } as const;
    return decide(workflow, task.task, word === "login" ? ended : { ...ended, isFinal: true }, task.facts());
  };
  const held = { task: { held: { word: "error", reason: expect.stringContaining("It refuses.") } }, effects: [] };
  expect(final(alone, "scout#1")).toMatchObject(held);
  expect(final(panel, "scout/1#1")).toMatchObject(held);
  expect(final(panel, "scout/1#1", "login")).toMatchObject(held);
  const judged = drive(panel);
  judged.ended("scout/1", "ok", {});
  expect(final(panel, "judge#2", "error", judged)).toMatchObject(held);
});

test("the judge of a panel is tried exactly as often as the attempts allow", () => {
  const run = (role: string) => `{ role: ${role}, mode: turn, prompt: p, result: view }`;
  const workflow = loadText(
    `version: 1\nstates:\n  a: { panel: { members: ${run("scout")}, judge: ${run("judge")} }, limits: { attempts: 2 }, next: done }\n  ${done}\nschemas: { view: { type: object } }\nprompts: { p: Look }`,
  );
  const task = drive(workflow);
  task.ended("scout/1", "ok", {});
  task.ended("judge", "error");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { role: "judge" } }]);
  task.ended("judge", "error");
  expect(task.effects).toEqual([]);
  expect(task.task.held).toMatchObject({ word: "error" });
});

test("a late report about an earlier stay neither settles nor holds the task", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, next: b }\n  b: { waits_for: human, next: done }\n  ${done}`,
  );
  const task = drive(workflow);
  const earlier = task.task.entry;
  task.owe().continue();
  expect(task.task).toMatchObject({ status: "b", phase: "entering" });
  expect(task.request({ kind: "settled", entry: earlier }).kind).toBe("ignored");
  expect(task.request({ kind: "unsettled", entry: earlier, action: "notify", reason: "No." }).kind).toBe("ignored");
  expect(task.task).toMatchObject({ status: "b", phase: "entering", held: undefined });
  task.settle();
  expect(task.task.phase).toBe("waiting");
});

test("while the work of a state is under way, an agent that goes idle again does not start it a second time", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { agent: { role: coder, prompt: p }, do: [run_tests], next: done }\n  ${done}\ntransitions: [{ from: a, to: done, by: coder, gate: { section: "## Handoff" } }]\nprompts: { p: Go }`,
  );
  const task = drive(workflow);
  task.write("Handoff", handoff).idle("coder");
  expect([task.task.phase, task.actions]).toEqual(["doing", ["run_tests"]]);
  expect(task.idle("coder").kind).toBe("ignored");
});

test("the engine cannot end a wait for a person", () => {
  const task = drive(loadText(`version: 1\nstates:\n  a: { waits_for: human, next: done }\n  ${done}`));
  expect(task.continue("engine").kind).toBe("rejected");
  expect(task.status).toBe("a");
});

test("a person's attendance counts for one stay only", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { waits_for: human, agent: { role: coder, prompt: p, keep: true }, next: b }\n  b: { waits_for: human, agent: { role: coder, prompt: p, keep: true }, next: done }\n  ${done}\ntransitions: [{ from: a, to: b, by: [coder, human] }, { from: b, to: done, by: [coder, human] }]\nprompts: { p: Go }`,
  );
  const task = drive(workflow);
  task.reply("I am here.");
  expect(task.ask("coder", "b").kind).toBe("moved");
  expect(task.ask("coder", "done")).toMatchObject({ kind: "rejected", reasons: [{ code: "needs-person" }] });
  task.reply("Here too.");
  expect(task.ask("coder", "done").kind).toBe("moved");
});

test("a lost run resumes its session, even where its role keeps none", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { agent: { role: coder, prompt: p }, next: done }\n  ${done}\ntransitions: [{ from: a, to: done, by: coder, gate: { section: "## Handoff" } }]\nprompts: { p: Go }`,
  );
  const task = drive(workflow);
  const first = task.task.runs.coder?.key;
  task.ended("coder", "lost");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { resume: first } }]);
});

test("a failed step is retried in the session of the earlier steps, even where its role keeps none", () => {
  const workflow = loadText(
    `version: 1\nstates:\n  a: { agent: { role: coder, mode: steps, prompt: p, step_prompt: q, limits: { attempts: 3 } }, next: done }\n  ${done}\nprompts: { p: Go, q: Go on }`,
  );
  const task = drive(workflow);
  task.ended("coder", "step");
  const second = task.task.runs.coder?.key;
  task.ended("coder", "error");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { resume: second, prompt: "q" } }]);
});
