import { expect, test } from "vitest";
import { parseTaskDocument } from "../../src/documents/task-document.ts";
import { createTask } from "../../src/engine/create.ts";
import { decide } from "../../src/engine/decide.ts";
import { apply, type Decision } from "../../src/engine/decision.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { migrate } from "../../src/engine/migrate.ts";
import type { Facts, Request, RunEnd } from "../../src/engine/request.ts";
import { blankIdentity, type Task } from "../../src/engine/task.ts";

// One test for each sentence of the checklist at the end of docs/workflow-language.md, in the same words.

test("A request for a state without a way is refused, and says which states can be asked for.", () => {
  const life = begin("states: { a: , b: , c: { terminal: true } }\ntransitions: [{ from: a, to: b }]");
  expect(life.move("c")).toEqual([
    { code: "no-transition", text: 'There is no transition from "a" to "c".', fix: 'From "a", human can ask for b.' },
  ]);
});

test("`by` limits who may ask; without it every actor of the task may.", () => {
  const life = begin(`
states: { a: { agent: { prompt: p }, waits_for: human }, b: , c: { terminal: true } }
transitions: [{ from: a, to: b, by: human }, { from: a, to: c }]
prompts: { p: x }`);
  life.request({ kind: "reply", actor: human, text: "hello" });
  expect(codes(life.move("b", "worker"))).toEqual(["not-allowed"]);
  expect(life.move("c", "worker")).toEqual([]);
});

test("Rules take a way whatever its `by` says.", () => {
  const life = begin("states: { a: { next: b }, b: { terminal: true } }\ntransitions: [{ from: a, to: b, by: human }]");
  life.settle();
  expect(life.task.status).toBe("b");
});

test("Guards and gates bind everybody: agents, people and rules.", () => {
  const life = begin(`
states: { a: { waits_for: slot, next: b }, b: { terminal: true } }
transitions: [{ from: a, to: b, when: merged == true, gate: { section: "## Notes" } }]`);
  life.settle();
  expect(codes(life.move("b"))).toEqual(["guard", "gate-missing"]);
  life.request({ kind: "continue", actor: engine });
  expect(life.task).toMatchObject({ status: "a", held: { word: "ok" } });
});

test("A refused request changes nothing and names everything that is missing.", () => {
  const life = begin(`
states: { a: , b: { terminal: true } }
transitions: [{ from: a, to: b, when: [merged == true, commits > 0], gate: [{ section: "## A" }, { section: "## B" }] }]`);
  const before = life.task;
  expect(codes(life.move("b"))).toEqual(["guard", "guard", "gate-missing", "gate-missing"]);
  expect(life.task).toBe(before);
});

test("`any` stands for every state that is not terminal, and a specific pair beats it.", () => {
  const { workflow } = begin(`
states: { a: , b: , c: { terminal: true }, d: { terminal: true } }
transitions: [{ from: any, to: c, by: human }, { from: b, to: c, by: engine }]`);
  expect(workflow.ways.map(({ from, to, by }) => `${from} ${to} ${by?.join()}`)).toEqual(["a c human", "b c engine"]);
});

test("A rule's target without a transition gets a way that only the engine may take.", () => {
  const life = begin("states: { a: { waits_for: human, next: b }, b: { terminal: true } }");
  expect(codes(life.move("b"))).toEqual(["not-allowed"]);
  life.request({ kind: "continue", actor: human });
  expect(life.task.status).toBe("b");
});

test("A refusal says which value was found and which is needed: facts about the work in plain words, everything else as the author wrote it.", () => {
  const life = begin(`
settings: { most: { default: 2 } }
states: { a: , b: { terminal: true } }
transitions: [{ from: a, to: b, when: [merged == true, "commits > {most}"] }]`);
  expect(life.move("b").map(({ text, fix }) => `${text} ${fix}`)).toEqual([
    "The work is not merged yet. Merge it: signalbox task merge t1",
    "Transition not allowed: commits <= {most} (commits is 0). It needs commits > {most}. To see what is open: signalbox task explain t1",
  ]);
});

test("A way whose hooks acquire a workspace is closed while all workspaces of the project are taken.", () => {
  const life = begin(
    "states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, hooks: [acquire_workspace] }]",
  );
  life.poolFull = true;
  life.numbers = { workspace: 0 };
  expect(codes(life.move("b"))).toEqual(["pool-full"]);
  life.numbers = { workspace: 1 };
  expect(life.move("b")).toEqual([]);
});

test("A full pool refuses a request, a creation and the engine's `continue` before the status moves, and holds nothing.", () => {
  const text = `
states: { a: { waits_for: slot, next: b }, b: , c: { agent: { prompt: p } }, d: { terminal: true } }
transitions: [{ from: a, to: b, by: human, hooks: [acquire_workspace] }]
prompts: { p: x }`;
  const life = begin(text);
  life.settle();
  life.poolFull = true;
  life.numbers = { workspace: 0 };
  const before = life.task;
  expect(codes(life.move("b"))).toEqual(["pool-full"]);
  for (const actor of [human, engine]) expect(codes(life.request({ kind: "continue", actor }))).toEqual(["pool-full"]);
  expect(life.task).toBe(before);
  life.poolFull = false;
  life.request({ kind: "continue", actor: engine });
  expect(life.task.status).toBe("b");
  for (const status of ["b", "c"]) expect(() => begin(text, { status }, true, { workspace: 0 })).toThrow("pool-full");
  expect(begin(text, {}, true).task.status).toBe("a");
});

test("Nothing leads out of a terminal state.", () => {
  const life = begin("states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b }]");
  life.move("b");
  expect(codes(life.move("a"))).toEqual(["terminal"]);
  expect(codes(life.request({ kind: "continue", actor: human }))).toEqual(["terminal"]);
});

test("A run that is over cannot ask for anything.", () => {
  const life = begin(`${session}\ntransitions: [{ from: a, to: b }]`);
  expect(codes(life.request({ kind: "move", to: "b", actor: { role: "worker", run: "worker#7" } }))).toEqual([
    "run-over",
  ]);
  expect(codes(life.request({ kind: "move", to: "b", actor: { role: "reviewer" } }))).toEqual(["run-over"]);
});

test("Guards are compared with what their fields can be: `visits` is at least 1, and nothing that is counted is negative.", () => {
  const ways = (one: string, other: string) => () =>
    begin(`
states: { a: , b: { terminal: true } }
transitions: [{ from: a, to: b, when: ${one} }, { from: a, to: b, when: ${other}, hooks: [{ action: increment, field: round }] }]`);
  expect(ways("visits <= 1", "visits < 1")).not.toThrow();
  expect(ways("visits <= 1", "visits < 2")).toThrow("open to everyone when visits = 1");
  for (const field of ["round", "commits", "crash_count"]) {
    expect(ways(`${field} <= 0`, `${field} < 0`)).not.toThrow();
    expect(ways(`${field} <= 0`, `${field} < 1`)).toThrow(`open to everyone when ${field} = 0`);
  }
});

test("Runs that are not kept end first, then come the hooks in order, then the new state's wait begins.", () => {
  const life = begin(`
states: { a: { agent: { role: one, prompt: p } }, b: { agent: { role: two, prompt: p } }, c: { terminal: true } }
transitions: [{ from: a, to: b, by: human, hooks: [sync_repo, push_branch] }]
prompts: { p: x }`);
  life.move("b");
  expect(life.actions).toEqual(["kill_agent one", "sync_repo", "push_branch", "spawn_agent two"]);
});

test("Counters change before anything is started.", () => {
  const life = begin(`
states: { a: , b: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [{ action: spawn_agent, prompt: p, window: "r-{round}" }, { action: increment, field: round }] }]
prompts: { p: x }`);
  life.move("b");
  expect(life.effects[0]?.agent?.window).toBe("r-1");
});

test("When a task enters a state, its live agent is told the prompt, an agent without a prompt is left alone, and a dead agent is started.", () => {
  const text = (prompt: string) => `
roles: { worker: { keep: true } }
states: { a: { agent: { prompt: p } }, b: { agent: { ${prompt} }, respawn_prompt: r }, c: { terminal: true } }
transitions: [{ from: a, to: b, by: human }]
prompts: { p: x, r: x }`;
  const told = begin(text("prompt: p"));
  told.move("b");
  expect(told.actions).toEqual(["notify_agent worker"]);
  const left = begin(text(""));
  left.move("b");
  expect(left.actions).toEqual([]);
  const dead = begin(text(""));
  dead.ended("worker", "exit");
  dead.move("b");
  expect(dead.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "r" } }]);
});

