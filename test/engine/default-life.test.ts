import { expect, test } from "vitest";
import { givenCommit } from "../../src/engine/judging.ts";
import { atWork, builtIn, drive, fail, handoff, inReview, pass, plan, reasonsOf } from "./drive.ts";

test("a task goes from pending to done when worker, reviewer and person do their part", () => {
  const task = drive(builtIn("default"));
  expect(task.status).toBe("pending");
  task.continue("engine");
  expect(task.status).toBe("planning");
  expect(task.actions).toEqual(["acquire_workspace", "spawn_agent"]);
  task.write("Plan", plan).ask("worker", "working");
  expect(task.actions).toEqual([]);
  task.write("Handoff", handoff).ask("worker", "agent-review");
  expect(task.task.counters).toEqual({ review_round: 1 });
  expect(task.effects).toMatchObject([
    { action: "spawn_agent", agent: { role: "reviewer", window: "review-1", prompt: "reviewer" } },
  ]);
  expect(task.task.runs).toMatchObject({ worker: { key: "worker#1" }, reviewer: { beside: true } });
  expect(task.task.runs.worker).not.toHaveProperty("beside");
  task.write("Review", pass).ask("reviewer", "reviewing");
  expect(task.effects).toMatchObject([{ action: "kill_agent", params: { role: "reviewer" } }]);
  expect(task.task.runs).toHaveProperty("worker");
  task.fact("merged", 1).continue();
  expect(task.status).toBe("done");
  expect(task.actions).toEqual(["kill_session", "release_workspace", "delete_remote_branch", "spawn_next"]);
  expect(task.task.phase).toBe("over");
});

test("a failed review sends the same worker back with a message, and a second one makes the task stuck", () => {
  const task = inReview();
  task.write("Review", fail).ask("reviewer", "working");
  expect(task.effects).toMatchObject([
    { action: "kill_agent", params: { role: "reviewer" } },
    {
      action: "notify_agent",
      agent: { role: "worker", prompt: "", message: expect.stringContaining("Review failed") },
    },
  ]);
  task.write("Handoff", "DONE: stronger").ask("worker", "agent-review");
  expect(task.effects).toMatchObject([{ agent: { window: "review-2" } }]);
  task.write("Review", `${fail}\nStill too weak.`);
  expect(reasonsOf(task.ask("reviewer", "working"))[0]?.text).toBe(
    "Transition not allowed: review_round >= 2 (review_round is 2).",
  );
  task.ask("reviewer", "stuck");
  expect(task.status).toBe("stuck");
  expect(task.effects).toMatchObject([
    { action: "kill_agent" },
    { action: "notify_agent", agent: { role: "worker", prompt: "stuck_fix" } },
  ]);
});

test("the verdict of the previous round does not count", () => {
  const task = inReview();
  task.write("Review", fail).ask("reviewer", "working");
  task.write("Handoff", "DONE: more").ask("worker", "agent-review");
  expect(reasonsOf(task.ask("reviewer", "stuck"))).toMatchObject([{ code: "gate-spent" }]);
  // Nor does it count at the exit of a silent reviewer: the reviewer is started again, then a person is asked.
  task.ended("reviewer", "exit");
  expect(task.status).toBe("agent-review");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { window: "review-2" } }]);
  expect(task.task.counters.review_round).toBe(2);
  task.ended("reviewer", "exit");
  expect(task.status).toBe("stuck");
});

test("an unchanged handoff counts again only if there is a new commit", () => {
  const task = inReview();
  task.write("Review", fail).ask("reviewer", "working");
  expect(reasonsOf(task.ask("worker", "agent-review"))).toMatchObject([{ code: "gate-spent" }]);
  task.commit("c2").ask("worker", "agent-review");
  expect(task.status).toBe("agent-review");
});

