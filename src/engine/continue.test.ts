import { expect, test } from "vitest";
import { atWork, inReview, pass, reasonsOf } from "../../test/engine/drive.ts";

const human = { role: "human" };

/** A `default` task whose work a person is asked to merge. */
function atPerson() {
  const task = inReview();
  task.write("Review", pass).writtenBy("Review", { role: "reviewer", commit: "c1" }).ask("reviewer", "reviewing");
  return task;
}

/** A `default` task whose worker has asked a question. */
function asking() {
  const task = atWork();
  task.ask("worker", "clarification");
  return task;
}

const told = (task: ReturnType<typeof atWork>) =>
  task.effects.flatMap(({ action, agent }) => (agent === undefined ? [] : [[action, agent.run, agent.message]]));

test("a live agent that continues gets the person's message", () => {
  const task = asking();
  task.request({ kind: "continue", actor: human, word: { tell: "Read it." } });
  expect(task.status).toBe("planning");
  expect(told(task)).toEqual([["notify_agent", "worker#1", "Read it."]]);
});

test("a dead agent is started with the message after its prompt", () => {
  const task = asking();
  task.ended("worker", "exit");
  task.request({ kind: "continue", actor: human, word: { tell: "Read it." } });
  expect(told(task)).toEqual([["spawn_agent", "worker#2", "Read it."]]);
  expect(task.effects[0]?.agent?.prompt).toBe("worker_respawn");
});

test("no message is added where the workflow sends the agent one", () => {
  const task = atPerson();
  task.request({ kind: "move", to: "working", actor: human, word: { tell: "Read it." } });
  expect(told(task)).toEqual([["notify_agent", "worker#1", expect.stringContaining("The human asks for changes")]]);
});

test("a request for another stay, or for a task that was held in the meantime, is refused", () => {
  const task = asking();
  const { entry } = task.task;
  const late = task.request({ kind: "continue", actor: human, word: { tell: "Read it.", entry: entry - 1 } });
  expect(reasonsOf(late)).toEqual([expect.objectContaining({ code: "moved-on" })]);
  task.request({ kind: "unsettled", entry, action: "notify", reason: "It fell over." });
  const held = task.request({ kind: "continue", actor: human, word: { tell: "Read it.", entry } });
  expect(reasonsOf(held)[0]?.text).toContain("It fell over.");
  expect(task.status).toBe("clarification");
});

test("an approval is recorded with its commit, and refused where the branch is at another commit", () => {
  const task = atPerson();
  task.fact("merged", 1).commit("c2");
  const stale = task.request({ kind: "continue", actor: human, word: { approves: "c1" } });
  expect(reasonsOf(stale)).toEqual([expect.objectContaining({ code: "moved-on" })]);
  task.request({ kind: "continue", actor: human, word: { approves: "c2" } });
  expect(task.status).toBe("done");
  expect(task.events.filter(({ type }) => type === "task.approved")).toMatchObject([{ data: { commit: "c2" } }]);
});

test("a reminder reaches the agent of the state: a live one as a message, a dead one by a new start", () => {
  const task = atWork();
  const remind = () => task.request({ kind: "remind", actor: human, word: { tell: "Read it." } });
  expect(remind()).toMatchObject({ kind: "stayed" });
  expect(told(task)).toEqual([["notify_agent", "worker#1", "Read it."]]);
  const gone = asking();
  gone.ended("worker", "exit");
  gone.request({ kind: "remind", actor: human, word: { tell: "Read it." } });
  expect(told(gone)).toEqual([["spawn_agent", "worker#2", "Read it."]]);
  expect(gone.status).toBe("clarification");
  expect(reasonsOf(remindOver())).toEqual([expect.objectContaining({ code: "terminal" })]);

  function remindOver() {
    task.ask("human", "cancelled");
    return remind();
  }
});

test("a live agent whose task a person moves without a message is told to continue", () => {
  for (const request of [{ kind: "continue" } as const, { kind: "move", to: "planning" } as const]) {
    const task = asking();
    task.request({ ...request, actor: human, word: { wake: "Go on." } });
    expect(task.status).toBe("planning");
    expect(told(task)).toEqual([["notify_agent", "worker#1", "Go on."]]);
  }
});

test("an agent that is started, gets the workflow's message, or is not needed is not told to continue", () => {
  const dead = asking();
  dead.ended("worker", "exit");
  dead.request({ kind: "continue", actor: human, word: { wake: "Go on." } });
  const reviewed = atPerson();
  reviewed.request({ kind: "move", to: "working", actor: human, word: { wake: "Go on." } });
  const working = atWork();
  working.request({ kind: "move", to: "stuck", actor: human, word: { wake: "Go on." } });
  const stuck = atWork();
  stuck.ask("worker", "stuck");
  stuck.request({ kind: "continue", actor: human, word: { wake: "Go on." } });
  for (const task of [dead, reviewed, working, stuck]) expect(JSON.stringify(told(task))).not.toContain("Go on.");
});