test("A role that a hook started or told is not started or told again by the state.", () => {
  const life = begin(`
states: { a: , b: { agent: { prompt: p } }, c: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [{ action: spawn_agent, prompt: q }] }]
prompts: { p: x, q: x }`);
  life.move("b");
  expect(life.effects.map((effect) => effect.agent?.prompt)).toEqual(["q"]);
});

test("`keep` lets a run outlive the state; otherwise it ends with it.", () => {
  const text = (keep: boolean) => `
states: { a: { agent: { prompt: p, keep: ${keep} } }, b: , c: { terminal: true } }
transitions: [{ from: a, to: b, by: human }]
prompts: { p: x }`;
  const kept = begin(text(true));
  kept.move("b");
  expect(Object.keys(kept.task.runs)).toEqual(["worker"]);
  const ended = begin(text(false));
  ended.move("b");
  expect(ended.task.runs).toEqual({});
});

test("A role never has two live agents: `spawn_agent` tells a live one its prompt.", () => {
  const life = begin(`
roles: { worker: { keep: true } }
states: { a: { agent: { prompt: p } }, b: , c: { terminal: true } }
transitions: [{ from: a, to: b, by: human, hooks: [{ action: spawn_agent, prompt: q }] }]
prompts: { p: x, q: x }`);
  life.move("b");
  expect(life.effects).toMatchObject([{ action: "notify_agent", agent: { run: "worker#1", prompt: "q" } }]);
});

test("A prompt that `spawn_agent` does not give comes from its role.", () => {
  const life = begin(`
roles: { worker: { prompt: p } }
states: { a: , b: , c: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [{ action: spawn_agent, role: worker }] }]
prompts: { p: x }`);
  life.move("b");
  expect(life.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "p" } }]);
});

test("The effect that starts an agent describes its run as the file does.", () => {
  const life = begin(`
settings: { models: { default: { a: large } }, desk: { default: left } }
roles: { any: { tools: [read], limits: { stall: 5m } }, coder: { mode: steps, prompt: p, marker: READY, permissions: reduced } }
states: { a: { agent: { role: coder, model: "{models}", window: "coder-{desk}", limits: { steps: 9 } } }, b: { terminal: true } }
prompts: { p: x }`);
  expect(life.effects).toMatchObject([
    {
      action: "spawn_agent",
      agent: {
        role: "coder",
        run: "coder#1",
        prompt: "p",
        model: "large",
        window: "coder-left",
        resume: "",
        spec: {
          mode: "steps",
          harness: "task",
          permissions: "reduced",
          tools: ["read"],
          result: undefined,
          marker: "READY",
          limits: { steps: 9, stall: 300 },
        },
      },
    },
  ]);
});

test("The name of a window may use any variable.", () => {
  const life = begin(`
states: { a: , b: { agent: { prompt: p, window: "{project}-{status}-{number}" } }, c: { terminal: true } }
transitions: [{ from: a, to: b }]
prompts: { p: x }`);
  life.move("b");
  expect(life.effects[0]?.agent?.window).toBe("coffee-b-1");
});

test("`notify_agent` starts a dead agent: with its prompt alone, or with its message and the respawn prompt of the state.", () => {
  const started = (notice: string) => {
    const life = begin(`
states: { a: , b: { agent: { role: worker }, respawn_prompt: r }, c: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [{ action: notify_agent, role: worker, ${notice} }] }]
prompts: { r: x, q: x }`);
    life.move("b");
    return life.effects;
  };
  expect(started("prompt: q")).toMatchObject([{ action: "spawn_agent", agent: { prompt: "q", message: "" } }]);
  expect(started("message: Hello")).toMatchObject([
    { action: "spawn_agent", agent: { prompt: "r", message: "Hello" } },
  ]);
});

test("Leaving a fan-out stops its children, unless all have ended.", () => {
  const text = `
states:
  a: { agent: { mode: turn, prompt: p, result: plan }, next: b }
  b: { fan_out: { from: plan.parts, workflow: part }, next: c }
  c: { terminal: true }
transitions: [{ from: b, to: c, by: human }]
prompts: { p: x }
schemas: { plan: { type: object, properties: { parts: { type: array } } } }`;
  const [left, through] = [begin(text), begin(text)];
  for (const life of [left, through]) {
    life.settle();
    life.ended("worker", "ok", { parts: [{ id: "1", title: "One" }] });
    life.settle();
  }
  left.move("c");
  expect(left.actions).toEqual(["stop_children"]);
  through.request({ kind: "children", entry: through.task.entry, word: "ok" });
  expect(through.events.map(({ type }) => type)).toEqual(["children.ended", "task.moved"]);
  expect(through.actions).toEqual([]);
});

test("`crash_count` returns to 0 when all effects of a move are done.", () => {
  const life = begin(`
states: { a: { agent: { mode: turn, prompt: p }, outcomes: [{ then: b }] }, b: { waits_for: human }, c: { terminal: true } }
prompts: { p: x }`);
  life.settle();
  life.ended("worker", "error");
  expect(life.task).toMatchObject({ status: "b", crashCount: 1 });
  life.settle();
  expect(life.task.crashCount).toBe(0);
});

test("A run that fails before that counts as the first failure in the new state, and stays counted.", () => {
  const life = begin(`
roles: { worker: { mode: turn } }
states:
  a: { agent: { role: worker, prompt: p }, outcomes: [{ then: b }] }
  b: { agent: { role: worker, prompt: p }, limits: { attempts: 3 }, outcomes: [{ on: failed, then: stuck }, { then: c }] }
  stuck: { waits_for: human }
  c: { terminal: true }
prompts: { p: x }`);
  life.settle();
  life.ended("worker", "error");
  expect(life.task).toMatchObject({ status: "b", crashCount: 1, phase: "entering" });
  life.ended("worker", "error");
  expect(life.task).toMatchObject({ status: "b", crashCount: 1, phase: "entering" });
  life.settle();
  expect(life.task).toMatchObject({ crashCount: 1, phase: "waiting" });
  life.ended("worker", "error");
  expect(life.task).toMatchObject({ status: "b", crashCount: 2 });
  life.ended("worker", "error");
  expect(life.task.status).toBe("stuck");
});

test("`crash_count` stays when a held task is continued or its agent is respawned, if a rule or guard uses it: repeated accidents escalate even if a person starts the agent again.", () => {
  const text = `
roles: { worker: { mode: session, keep: true } }
states:
  a:
    agent: { role: worker, prompt: p }
    respawn_prompt: p
    outcomes: [{ then: c }, { action: crash, stuck_after: 3 }]
  stuck: { waits_for: human }
  c: { terminal: true }
transitions: [{ from: a, to: c, gate: { section: "## Handoff" } }]
prompts: { p: x }`;
  const life = begin(text);
  life.settle();
  life.ended("worker", "exit");
  expect(life.task).toMatchObject({ status: "a", held: { word: "exit" }, crashCount: 1 });
  life.request({ kind: "continue", actor: human });
  expect(life.task).toMatchObject({ held: undefined, crashCount: 1 });
  life.ended("worker", "exit");
  expect(life.task).toMatchObject({ status: "a", crashCount: 2 });
  life.numbers = { workspace: 1 };
  life.request({ kind: "respawn", actor: human });
  expect(life.task).toMatchObject({ held: undefined, crashCount: 2 });
  life.ended("worker", "exit");
  expect(life.task.status).toBe("stuck");
});

test("A task leaves a state without a wait as soon as all effects of the move are done.", () => {
  const life = begin("states: { a: { next: b }, b: { terminal: true } }");
  expect(life.task).toMatchObject({ status: "a", phase: "entering" });
  life.settle();
  expect(life.task.status).toBe("b");
});

test("A task in a state with neither wait nor work nor rules stays there until a request moves it.", () => {
  const life = begin("states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b }]");
  life.settle();
  expect(life.task).toMatchObject({ status: "a", phase: "waiting", held: undefined });
});

test("`unless` skips the wait, which then counts as ok.", () => {
  const text = `
settings: { auto: { default: false } }
states: { a: { waits_for: human, unless: auto == true, next: b }, b: { terminal: true } }`;
  const asked = begin(text);
  asked.settle();
  expect(asked.task.status).toBe("a");
  const skipped = begin(text, { settings: { auto: true } });
  skipped.settle();
  expect(skipped.task.status).toBe("b");
});

test("Only a person continues `waits_for: human`; an agent may ask for a way out once a person has answered or attached.", () => {
  const life = begin(`
states: { a: { agent: { prompt: p }, waits_for: human }, b: { terminal: true } }
transitions: [{ from: a, to: b }]
prompts: { p: x }`);
  life.settle();
  expect(codes(life.request({ kind: "continue", actor: engine }))).toEqual(["not-waiting"]);
  expect(codes(life.move("b", "worker"))).toEqual(["needs-person"]);
  life.request({ kind: "reply", actor: human, text: "yes" });
  expect(life.move("b", "worker")).toEqual([]);
});