test("work that moves during its review is reviewed again, once; then a person is asked", () => {
  const task = inReview();
  expect(givenCommit(task.task)).toBe("c1");
  const first = task.task.runs.reviewer?.key;
  task.write("Review", pass).writtenBy("Review", { role: "reviewer", commit: "c1" }).commit("c2");
  task.ask("reviewer", "reviewing");
  expect(task.status).toBe("agent-review");
  expect(task.effects).toMatchObject([
    { action: "kill_agent", params: { role: "reviewer", run: first } },
    { action: "spawn_agent", agent: { role: "reviewer", window: "review-1" } },
  ]);
  expect(givenCommit(task.task)).toBe("c2");
  task.write("Review", `${pass}\nOf c2.`).writtenBy("Review", { role: "reviewer", commit: "c2" }).commit("c3");
  task.ask("reviewer", "reviewing");
  expect(task.status).toBe("stuck");
  expect(task.task.reason).toContain("is for commit c2, but the branch is at c3");
  expect(task.task.judged).toBeUndefined();
});

test("a verdict is about the commit that its reviewer was given, a person's move about the present one", () => {
  const passed = inReview();
  passed.write("Review", pass).writtenBy("Review", { role: "reviewer", commit: "c1" }).ask("reviewer", "reviewing");
  expect(passed.task.judged).toEqual({ commit: "c1", role: "reviewer" });
  passed.commit("c2");
  passed.ask("human", "working");
  expect(passed.task.judged).toEqual({ commit: "c1", role: "reviewer" });

  const failed = inReview();
  failed.write("Review", fail).writtenBy("Review", { role: "reviewer", commit: "c1" }).commit("c2");
  failed.ask("reviewer", "working");
  // A FAIL sends work back, whatever was added to it meanwhile.
  expect([failed.status, failed.task.judged]).toEqual(["working", { commit: "c1", role: "reviewer" }]);
  failed.ask("human", "stuck");
  failed.commit("c3").ask("human", "reviewing");
  expect([failed.status, failed.task.judged]).toEqual(["reviewing", { commit: "c3", role: "human" }]);
});

test("a section counts only from the role that owns it", () => {
  const task = inReview();
  task.write("Review", pass).writtenBy("Review", { role: "worker", commit: "c1" });
  expect(reasonsOf(task.ask("reviewer", "reviewing"))).toMatchObject([{ code: "gate-author" }]);
});

test("a branch that contains the task file is refused at the gate", () => {
  const task = atWork();
  task.trackTaskFile().write("Handoff", handoff);
  expect(reasonsOf(task.ask("worker", "agent-review"))).toMatchObject([{ code: "task-file-tracked" }]);
});

test("a worker cannot pass its own review, and a killed reviewer can no longer ask", () => {
  const task = inReview();
  const reviewer = task.task.runs.reviewer?.key ?? "";
  task.write("Review", pass);
  expect(reasonsOf(task.ask("worker", "reviewing"))).toMatchObject([{ code: "not-allowed" }]);
  task.ask("reviewer", "reviewing");
  const late = task.request({ kind: "move", to: "working", actor: { role: "reviewer", run: reviewer } });
  expect(reasonsOf(late)).toMatchObject([{ code: "run-over" }]);
});

test("a worker's death with a plan moves the task, without a plan holds it, and the second time makes it stuck", () => {
  const task = drive(builtIn("default"));
  task.ask("human", "planning");
  task.ended("worker", "exit");
  expect(task.status).toBe("planning");
  expect(task.task.held).toMatchObject({ word: "exit" });
  expect(task.task.crashCount).toBe(1);
  task.respawn();
  expect(task.effects).toMatchObject([
    { action: "spawn_agent", agent: { prompt: "worker_respawn", window: "worker" } },
  ]);
  task.ended("worker", "exit");
  expect(task.status).toBe("stuck");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { role: "worker", prompt: "stuck_fix" } }]);

  const planned = drive(builtIn("default"));
  planned.ask("human", "planning");
  planned.write("Plan", plan).ended("worker", "exit");
  expect(planned.status).toBe("working");
  // The state working needs a live worker, so the worker is started again.
  expect(planned.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "worker_respawn" } }]);
});