test("The end of an agent that is available in `waits_for: human` decides nothing.", () => {
  const life = begin(`
states: { a: { agent: { prompt: p }, waits_for: human, next: b }, b: { terminal: true } }
prompts: { p: x }`);
  life.settle();
  life.ended("worker", "exit");
  expect(life.task).toMatchObject({ status: "a", held: undefined, crashCount: 0, runs: {} });
});

test("`waits_for: slot` and `waits_for: 60s` are continued by the engine or by a person.", () => {
  for (const wait of ["slot", "60s"]) {
    for (const actor of [engine, human]) {
      const life = begin(`states: { a: { waits_for: ${wait}, next: b }, b: { terminal: true } }`);
      life.settle();
      expect(life.task.status).toBe("a");
      life.request({ kind: "continue", actor });
      expect(life.task.status).toBe("b");
    }
  }
});

test("The state's own work comes after the wait ended ok, and before the rules.", () => {
  const life = begin("states: { a: { waits_for: slot, do: [run_tests], next: b }, b: { terminal: true } }");
  life.settle();
  life.request({ kind: "continue", actor: engine });
  expect(life.task).toMatchObject({ status: "a", phase: "doing" });
  expect(life.actions).toEqual(["run_tests"]);
  life.did("ok");
  expect(life.task.status).toBe("b");
});

test("A granted request leaves the state immediately, without performing its work.", () => {
  const life = begin(`
states: { a: { waits_for: human, do: [merge], next: b }, b: { terminal: true }, c: { terminal: true } }
transitions: [{ from: a, to: c, by: human }]`);
  life.settle();
  life.move("c");
  expect(life.task.status).toBe("c");
  expect(life.actions).toEqual([]);
});

test("The first rule that fits and whose way is open is taken.", () => {
  const life = begin(`
states:
  a: { do: [run_tests], outcomes: [{ on: tests, when: visits > 5, then: b }, { on: tests, then: c }, { on: tests, then: d }], next: b }
  b: { terminal: true }
  c: { terminal: true }
  d: { terminal: true }
transitions: [{ from: a, to: c, by: engine, when: merged == true }]`);
  life.settle();
  life.did("tests");
  expect(life.task.status).toBe("d");
});

test("The `reason` of a rule is reported first, and the reason of the ending after it.", () => {
  const rules =
    "[{ on: tests, action: mark_dead, reason: So it is. }, { when: commits == 0, then: b, reason: Nothing. }]";
  const text = `states: { a: { do: [run_tests], outcomes: ${rules} }, b: { waits_for: human }, c: { terminal: true } }
transitions: [{ from: b, to: c }]`;
  const held = begin(text);
  held.settle();
  held.did("tests", "3 tests failed.");
  expect(held.task.held?.reason).toBe("So it is. 3 tests failed.");
  const moved = begin(text);
  moved.settle();
  moved.did("ok");
  expect(moved.task).toMatchObject({ status: "b", reason: "Nothing." });
});

test("The `when` of a rule limits what its `then_when` must cover.", () => {
  const choices = (when: string) => () =>
    begin(`
states:
  a: { outcomes: [{ ${when} then_when: [{ when: visits < 3, then: b }, { when: visits == 3, then: c }] }] }
  b: { terminal: true }
  c: { terminal: true }`);
  expect(choices("")).toThrow('The choices of "a" leave out visits = 4.');
  expect(choices("when: visits < 4,")).not.toThrow();
});

test("`failed` covers every word but `ok`.", () => {
  for (const word of ["error", "tests", "untested"]) {
    const life = begin(
      "states: { a: { do: [run_tests], outcomes: [{ on: failed, then: c }], next: b }, b: { terminal: true }, c: { terminal: true } }",
    );
    life.settle();
    life.did(word);
    expect(life.task.status).toBe("c");
  }
});

test("A word for a person is covered only by a rule that names it; without one the task is held.", () => {
  const flow = (rules: string) =>
    `states: { a: { do: [merge], outcomes: [${rules}], next: b }, b: { terminal: true }, c: { terminal: true } }`;
  const after = (rules: string) => {
    const life = begin(flow(rules));
    life.settle();
    life.did("protected");
    return life.task;
  };
  expect(after("{ on: failed, then: c }")).toMatchObject({ status: "a", held: { word: "protected", again: "do" } });
  expect(after("{ when: visits < 9, then: c }")).toMatchObject({ status: "a", held: { word: "protected" } });
  expect(after("{ on: protected, then: c }, { on: failed, then: c }").status).toBe("c");
});

test("Accidents are counted and retried while `attempts` last; other words are never retried.", () => {
  const text =
    "states: { a: { do: [run_tests], limits: { attempts: 3 }, outcomes: [{ on: failed, then: c }], next: b }, b: { terminal: true }, c: { terminal: true } }";
  const life = begin(text);
  life.settle();
  life.did("error");
  life.did("error");
  expect(life.task).toMatchObject({ status: "a", crashCount: 2 });
  life.did("error");
  expect(life.task.status).toBe("c");
  const answered = begin(text);
  answered.settle();
  answered.did("tests");
  expect(answered.task).toMatchObject({ status: "c", crashCount: 0 });
});

test("A retry waits for the time that `backoff` sets.", () => {
  const life = begin(`
states: { a: { agent: { mode: turn, prompt: p }, limits: { attempts: 4, backoff: { first: 5s, factor: 2, max: 15s } }, next: b }, b: { terminal: true } }
prompts: { p: x }`);
  life.settle();
  const delays = [1, 2, 3].map(() => {
    life.ended("worker", "error");
    return life.effects[0]?.delay;
  });
  expect(delays).toEqual([5, 10, 15]);
});

test("A session ends ok only if it wrote what opens a way; an exit proves nothing.", () => {
  const silent = begin(`${session}\n${gated}`);
  silent.settle();
  silent.ended("worker", "ok");
  expect(silent.task).toMatchObject({ status: "a", held: { word: "exit" } });
  const wrote = begin(`${session}\n${gated}`);
  wrote.settle();
  wrote.write("## Handoff\nDone.");
  wrote.ended("worker", "exit");
  expect(wrote.task.status).toBe("b");
});

test("A session that goes quiet counts as ended if it wrote what opens a way; else it is reminded twice, then the task is held.", () => {
  const wrote = begin(`${session}\n${gated}`);
  wrote.settle();
  wrote.write("## Handoff\nDone.");
  wrote.request({ kind: "idle", run: "worker#1" });
  expect(wrote.task.status).toBe("b");
  const quiet = begin(`${session}\n${gated}`);
  quiet.settle();
  for (let i = 0; i < 2; i++) {
    quiet.request({ kind: "idle", run: "worker#1" });
    expect(quiet.actions).toEqual(["notify_agent worker"]);
  }
  quiet.request({ kind: "idle", run: "worker#1" });
  expect(quiet.task.held).toMatchObject({ word: "idle" });
});

test("An answer that does not fit its schema ends the turn with `invalid`; one that fits is kept as a result.", () => {
  const text = `
states: { a: { agent: { mode: turn, prompt: p, result: r }, outcomes: [{ result: { good: true }, then: b }] }, b: { terminal: true } }
prompts: { p: x }
schemas: { r: { type: object, required: [good], properties: { good: { type: boolean } } } }`;
  const wrong = begin(text);
  wrong.settle();
  wrong.ended("worker", "ok", { good: "very" });
  expect(wrong.task.held).toMatchObject({ word: "invalid", reason: 'good must be true or false, but is "very".' });
  const right = begin(text);
  right.settle();
  right.ended("worker", "ok", { good: true });
  expect(right.task).toMatchObject({ status: "b", results: { r: { good: true } } });
});

test("A stepped run goes on until its marker (`ok`) or the limit (`steps`).", () => {
  const text = `
states: { a: { agent: { mode: steps, prompt: p, step_prompt: q }, limits: { steps: 3 }, outcomes: [{ on: steps, then: c }], next: b }, b: { terminal: true }, c: { terminal: true } }
prompts: { p: x, q: x }`;
  const life = begin(text);
  life.settle();
  life.ended("worker", "step");
  expect(life.effects).toMatchObject([{ agent: { prompt: "q", resume: "worker#1" } }]);
  life.ended("worker", "step");
  life.ended("worker", "step");
  expect(life.task.status).toBe("c");
  const done = begin(text);
  done.settle();
  done.ended("worker", "ok");
  expect(done.task.status).toBe("b");
});

test("`steps` on `notify_agent` replaces the step limit for that visit.", () => {
  const life = begin(`
states: { a: , b: { agent: { mode: steps, prompt: p }, limits: { steps: 9 }, outcomes: [{ on: steps, then: c }] }, c: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [{ action: notify_agent, role: worker, prompt: p, steps: 1 }] }]
prompts: { p: x }`);
  life.move("b");
  life.settle();
  life.ended("worker", "step");
  expect(life.task.status).toBe("c");
});

test("A dialogue continues until the answer fits `until` and is confirmed, or the rounds are used up.", () => {
  const text = `
states:
  a: { agent: { mode: dialogue, prompt: p, result: r, until: { ready: true }, confirm: true }, limits: { rounds: 3 }, outcomes: [{ on: rounds, then: c }], next: b }
  b: { terminal: true }
  c: { terminal: true }
prompts: { p: x }
schemas: { r: { type: object, properties: { ready: { type: boolean }, message: { type: string } } } }`;
  const life = begin(text);
  life.settle();
  life.ended("worker", "ok", { ready: false, message: "Which?" });
  expect(life.task.wait.turn).toBe("reply");
  life.reply("The blue one");
  expect(life.actions).toEqual(["spawn_agent worker"]);
  life.ended("worker", "ok", { ready: true, message: "Blue, then." });
  expect(life.task).toMatchObject({ status: "a", wait: { turn: "confirm" } });
  life.reply("Yes.");
  expect(life.task.status).toBe("b");
  const talk = begin(text);
  talk.settle();
  for (let i = 0; i < 3; i++) {
    talk.ended("worker", "ok", { ready: true, message: "This?" });
    talk.reply("Yes, but smaller");
  }
  expect(talk.task.status).toBe("c");
});

test("`ok` reaches the rules only with the state's `evidence`; an agent that ended without it is started again once and told what is missing, which costs no attempt, and then the state ends with `missing`.", () => {
  const text = `
states: { a: { agent: { prompt: p, mode: turn }, evidence: [new_commits > 0, dirty == 0], do: [harvest_uncommitted], next: b }, b: { terminal: true } }
prompts: { p: x }`;
  const good = begin(text, {}, false, { new_commits: 1, dirty: 0 });
  good.settle();
  good.ended("worker", "ok");
  good.did("ok");
  expect(good.task.status).toBe("b");

  const tracked = begin(text, {}, false, { new_commits: 1, dirty: 0 });
  tracked.settle();
  tracked.taskFileTracked = true;
  tracked.ended("worker", "ok");
  tracked.did("ok");
  expect(tracked.task).toMatchObject({ status: "a", wait: { reminded: 1 } });
  expect(tracked.effects[0]?.agent?.message).toContain("git rm --cached TASK.md");

  const life = begin(text, {}, false, { new_commits: 0, dirty: 1 });
  const ends = () => {
    life.ended("worker", "ok");
    expect(life.actions).toEqual(["harvest_uncommitted"]);
    life.did("ok");
  };
  life.settle();
  ends();
  expect(life.task).toMatchObject({ status: "a", phase: "waiting", entry: 1, crashCount: 0, held: undefined });
  expect(life.effects).toMatchObject([{ action: "spawn_agent", agent: { run: "worker#2", prompt: "p" } }]);
  const [said] = life.effects.map(({ agent }) => agent?.message ?? "");
  expect(said).toContain('The branch has no new commit since the task entered "a". Commit the work.');
  expect(said).toContain("The workspace has uncommitted changes.");
  ends();
  expect(life.task).toMatchObject({ status: "a", crashCount: 0, held: { word: "missing", again: "wait" } });
  expect(life.task.held?.reason).toContain("The branch has no new commit");
  life.request({ kind: "continue", actor: human });
  expect(life.actions).toEqual(["spawn_agent worker"]);
  ends();
  expect(life.task.held).toBeUndefined();
  life.numbers = { new_commits: 2, dirty: 0 };
  ends();
  expect(life.task.status).toBe("b");

  const ruled = begin(text.replace("next: b", "outcomes: [{ on: missing, then: b }]"));
  for (let i = 0; i < 2; i++) {
    ruled.ended("worker", "ok");
    ruled.did("ok");
  }
  expect(ruled.task.status).toBe("b");
});

test("A panel starts one member for each model, and the judge when all members have ended; without a usable answer it ends with `error`.", () => {
  const text = `
settings: { models: { default: [small, large] } }
states:
  a:
    panel: { members: { role: scout, mode: turn, prompt: p, result: r, model: "{models}" }, judge: { role: judge, mode: turn, prompt: p, result: r } }
    outcomes: [{ on: error, then: c }]
    next: b
  b: { terminal: true }
  c: { terminal: true }
prompts: { p: x }
schemas: { r: { type: object, properties: { found: { type: string } } } }`;
  const life = begin(text);
  expect(life.effects.map((effect) => `${effect.agent?.run} ${effect.agent?.model}`)).toEqual([
    "scout/1#1 small",
    "scout/2#2 large",
  ]);
  life.settle();
  life.ended("scout/1", "error");
  expect(life.actions).toEqual([]);
  life.ended("scout/2", "ok", { found: "a defect" });
  expect(life.actions).toEqual(["spawn_agent judge"]);
  expect(life.task.results).toEqual({ r: [{ found: "a defect" }] });
  life.ended("judge", "ok", { found: "nothing" });
  expect(life.task).toMatchObject({ status: "b", results: { r: { found: "nothing" } } });
  const none = begin(text);
  none.settle();
  none.ended("scout/1", "error");
  none.ended("scout/2", "ok", { found: 7 });
  expect(none.task.status).toBe("c");
});

test("With `prompts` a panel has one member for each prompt and each model, and a member that is tried again gets its own.", () => {
  const text = `
settings: { models: { default: [small, large] } }
states:
  a:
    panel:
      members: { role: scout, mode: turn, result: r, model: "{models}", limits: { attempts: 2 } }
      prompts: [security, speed]
      judge: { role: judge, mode: turn, prompt: p, result: r }
    next: b
  b: { terminal: true }
prompts: { p: x, security: Is it safe?, speed: Is it fast? }
schemas: { r: { type: object, properties: { found: { type: string } } } }`;
  const life = begin(text);
  const asked = () => life.effects.map(({ agent }) => `${agent?.run} ${agent?.model} ${agent?.prompt}`);
  expect(asked()).toEqual([
    "scout/1#1 small security",
    "scout/2#2 large security",
    "scout/3#3 small speed",
    "scout/4#4 large speed",
  ]);
  life.settle();
  life.ended("scout/3", "error");
  expect(asked()).toEqual(["scout/3#5 small speed"]);
  for (const member of [1, 2, 3, 4]) life.ended(`scout/${member}`, "ok", { found: `${member}` });
  expect(life.task.results).toEqual({ r: ["1", "2", "3", "4"].map((found) => ({ found })) });
  expect(life.actions).toEqual(["spawn_agent judge"]);
});

test("A plan that could never be finished is an `invalid` answer, and the reason names the items; a fan-out without a plan ends with `invalid`.", () => {
  const text = `
states:
  a: { agent: { mode: turn, prompt: p, result: plan, limits: { attempts: 2 } }, next: b }
  b: { fan_out: { from: plan.parts, workflow: part }, next: c }
  c: { terminal: true }
prompts: { p: x }
schemas: { plan: { type: object, properties: { parts: { type: array } } } }`;
  const reason = "1 needs 2, which is not among the items. Add such an item, or remove that need.";
  const life = begin(text);
  life.settle();
  life.ended("worker", "ok", { parts: [{ id: "1", title: "One", needs: ["2"] }] });
  expect(life.actions).toEqual(["spawn_agent worker"]);
  expect(life.task).toMatchObject({ status: "a", reason, results: {} });
  life.ended("worker", "ok", { parts: [{ id: "1", title: "One", needs: ["2"] }] });
  const last = `worker failed 2 times in a row. The last plan of worker was refused: ${reason}`;
  expect(life.task).toMatchObject({ status: "a", held: { word: "invalid", reason: last } });
  const unplanned = begin(
    text.replace("agent: { mode: turn, prompt: p, result: plan, limits: { attempts: 2 } }, ", ""),
  );
  unplanned.settle();
  unplanned.settle();
  expect(unplanned.task).toMatchObject({ status: "b", held: { word: "invalid" } });
});