test("the end of a run is judged once", () => {
  const task = atWork();
  const run = task.task.runs.worker?.key ?? "";
  task.request({ kind: "ended", run, word: "exit" });
  expect(task.task.crashCount).toBe(1);
  expect(task.request({ kind: "ended", run, word: "exit" })).toMatchObject({ kind: "ignored" });
  task.respawn();
  expect(task.request({ kind: "ended", run, word: "exit" })).toMatchObject({ kind: "ignored" });
  expect(task.task.crashCount).toBe(1);
});

test("a worker that dies during review is started again when it is needed", () => {
  const task = inReview();
  task.ended("worker", "exit");
  expect(task.status).toBe("agent-review");
  task.write("Review", fail).ask("reviewer", "working");
  expect(task.effects).toMatchObject([
    { action: "kill_agent" },
    {
      action: "spawn_agent",
      agent: { role: "worker", prompt: "worker_respawn", message: expect.stringContaining("Review failed") },
    },
  ]);
});

test("the crash count returns to 0 only after the last effect", () => {
  const task = atWork();
  task.ended("worker", "exit");
  task.respawn();
  task.owe().write("Handoff", handoff).ask("worker", "agent-review");
  expect(task.task.crashCount).toBe(1);
  task.settle();
  expect(task.task.crashCount).toBe(0);
  expect(task.settle()).toMatchObject({ kind: "ignored" });
});

test("a failed effect holds the task in its state until a person retries", () => {
  const task = atWork();
  task.owe().write("Handoff", handoff).ask("worker", "agent-review");
  task.request({ kind: "unsettled", entry: task.task.entry, action: "spawn_agent", reason: "no tmux" });
  expect(task.status).toBe("agent-review");
  expect(task.task.held).toMatchObject({ reason: "spawn_agent failed: no tmux", again: "effects" });
  task.continue();
  expect(task.task.held).toBeUndefined();
  task.settle();
  expect(task.task.phase).toBe("waiting");
});

test("a run that was lost in a reboot is resumed, and not counted as a crash", () => {
  const task = atWork();
  const run = task.task.runs.worker?.key ?? "";
  task.ended("worker", "lost");
  expect(task.task.crashCount).toBe(0);
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { role: "worker", resume: run } }]);
});

test("an agent can leave a state that waits for a person only after the person attended, and where `by` allows it", () => {
  const task = atWork();
  task.ask("worker", "clarification");
  expect(reasonsOf(task.ask("worker", "planning"))).toMatchObject([{ code: "needs-person" }]);
  task.reply("Ethiopian beans");
  expect(task.task.attended).toBe(true);
  expect(reasonsOf(task.ask("worker", "planning"))).toMatchObject([{ code: "not-allowed" }]);
  task.continue();
  expect(task.status).toBe("planning");
});

test("stuck cannot be used to skip the review", () => {
  const task = atWork();
  task.ask("worker", "stuck");
  task.reply("Go on");
  expect(reasonsOf(task.ask("worker", "reviewing"))).toMatchObject([{ code: "not-allowed" }]);
  task.ask("human", "reviewing");
  expect(task.status).toBe("reviewing");
});

test("a person's request for changes opens two new review rounds", () => {
  const task = inReview();
  task.write("Review", pass).ask("reviewer", "reviewing");
  task.ask("human", "working");
  expect(task.task.counters.review_round).toBe(0);
  expect(task.effects).toMatchObject([
    { action: "notify_agent", agent: { message: expect.stringContaining("asks for changes") } },
  ]);
});

test("a task is not done before its work is merged", () => {
  const task = inReview();
  task.write("Review", pass).ask("reviewer", "reviewing");
  expect(reasonsOf(task.continue())).toMatchObject([{ code: "guard", text: "The work is not merged yet." }]);
  expect(task.status).toBe("reviewing");
});