const reviewing = `
roles:
  critic: { mode: turn, permissions: reduced, prompt: p, result: r, limits: { attempts: 2 } }
  coder: { mode: turn, permissions: full, prompt: p, result: r }
states:
  a:
    agent: { role: critic }
    outcomes:
      - { result: { good: true }, when: open_findings == 0, then: c }
      - { on: ok, when: quiet_rounds > 0, then: d }
      - { on: ok, then: b }
  b: { agent: { role: coder }, next: a }
  c: { terminal: true }
  d: { terminal: true, outcome: failed }
prompts: { p: x }
schemas: { r: { type: object, properties: { good: { type: boolean }, findings: { type: array } } } }`;
const cold = { title: "It is cold", file: "cup.ts", severity: "high", evidence: "20 degrees in the cup" };

test("Findings of a judge's answer are taken into the ledger, which guards and prompts read; those of other roles are not.", () => {
  const life = begin(reviewing);
  life.settle();
  life.ended("critic", "ok", { good: true, findings: [cold] });
  expect(life.task).toMatchObject({
    status: "b",
    ledger: { round: 1, findings: [{ id: "F1", state: "open", by: "critic" }] },
  });
  life.settle();
  const { ledger } = life.task;
  life.ended("coder", "ok", {
    good: true,
    findings: [
      { id: "F1", state: "fixed" },
      { title: "No sugar", file: "cup.ts" },
    ],
  });
  expect(life.task.status).toBe("a");
  expect(life.task.ledger).toEqual(ledger);
  life.settle();
  life.ended("critic", "ok", { good: true, findings: [{ id: "F1", state: "fixed" }] });
  expect(life.task).toMatchObject({ status: "c", ledger: { round: 2, findings: [{ id: "F1", state: "fixed" }] } });
});

test("A review that leaves out an open finding is `invalid`, and the reason names it.", () => {
  const life = begin(reviewing);
  life.settle();
  life.ended("critic", "ok", { findings: [cold] });
  life.settle();
  life.ended("coder", "ok", {});
  life.settle();
  const { ledger } = life.task;
  life.ended("critic", "ok", { good: true });
  expect(life.task).toMatchObject({ status: "a", crashCount: 1, ledger });
  expect(life.task.reason).toMatch(/^The answer says nothing about the open finding F1\. Add an entry/);
  life.ended("critic", "ok", { good: true, findings: [] });
  expect(life.task).toMatchObject({ status: "a", held: { word: "invalid" }, ledger });
});

test("A finding is closed by a review that names its id, or by a person, and opened again only if its file has changed and the evidence is new; a fixed one that a review names by its id needs no new evidence.", () => {
  const life = begin(reviewing);
  const cold = { title: "It is cold", file: "cup.ts", line: 3, severity: "high", evidence: "20 degrees in the cup" };
  life.settle();
  life.ended("critic", "ok", { findings: [cold, { title: "No lid", file: "cup.ts" }] });
  const decide = (state: "approved" | "dismissed", findings: readonly string[], actor: { role: string } = human) =>
    life.request({ kind: "finding", actor, findings, state, reason: "" });
  life.settle();
  expect(codes(decide("dismissed", ["F2"], { role: "coder" }))).toEqual(["only-human"]);
  expect(codes(decide("dismissed", ["F1", "F9"]))).toEqual(["bad-value"]);
  expect(decide("dismissed", ["F2"])).toEqual([]);
  expect(codes(decide("approved", ["F2"]))).toEqual(["bad-value"]);
  life.head = "c2";
  life.ended("coder", "ok", {});
  life.settle();
  const states = () => life.task.ledger?.findings.map(({ state }) => state);
  const again = { ...cold, evidence: "The new pot never reaches 60 degrees" };
  life.ended("critic", "ok", {
    findings: [
      { id: "F1", state: "fixed" },
      { id: "F2", evidence: "Everything new" },
    ],
  });
  expect(states()).toEqual(["fixed", "dismissed"]);
  for (const [entry, closedAt, changed, state] of [
    [cold, "c2", ["cup.ts"], "fixed"],
    [again, "c2", [], "fixed"],
    [{ id: "F1" }, "c2", [], "fixed"],
    [again, "c2", ["cup.ts"], "open"],
    [{ id: "F1", state: "fixed" }, "c2", [], "fixed"],
    [{ id: "F1" }, "c2+++++", ["cup.ts"], "open"],
  ] as const) {
    life.settle();
    life.head = `${life.head}+`;
    life.changedSince = { [closedAt]: changed };
    life.ended("coder", "ok", {});
    life.settle();
    life.ended("critic", "ok", { good: false, findings: [entry] });
    expect(states()).toEqual([state, "dismissed"]);
  }
});

test("A review that changed neither the branch nor the ledger adds to `quiet_rounds`.", () => {
  const life = begin(reviewing);
  life.settle();
  life.ended("critic", "ok", { findings: [cold] });
  life.settle();
  life.ended("coder", "ok", {});
  life.settle();
  life.ended("critic", "ok", { findings: [{ id: "F1" }] });
  expect(life.task).toMatchObject({ status: "d", ledger: { round: 2, quiet: 1 } });
});

test("A run can end with `invalid` only if it has a `result`, and a session with `stall` only if it has that limit.", () => {
  const knows = (run: string, word: string) => {
    const rules = `[{ on: ${word}, then: b }]`;
    return () =>
      begin(`
states: { a: { agent: { prompt: p, ${run} }, outcomes: ${rules} }, b: { terminal: true } }
prompts: { p: x }
schemas: { r: { properties: { good: { type: boolean } } } }`);
  };
  for (const mode of ["turn", "steps"]) {
    expect(knows(`mode: ${mode}`, "invalid")).toThrow('"a" never ends with "invalid".');
    expect(knows(`mode: ${mode}, result: r`, "invalid")).not.toThrow();
    expect(knows(`mode: ${mode}`, "stall")).not.toThrow();
  }
  expect(knows("mode: session", "stall")).toThrow('"a" never ends with "stall".');
  expect(knows("mode: session, limits: { stall: 5m }", "stall")).not.toThrow();
});

test("A limit of a state ends what the state waits for and asks the rules; a limit of the task ends everything and holds it.", () => {
  const text = `
limits: { cost: 5 }
states:
  a: { agent: { role: helper, prompt: p, keep: true } }
  b: { agent: { mode: turn, prompt: p }, limits: { time: 5m }, outcomes: [{ on: time, then: c }], next: d }
  c: { waits_for: human }
  d: { terminal: true }
transitions: [{ from: a, to: b, by: human }]
prompts: { p: x }`;
  const [visit, whole] = [begin(text), begin(text)];
  for (const life of [visit, whole]) {
    life.move("b");
    life.settle();
  }
  visit.request({ kind: "limit", word: "time", entry: visit.task.entry });
  expect(visit.task).toMatchObject({ status: "c", runs: { helper: { key: "helper#1" } } });
  expect(visit.actions).toEqual(["kill_agent worker"]);
  whole.request({ kind: "limit", word: "cost" });
  expect(whole.task).toMatchObject({ status: "b", held: { word: "cost" }, runs: {} });
  expect(whole.actions).toEqual(["kill_session"]);
});

test("A limit of a state does not count while the task is held or entering; during the work it ends the work with that word.", () => {
  const text =
    "states: { a: { do: [run_tests], limits: { time: 5m }, outcomes: [{ on: time, then: c }], next: b }, b: { terminal: true }, c: { terminal: true } }";
  const time = (life: ReturnType<typeof begin>) => ({ kind: "limit", word: "time", entry: life.task.entry }) as const;
  const [working, held] = [begin(text), begin(text)];
  expect(decide(working.workflow, working.task, time(working), working.facts())).toMatchObject({ kind: "ignored" });
  working.settle();
  working.request(time(working));
  expect(working.task.status).toBe("c");
  held.settle();
  held.did("tests");
  expect(held.task.held).toMatchObject({ word: "tests" });
  expect(decide(held.workflow, held.task, time(held), held.facts())).toMatchObject({ kind: "ignored" });
});

test("A limit of the task that is reached during the work of a state starts that work again on `continue`.", () => {
  const life = begin(
    "limits: { cost: 5 }\nstates: { a: { waits_for: slot, do: [run_tests], next: b }, b: { terminal: true } }",
  );
  life.settle();
  life.request({ kind: "continue", actor: engine });
  life.request({ kind: "limit", word: "cost" });
  expect(life.task).toMatchObject({ status: "a", held: { word: "cost" } });
  life.request({ kind: "continue", actor: human });
  expect(life.task).toMatchObject({ status: "a", phase: "doing", held: undefined });
  expect(life.actions).toEqual(["run_tests"]);
});

test("A state without a wait of its own may have a limit on time.", () => {
  const life = begin(`
states: { a: { limits: { time: 1h } }, b: { terminal: true } }
exit_monitoring: { rules: [{ status: a, on: time, then: b }] }`);
  life.settle();
  life.request({ kind: "limit", word: "time", entry: life.task.entry });
  expect(life.task.status).toBe("b");
});

test("A run that was lost with its machine is started again in its session, and costs no attempt.", () => {
  const life = begin(session);
  life.settle();
  life.ended("worker", "lost");
  expect(life.task).toMatchObject({ status: "a", crashCount: 0, held: undefined });
  expect(life.effects).toMatchObject([{ action: "spawn_agent", agent: { resume: "worker#1" } }]);
});

test("A task that no rule covers is held for a person, with the reason; `continue` starts it again.", () => {
  const life = begin("states: { a: { do: [run_tests], next: b }, b: { terminal: true } }");
  life.settle();
  life.did("tests", "3 tests failed.");
  expect(life.task).toMatchObject({ status: "a", held: { word: "tests", reason: "3 tests failed." } });
  life.request({ kind: "continue", actor: human });
  expect(life.task).toMatchObject({ phase: "doing", held: undefined, crashCount: 0 });
  expect(life.actions).toEqual(["run_tests"]);
});

test("`action: crash` holds the task; at `<state>_after` failures it goes to that state past gate and guard, with the hooks of the ordinary way.", () => {
  const life = begin(`
states: { a: { agent: { prompt: p }, respawn_prompt: p, outcomes: [{ action: crash, stuck_after: 2 }] }, stuck: { waits_for: human }, b: { terminal: true } }
transitions: [{ from: a, to: stuck, by: worker, when: merged == true, gate: { section: "## Review" }, hooks: [notify] }]
prompts: { p: x }`);
  life.settle();
  life.ended("worker", "exit");
  expect(life.task).toMatchObject({ status: "a", held: { word: "exit" }, crashCount: 1 });
  life.numbers = { workspace: 1 };
  life.request({ kind: "respawn", actor: human });
  life.ended("worker", "exit");
  expect(life.task.status).toBe("stuck");
  expect(life.actions).toEqual(["notify"]);
});

test("`<state>_after` with a state that does not exist leaves the task held.", () => {
  const life = begin(`
states: { a: { agent: { prompt: p }, outcomes: [{ action: crash, nowhere_after: 1 }] }, b: { terminal: true } }
prompts: { p: x }`);
  life.settle();
  life.ended("worker", "exit");
  expect(life.task).toMatchObject({ status: "a", held: { word: "exit" } });
});

test("The engine continues a held task only where its word is temporary.", () => {
  for (const [word, refused] of [
    ["unapproved", []],
    ["error", ["only-human"]],
  ] as const) {
    const life = begin("states: { a: { do: [merge_pr], next: b }, b: { terminal: true } }");
    life.settle();
    life.did(word);
    expect(codes(life.request({ kind: "continue", actor: engine }))).toEqual(refused);
  }
});

test("Checking a temporary word again is no second failure: however often the engine checks, nothing escalates.", () => {
  const life = begin(`
states:
  a: { do: [merge_pr], outcomes: [{ on: ok, then: b }, { action: crash, stuck_after: 2 }] }
  stuck: { waits_for: human }
  b: { terminal: true }`);
  life.settle();
  for (const _ of [1, 2, 3]) {
    life.did("unapproved");
    expect(life.task).toMatchObject({ status: "a", held: { word: "unapproved" }, crashCount: 1 });
    life.request({ kind: "continue", actor: engine });
    expect(life.task).toMatchObject({ held: undefined, crashCount: 0 });
  }
});

test("A failed hook holds the task in its new state until its effects are done.", () => {
  const life = begin(
    "states: { a: , b: , c: { terminal: true } }\ntransitions: [{ from: a, to: b, hooks: [push_branch] }]",
  );
  life.move("b");
  life.request({ kind: "unsettled", entry: life.task.entry, action: "push_branch", reason: "no remote" });
  expect(life.task).toMatchObject({
    status: "b",
    phase: "entering",
    held: { reason: "push_branch failed: no remote", again: "effects" },
  });
  life.request({ kind: "continue", actor: human });
  life.settle();
  expect(life.task).toMatchObject({ status: "b", phase: "waiting", held: undefined });
});

test("A person's `continue` that no rule can follow is refused with the reasons.", () => {
  const life = begin(`
states: { a: { waits_for: human, next: b }, b: { terminal: true } }
transitions: [{ from: a, to: b, by: human, when: merged == true }]`);
  life.settle();
  const before = life.task;
  expect(codes(life.request({ kind: "continue", actor: human }))).toEqual(["guard"]);
  expect(life.task).toBe(before);
});

test("A section that has not changed since the task entered its state is spent; without a verdict it counts again once the branch has moved.", () => {
  const life = begin(`
states: { a: , b: , c: { terminal: true } }
transitions: [{ from: a, to: b }, { from: b, to: c, gate: { section: "## Notes" } }]`);
  life.write("## Notes\nDone.");
  life.head = "1";
  life.move("b");
  expect(codes(life.move("c"))).toEqual(["gate-spent"]);
  life.head = "2";
  expect(life.move("c")).toEqual([]);
});

test("A verdict that has not changed since the task entered its state never counts again.", () => {
  const life = begin(`
states: { a: , b: , c: { terminal: true } }
transitions: [{ from: a, to: b }, { from: b, to: c, gate: { section: "## Review", verdict: PASS } }]`);
  life.write("## Review\nPASS");
  life.head = "1";
  life.move("b");
  life.head = "2";
  expect(codes(life.move("c"))).toEqual(["gate-spent"]);
  life.write("## Review\nPASS, once more");
  expect(life.move("c")).toEqual([]);
});

test("All sections that existed when the task entered its state are spent, also those that another one hid.", () => {
  const life = begin(`
states: { a: , b: , c: { terminal: true } }
transitions: [{ from: a, to: b }, { from: b, to: c, gate: { section: "## Review", verdict: PASS } }]`);
  life.write("## Review\nPASS\n\n## Review\nFAIL");
  life.move("b");
  life.write("## Review\nPASS");
  expect(codes(life.move("c"))).toEqual(["gate-spent"]);
  life.write("## Notes\nPASS\n\n## Review\nPASS, after all");
  expect(life.move("c")).toEqual([]);
});

test("A PASS for another commit than the branch is at is stale; a FAIL counts.", () => {
  const life = begin(
    'states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Review", verdict: PASS } }]',
  );
  life.write("## Review\nPASS");
  life.head = "2222";
  life.artifacts = { Review: { role: "reviewer", commit: "1111" } };
  expect(codes(life.move("b"))).toEqual(["gate-stale"]);
  life.artifacts = { Review: { role: "reviewer", commit: "2222" } };
  expect(life.move("b")).toEqual([]);
  const failed = begin(
    'states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Review", verdict: FAIL } }]',
  );
  failed.write("## Review\nFAIL");
  failed.head = "2222";
  failed.artifacts = { Review: { role: "reviewer", commit: "1111" } };
  expect(failed.move("b")).toEqual([]);
});

test("A judge that asks with a stale PASS is over; another one begins with the present commit while attempts are left.", () => {
  const life = begin(`
roles: { critic: { mode: session, permissions: reduced, prompt: p } }
states:
  a: { waits_for: human, next: review }
  review: { agent: { role: critic }, limits: { attempts: 2 }, outcomes: [{ then: b }, { on: failed, then: c }] }
  b: { terminal: true }
  c: { terminal: true, outcome: failed }
transitions: [{ from: review, to: b, by: critic, gate: { section: "## Review", verdict: PASS } }]
prompts: { p: Judge. }`);
  life.head = "1111";
  life.request({ kind: "continue", actor: human });
  const first = life.task.runs.critic?.key ?? "";
  life.write("## Review\nPASS");
  life.artifacts = { Review: { role: "critic", commit: "1111" } };
  life.head = "2222";
  const asksAs = (run: string) => life.request({ kind: "move", to: "b", actor: { role: "critic", run } });
  asksAs(first);
  expect([life.task.status, life.task.runs.critic?.key !== first, life.task.wait.at]).toEqual(["review", true, "2222"]);
  life.write("## Review\nPASS, again");
  life.artifacts = { Review: { role: "critic", commit: "2222" } };
  life.head = "3333";
  asksAs(life.task.runs.critic?.key ?? "");
  expect(life.task.status).toBe("c");
});

test("A section counts only if a role that owns it wrote it.", () => {
  const life = begin(
    'states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, by: [reviewer, human], gate: { section: "## Review" } }]',
  );
  life.write("## Review\nFine.");
  life.artifacts = { Review: { role: "worker", commit: "" } };
  expect(codes(life.move("b"))).toEqual(["gate-author"]);
  life.artifacts = { Review: { role: "reviewer", commit: "" } };
  expect(life.move("b")).toEqual([]);
});