test("an idle worker is told twice what is missing, then the task is held for a person", () => {
  const task = atWork();
  task.idle("worker");
  expect(task.effects).toMatchObject([
    {
      action: "notify_agent",
      agent: { message: expect.stringMatching(/## Handoff is missing.*--status agent-review/) },
    },
  ]);
  task.idle("worker");
  task.idle("worker");
  expect(task.task.held).toMatchObject({ word: "idle" });
  expect(task.task.held?.reason).toBe(
    "worker is quiet. ## Handoff is missing from the task file. Write ## Handoff, then ask again.",
  );
});

test("a finished turn with the artifact moves the task like an exit", () => {
  const task = atWork();
  task.write("Handoff", handoff).idle("worker");
  expect(task.status).toBe("agent-review");
});

test("an empty summary starts with the clarification prompt in a workspace", () => {
  const task = drive(builtIn("default"), { summary: " " });
  expect(task.status).toBe("clarification");
  const created = task.events[0];
  expect(created).toMatchObject({ type: "task.created", data: { status: "clarification" } });
  expect(task.task.runs.worker).toBeDefined();
});

test("a task created in review gets a workspace and a reviewer of round 1", () => {
  const task = drive(builtIn("default"), { status: "agent-review" });
  expect(task.effects).toMatchObject([
    { action: "acquire_workspace" },
    { action: "spawn_agent", agent: { role: "reviewer", window: "review-1" } },
  ]);
  const classic = drive(builtIn("classic"), { status: "agent-review" });
  expect(classic.effects).toMatchObject([
    { action: "acquire_workspace" },
    {
      action: "spawn_agent",
      agent: { role: "reviewer", prompt: "reviewer", spec: { harness: "review", permissions: "reduced" } },
    },
  ]);
  expect(classic.task.counters.review_round).toBe(1);
});

test("a task in a terminal state never moves again", () => {
  const task = atWork();
  task.ask("human", "cancelled");
  expect(task.actions).toEqual(["kill_session", "release_workspace"]);
  expect(reasonsOf(task.ask("human", "working"))).toMatchObject([
    { code: "terminal", fix: expect.stringContaining("--from t1") },
  ]);
  expect(reasonsOf(task.continue())).toMatchObject([{ code: "terminal" }]);
});

test("a key without content on its own line does not open a gate, and the refusal quotes the line", () => {
  const task = drive(builtIn("default"));
  task.ask("human", "planning");
  task.write("Plan", "APPROACH:\npour-over");
  expect(reasonsOf(task.ask("worker", "working"))).toMatchObject([
    { code: "gate-field", text: '## Plan has the line "APPROACH:" with nothing after the colon.' },
  ]);
});

test("a verdict in another form is refused, and the refusal quotes the line", () => {
  const task = inReview();
  task.write("Review", "Looks good to me.\nVerdict: PASS");
  expect(reasonsOf(task.ask("reviewer", "reviewing"))).toMatchObject([
    { code: "gate-verdict", text: 'The first line of ## Review is "Looks good to me.", which is not a verdict.' },
  ]);
  task.write("Review", "**Verdict: pass**\n\nFine.").ask("reviewer", "reviewing");
  expect(task.status).toBe("reviewing");
});

test("a full pool refuses before the status moves", () => {
  const task = drive(builtIn("default")).fillPool();
  expect(reasonsOf(task.continue())).toMatchObject([{ code: "pool-full" }]);
  expect(reasonsOf(task.ask("human", "planning"))).toMatchObject([{ code: "pool-full" }]);
  expect(reasonsOf(task.continue("engine"))).toMatchObject([{ code: "pool-full" }]);
  expect(task.status).toBe("pending");
  expect(task.ask("human", "cancelled").kind).toBe("moved");
});

test("fields count in a list and in bold, but not in the middle of a line", () => {
  for (const line of ["DONE: brewed", "- DONE: brewed", "**DONE:** brewed", "* **DONE**: brewed", "  DONE: brewed"]) {
    const task = atWork();
    task.write("Handoff", line).ask("worker", "agent-review");
    expect([line, task.status]).toEqual([line, "agent-review"]);
  }
  for (const line of ["All is DONE: brewed", "DONE brewed", "done: brewed", "**DONE:**"]) {
    const task = atWork();
    task.write("Handoff", line).ask("worker", "agent-review");
    expect([line, task.status]).toEqual([line, "working"]);
  }
});

test("a worker is told that commits after a review need another one, also when it is started again", () => {
  const { worker, worker_respawn } = builtIn("default").prompts;
  expect(worker).toContain("Later commits need another review.");
  expect(worker_respawn).toContain("After a review, further commits need another one.");
});