test("A gate out of a state in which no agent runs accepts any author; a section that gates no way is the worker's.", () => {
  const by = (role: string, text: string) => {
    const life = begin(text);
    life.settle();
    life.write("## Notes\nDone.");
    life.artifacts = { Notes: { role, commit: "" } };
    return life;
  };
  const nobody = `states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Notes" } }]`;
  for (const role of ["worker", "reviewer"]) expect(by(role, nobody).move("b")).toEqual([]);
  const ungated = `
states: { a: { agent: { role: reviewer, prompt: p }, outcomes: [{ has_artifact: { section: "## Notes" }, then: b }] }, b: { terminal: true } }
prompts: { p: x }`;
  for (const [role, status] of [
    ["worker", "b"],
    ["reviewer", "a"],
  ] as const) {
    const life = by(role, ungated);
    life.ended("reviewer", "exit");
    expect(life.task.status).toBe(status);
  }
});

test("With `first_line` the verdict is the first line that is not empty; otherwise the first PASS or FAIL counts.", () => {
  const opens = (gate: string, body: string) => {
    const life = begin(
      `states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Review", verdict: PASS${gate} } }]`,
    );
    life.write(`## Review\n${body}`);
    return life.move("b").length === 0;
  };
  expect(opens(", first_line: true", "\nVerdict: PASS\nThough one test may FAIL.")).toBe(true);
  expect(opens(", first_line: true", "**Verdict: pass**")).toBe(true);
  expect(opens(", first_line: true", "All is well.\nVerdict: PASS")).toBe(false);
  expect(opens("", "All is well: pass.")).toBe(true);
  expect(opens("", "FAIL, though it could PASS.")).toBe(false);
  expect(opens("", "It passes.")).toBe(false);
});

test("A gate with `fields` needs one of these keys at the start of a line, with content behind its colon on the same line.", () => {
  expect(handoffOpens("Hello\nDONE: everything")).toBe(true);
  expect(handoffOpens("DONE:\nUNCERTAIN: the name")).toBe(true);
  expect(handoffOpens("DONE:\neverything")).toBe(false);
  expect(handoffOpens("All DONE: everything")).toBe(false);
  expect(handoffOpens("REMAINING: something")).toBe(false);
});

test("A field may be indented, in a list or in bold; capitals count.", () => {
  for (const line of ["  DONE: x", "- DONE: x", "* DONE: x", "**DONE:** x", "**DONE**: x", "- _DONE_: x"])
    expect(handoffOpens(line), line).toBe(true);
  for (const line of ["done: x", "Done: x", "**DONE:**", "- DONE:\n  x"]) expect(handoffOpens(line), line).toBe(false);
});

test("Of sections with the same heading the last one counts.", () => {
  const life = begin(
    'states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Review", verdict: PASS } }]',
  );
  life.write("## Review\nPASS\n\n## Review\nFAIL");
  expect(codes(life.move("b"))).toEqual(["gate-verdict"]);
});

test("No gate opens while the branch contains the task file.", () => {
  const life = begin(
    'states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Notes" } }]',
  );
  life.write("## Notes\nDone.");
  life.taskFileTracked = true;
  expect(codes(life.move("b"))).toEqual(["task-file-tracked"]);
});

test("`visits` counts the entries of a state since a person last moved the task.", () => {
  const life = begin(`
states: { a: { waits_for: slot, outcomes: [{ when: visits < 3, then: a }] }, b: { terminal: true } }
transitions: [{ from: a, to: a, by: [engine, human] }]`);
  const go = () => {
    life.settle();
    life.request({ kind: "continue", actor: engine });
  };
  go();
  go();
  go();
  expect(life.task).toMatchObject({ entry: 3, held: { word: "ok" } });
  life.move("a");
  go();
  expect(life.task).toMatchObject({ entry: 5, held: undefined });
});

test("Entries are counted only in states where a condition asks for `visits`.", () => {
  const life = begin(`
states: { a: { waits_for: slot, next: b }, b: { waits_for: slot, outcomes: [{ when: visits < 3, then: a }] }, c: { terminal: true } }`);
  for (let i = 0; i < 3; i++) {
    life.settle();
    life.request({ kind: "continue", actor: engine });
  }
  expect(life.task).toMatchObject({ status: "b", visits: { b: 2 } });
  expect(Object.keys(life.task.visits)).toEqual(["b"]);
});

test("A task starts in the first state of `initial`, and without a summary in `unclear`.", () => {
  const text = "initial: [b, a]\nunclear: c\nstates: { a: , b: , c: , d: { terminal: true } }";
  expect(begin(text).task.status).toBe("b");
  expect(begin(text, { summary: " " }).task.status).toBe("c");
});

test("A task may be created only where `initial` says; without `initial`, in every state that is not terminal.", () => {
  const states = "states: { a: , b: , c: { terminal: true } }";
  expect(() => begin(`initial: a\n${states}`, { status: "b" })).toThrow("not-allowed");
  expect(begin(states, { status: "b" }).task.status).toBe("b");
  expect(() => begin(states, { status: "c" })).toThrow("not-allowed");
});

test("Created elsewhere, a task performs the hooks of the way from the first state; without such a way it takes a workspace and starts the agent.", () => {
  const text = `
states: { a: , b: { agent: { prompt: p } }, c: { agent: { prompt: p } }, d: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [sync_repo] }]
prompts: { p: x }`;
  expect(begin(text, { status: "b" }).actions).toEqual(["sync_repo", "spawn_agent worker"]);
  expect(begin(text, { status: "c" }).actions).toEqual(["acquire_workspace", "spawn_agent worker"]);
});

test("`respawn` starts a dead agent again in its state: no counter changes, and its failures stay counted.", () => {
  const life = begin(`
states: { a: { agent: { prompt: p }, respawn_prompt: r, outcomes: [{ action: crash }] }, b: { terminal: true } }
prompts: { p: x, r: x }`);
  life.settle();
  expect(codes(life.request({ kind: "respawn", actor: human }))).toEqual(["still-alive"]);
  life.ended("worker", "exit");
  life.request({ kind: "respawn", actor: human });
  expect(life.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "r" } }]);
  expect(life.task).toMatchObject({ status: "a", entry: 1, crashCount: 1, held: undefined });
});

test("If a run or tests are to begin and the task has no workspace, the engine acquires one first.", () => {
  const life = begin(
    `
states: { a: { agent: { prompt: p, mode: turn }, respawn_prompt: p, do: [run_tests], next: b }, b: , c: { terminal: true } }
transitions: [{ from: b, to: c, by: human, hooks: [release_workspace, { action: run_command, command: [tidy] }, run_tests] }]
prompts: { p: x }`,
    {},
    false,
    { workspace: 0 },
  );
  expect(life.actions).toEqual(["acquire_workspace", "spawn_agent worker"]);
  life.settle();
  life.ended("worker", "error");
  life.request({ kind: "respawn", actor: human });
  expect(life.actions).toEqual(["acquire_workspace", "spawn_agent worker"]);
  life.numbers = { workspace: 1 };
  life.ended("worker", "error");
  life.request({ kind: "respawn", actor: human });
  expect(life.actions).toEqual(["spawn_agent worker"]);
  life.numbers = { workspace: 0 };
  life.ended("worker", "error");
  life.request({ kind: "continue", actor: human });
  expect(life.actions).toEqual(["acquire_workspace", "spawn_agent worker"]);
  life.numbers = { workspace: 0 };
  life.ended("worker", "ok");
  expect(life.actions).toEqual(["acquire_workspace", "run_tests"]);
  life.numbers = { workspace: 1 };
  life.did("ok");
  life.move("c");
  expect(life.actions).toEqual([
    "release_workspace",
    "run_command",
    "acquire_workspace",
    "run_tests",
    "release_workspace",
  ]);
});

test("No session is resumed in another workspace: an agent that starts after a release begins a new session.", () => {
  const text = (hooks: string) => `
roles: { worker: { mode: turn, keep: true } }
states: { a: { agent: { prompt: p }, next: b }, b: { waits_for: human, next: c }, c: { agent: { prompt: p }, next: d }, d: { terminal: true } }
transitions: [{ from: b, to: c${hooks} }]
prompts: { p: x }`;
  const resumed = ["", ", hooks: [release_workspace]"].map((hooks) => {
    const life = begin(text(hooks));
    life.settle();
    life.ended("worker", "ok");
    life.settle();
    life.request({ kind: "continue", actor: human });
    return life.effects.findLast(({ action }) => action === "spawn_agent")?.agent?.resume;
  });
  expect(resumed).toEqual(["worker#1", ""]);
});

test("Releasing a workspace and entering a terminal state both end every run first, whatever the file says and in whatever order.", () => {
  const text = (hooks: string, end: string) => `
roles: { worker: { keep: true } }
states: { a: { agent: { prompt: p } }, b: , c: { ${end} } }
transitions: [{ from: a, to: b, by: human, hooks: [${hooks}] }, { from: a, to: c, by: human }]
prompts: { p: x }`;
  for (const hooks of [
    "release_workspace",
    "release_workspace, kill_session",
    "{ action: kill_agent, role: worker }, release_workspace",
  ]) {
    const life = begin(text(hooks, "terminal: true"));
    life.move("b");
    const [first, second] = life.actions;
    expect([first, second, life.task.runs, life.task.sessions]).toEqual([
      "kill_agent worker",
      "release_workspace",
      {},
      {},
    ]);
  }
  for (const end of ["terminal: true", "terminal: true, do: [release_workspace, kill_session]"]) {
    const life = begin(text("", end));
    life.move("c");
    expect([life.actions[0], life.task.runs]).toEqual(["kill_agent worker", {}]);
  }
  const does = begin(`
roles: { worker: { keep: true } }
states: { a: { agent: { prompt: p } }, b: { waits_for: human, do: [release_workspace], next: c }, c: { terminal: true } }
transitions: [{ from: a, to: b, by: human }]
prompts: { p: x }`);
  does.move("b");
  does.settle();
  does.request({ kind: "continue", actor: human });
  expect([does.actions, does.task.runs]).toEqual([["kill_agent worker", "release_workspace"], {}]);
});

test("A setting is the task's own, else its preset's, else the file's default.", () => {
  const text = `
settings: { rounds: { default: 1 } }
presets: { long: { rounds: 2 } }
states: { a: { outcomes: [{ when: rounds == 1, then: one }, { when: rounds == 2, then: two }, { then: three }] }, one: { terminal: true }, two: { terminal: true }, three: { terminal: true } }`;
  const ends = ([{}, { preset: "long" }, { preset: "long", settings: { rounds: 3 } }] as const).map((creation) => {
    const life = begin(text, creation);
    life.settle();
    return life.task.status;
  });
  expect(ends).toEqual(["one", "two", "three"]);
});

test("A map setting as `model` is looked up by the state's name, then by `default`.", () => {
  const text = (state: string) => `
settings: { models: { default: { default: small, ${state}: large } } }
states: { a: { agent: { prompt: p, model: "{models}" } }, b: { terminal: true } }
prompts: { p: x }`;
  expect(begin(text("a")).effects[0]?.agent?.model).toBe("large");
  expect(begin(text("b")).effects[0]?.agent?.model).toBe("small");
});

test("A person may migrate a task to another text of its workflow; if the state still waits for the same thing, the wait continues undisturbed.", () => {
  const life = begin(session);
  life.settle();
  const { workflow } = loadWorkflow(
    `version: 1\n${session.replace("prompts: { p: x }", "prompts: { p: y }")}`,
    "test.yml",
  );
  if (workflow === undefined) throw new Error("The new text must load.");
  expect(migrate(life.workflow, workflow, life.task, engine, life.facts())).toMatchObject({ kind: "rejected" });
  life.take(migrate(life.workflow, workflow, life.task, human, life.facts()));
  expect(life.task).toMatchObject({
    status: "a",
    entry: 1,
    workflowHash: workflow.hash,
    runs: { worker: { key: "worker#1" } },
  });
  expect(life.actions).toEqual([]);
});

test("A task that is migrated into another state ends everything that only the old state needed.", () => {
  const text =
    "version: 1\nstates: { a: { agent: { prompt: p } }, c: { waits_for: human }, b: { terminal: true } }\nprompts: { p: x }";
  const { workflow } = loadWorkflow(text, "test.yml");
  if (workflow === undefined) throw new Error("The new text must load.");
  const life = begin(session);
  life.settle();
  life.take(migrate(life.workflow, workflow, life.task, human, life.facts(), "c"));
  expect(life.task).toMatchObject({ status: "c", entry: 2, runs: {} });
  expect(life.actions).toEqual(["kill_agent worker"]);
});

test("Replaying the events of a decision gives the same task.", () => {
  const life = begin(`${session}\n${gated}`);
  life.settle();
  const before = life.task;
  life.write("## Handoff\nDone.");
  life.ended("worker", "exit");
  expect(life.task).not.toEqual(before);
  expect(life.events.reduce(apply, before)).toEqual(life.task);
});

test("A report about an earlier state or a run that is over is ignored.", () => {
  const life = begin(`${session}\ntransitions: [{ from: a, to: b, by: human }]`);
  const { entry } = life.task;
  life.move("b");
  for (const late of [
    { kind: "settled", entry },
    { kind: "did", entry, word: "ok" },
    { kind: "limit", entry, word: "time" },
    { kind: "ended", run: "worker#1", word: "exit" },
    { kind: "idle", run: "worker#1" },
  ] as const) {
    expect(decide(life.workflow, life.task, late, life.facts())).toMatchObject({ kind: "ignored" });
  }
});

/** A worker in a session, and somewhere to go. */
const session = "states: { a: { agent: { prompt: p } }, b: { terminal: true } }\nprompts: { p: x }";
const gated =
  'exit_monitoring: { rules: [{ status: a, then: b }] }\ntransitions: [{ from: a, to: b, gate: { section: "## Handoff" } }]';
const human = { role: "human" } as const;
const engine = { role: "engine" } as const;

/** Loads a workflow, creates a task in it, and lets things happen to it. */
function begin(
  text: string,
  creation: Partial<Parameters<typeof createTask>[1]> = {},
  poolFull = false,
  numbers: Facts["numbers"] = {},
) {
  const { workflow, problems } = loadWorkflow(`version: 1\n${text}`, "test.yml");
  if (workflow === undefined) throw new Error(problems.map((problem) => problem.message).join("\n"));
  const life = {
    workflow,
    task: undefined as unknown as Task,
    document: "",
    head: "",
    changedSince: {} as Record<string, readonly string[]>,
    artifacts: {} as Facts["artifacts"],
    numbers,
    taskFileTracked: false,
    poolFull,
    decision: undefined as unknown as Extract<Decision, { kind: "moved" | "stayed" }>,
    get effects() {
      return life.decision.effects;
    },
    get events() {
      return life.decision.events;
    },
    get actions() {
      return life.effects.map(({ action, agent, params }) =>
        [action, agent?.role ?? params.role ?? ""].join(" ").trim(),
      );
    },
    facts(): Facts {
      const { head, changedSince, artifacts, numbers, taskFileTracked } = life;
      const document = parseTaskDocument(life.document);
      return { document, head, changedSince, artifacts, numbers, taskFileTracked, poolFull: life.poolFull };
    },
    /** The reasons of a refusal; empty where the request was granted. */
    take(decision: Decision) {
      if (decision.kind === "rejected") return decision.reasons;
      if (decision.kind === "ignored") throw new Error(decision.why);
      life.decision = decision;
      life.task = decision.task;
      return [];
    },
    request: (request: Request) => life.take(decide(workflow, life.task, request, life.facts())),
    move: (to: string, role = "human") => life.request({ kind: "move", to, actor: { role } }),
    reply: (reply: string) => life.request({ kind: "reply", actor: human, text: reply }),
    settle: () => life.request({ kind: "settled", entry: life.task.entry }),
    did: (word: string, reason = "") => life.request({ kind: "did", entry: life.task.entry, word, reason }),
    ended(name: string, word: RunEnd, answer?: unknown) {
      return life.request({ kind: "ended", run: life.task.runs[name]?.key ?? "", word, answer });
    },
    write(body: string) {
      life.document = body;
    },
  };
  const refused = life.take(createTask(workflow, { ...identity, ...creation }, life.facts()));
  if (refused.length > 0) throw new Error(codes(refused).join());
  return life;
}

/** Whether a handoff with this body opens a gate that asks for fields. */
function handoffOpens(body: string): boolean {
  const life = begin(
    'states: { a: , b: { terminal: true } }\ntransitions: [{ from: a, to: b, gate: { section: "## Handoff", fields: [DONE, UNCERTAIN] } }]',
  );
  life.write(`## Handoff\n${body}`);
  return life.move("b").length === 0;
}

function codes(reasons: readonly { readonly code: string }[]): readonly string[] {
  return reasons.map(({ code }) => code);
}

const identity = {
  ...blankIdentity,
  id: "t1",
  project: "coffee",
  number: 1,
  branch: "signalbox/t1",
  summary: "Brew",
  workflow: "test",
  harness: "scripted",
  reviewHarness: "scripted",
};
