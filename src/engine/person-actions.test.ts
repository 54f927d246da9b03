import fc from "fast-check";
import { expect, test } from "vitest";
import { atWork, builtIn, drive, loadText } from "../../test/engine/drive.ts";
import type { Surroundings } from "./allowance.ts";
import { decide } from "./decide.ts";
import { createWorlds } from "./explore/graph.ts";
import { stimuli } from "./explore/stimuli.ts";
import { factsOf, takeStep, type World } from "./explore/world.ts";
import { type PersonAction, personActions } from "./person-actions.ts";
import { createRandom } from "./simulate/live.ts";

const workflow = builtIn("default");
const nobody: Surroundings = {
  ...{
    terminals: [],
    alive: [],
    hasWorked: false,
    hasFailed: false,
    isMerging: false,
    hasWork: false,
    hasRemote: true,
  },
};
const working: Surroundings = {
  ...nobody,
  ...{ terminals: ["worker#1"], alive: ["worker#1"], hasWorked: true, hasWork: true },
};

test("a task that waits to be merged can be approved, merged, sent back and cancelled", () => {
  const { task, facts } = reviewed();
  const actions = personActions(workflow, { ...task, workspace: "/w" }, facts(), working);
  expect(names(actions)).toEqual([
    // The actions of the person's turn come first.
    ...["merge", "diff", "request-changes"],
    ...["attach", "approve", "create-pr", "send", "sync", "cancel", "move", "move"],
    ...["fetch", "peek", "logs", "explain", "history", "open", "shell", "edit", "kill"],
  ]);
  expect(of(actions, "merge")).toMatchObject({ key: "m", to: "done", command: "signalbox task merge t1", why: "" });
  expect(of(actions, "approve")).toMatchObject({ label: "Approve: Merge", to: "done", allowed: true });
  expect(of(actions, "request-changes")).toMatchObject({ key: "r", to: "working" });
  expect(of(actions, "cancel")).toMatchObject({ key: "x", to: "cancelled" });
  expect(actions.filter(({ name }) => name === "move").map(({ key, to, allowed }) => [key, to, allowed])).toEqual([
    ["1", "working", true],
    ["2", "done", false],
    ["3", "cancelled", true],
  ]);
});

test("Enter starts a task, attaches to its agent, or starts the agent again, whichever is allowed", () => {
  const enter = (actions: readonly PersonAction[]) =>
    actions.filter(({ key }) => key === "Enter").map(({ name }) => name);
  const created = drive(workflow);
  expect(enter(personActions(workflow, created.task, created.facts(), nobody))).toEqual(["spawn"]);
  const { task, facts } = atWork();
  expect(enter(personActions(workflow, task, facts(), working))).toEqual(["attach"]);
  const dead = { ...task, runs: {} };
  expect(enter(personActions(workflow, dead, facts(), { ...nobody, hasWorked: true }))).toEqual(["respawn"]);
});

test("for a task that is over, no action advises what is refused there", () => {
  const { task, facts } = reviewed();
  const over = { ...task, status: "done", phase: "over" as const, workspace: "", runs: {} };
  const actions = personActions(workflow, over, facts(), {
    ...nobody,
    hasRemote: false,
    hasWorked: true,
    hasWork: true,
  });
  const refused = actions.filter(({ allowed }) => !allowed);
  for (const verb of ["merge", "create-pr", "sync", "cancel"])
    expect(of(actions, verb).why).toBe(
      'The task is in "done", which is the end. Continue its branch in a new task: signalbox task create --from t1',
    );
  expect(of(actions, "shell").why).toBe(
    "The task has no workspace any more. See what happened: signalbox task history t1",
  );
  expect(refused.filter(({ why }) => /task (merge|explain|spawn|approve)/.test(why))).toEqual([]);
});

test("an action that is not allowed says why, and what to do", () => {
  const { task, facts } = atWork();
  const actions = personActions(workflow, task, facts(), nobody);
  expect(of(actions, "merge").why).toContain('There is no transition from "working" to "done"');
  expect(of(actions, "attach").why).toContain("signalbox task explain t1");
  expect(of(actions, "answer").why).toBe(
    '"working" does not wait for a person. See what the task waits for: signalbox task explain t1',
  );
  expect(of(actions, "open").why).toContain("no workspace");
  expect(of(actions, "delete").why).toContain("signalbox task cancel t1");
});

test("a held task can be retried, but not answered", () => {
  const { task, facts } = atWork();
  const held = { ...task, held: { reason: "The disk is full.", word: "error", again: "effects" as const } };
  const actions = personActions(workflow, held, facts(), { ...working, hasFailed: true });
  expect(of(actions, "continue")).toMatchObject({ allowed: true, label: "Retry what the task is held for" });
  expect(of(actions, "retry").allowed).toBe(true);
  expect(of(actions, "approve").why).toContain("The disk is full. Fix the cause, then: signalbox task continue t1");
});

test("a person can reply to an agent's question in a dialogue", () => {
  const { task, facts } = atWork();
  const talk = { ...task, wait: { ...task.wait, turn: "reply" as const } };
  const actions = personActions(workflow, talk, facts(), working);
  expect(of(actions, "reply")).toMatchObject({
    key: "a",
    allowed: true,
    command: 'signalbox task reply t1 "Your answer"',
  });
  expect(of(actions, "answer")).toMatchObject({ key: "", allowed: false });
});

test("a task that is over can be inspected, continued in a new task and deleted", () => {
  const { task, facts } = atWork();
  const over = { ...task, status: "done", phase: "over" as const, runs: {} };
  const actions = personActions(workflow, over, facts(), { ...nobody, hasWorked: true, hasWork: true });
  expect(names(actions)).toEqual([
    ...["diff", "fetch", "peek", "logs", "explain", "history", "edit", "create-from", "delete"],
  ]);
});

test("where several states have agents, changes can be requested in each, and the command names the state", () => {
  const two = loadText(`name: two
version: 1
states:
  look: { waits_for: human, next: end }
  sketch: { agent: { role: worker, prompt: work, mode: turn }, next: look }
  build: { agent: { role: worker, prompt: work, mode: turn }, next: look }
  end: { terminal: true }
transitions:
  - { from: look, to: sketch, by: human }
  - { from: look, to: build, by: human, gate: { section: "## Feedback" } }
prompts: { work: "Work on {summary}." }
`);
  const { task, facts } = drive(two);
  const asked = personActions(two, task, facts(), nobody).filter(({ name }) => name === "request-changes");
  const said = 'signalbox task request-changes t1 -m "What should change"';
  expect(asked.map(({ to, key, command, allowed }) => [to, key, command, allowed])).toEqual([
    ["sketch", "r", `${said} --status sketch`, true],
    ["build", "", `${said} --status build`, true],
  ]);
});

const workflows = ["default", "classic", "minimal", "team", "team-subtask", "pipeline", "crew"].map(builtIn);
const anywhere = fc
  .record({ workflow: fc.constantFrom(...workflows), seed: fc.nat(), steps: fc.nat(25) })
  .map(({ workflow, seed, steps }) => {
    const random = createRandom(seed);
    const worlds = createWorlds(workflow, Object.keys(workflow.presets)[0] ?? "", {});
    let world = worlds[Math.floor(random.next() * worlds.length)]?.world as World;
    for (let i = 0; i < steps; i++) {
      const all = stimuli(workflow, world);
      const step = all[Math.floor(random.next() * all.length)];
      world = (step && takeStep(workflow, world, step)?.world) ?? world;
    }
    return { workflow, world };
  });

test("in every position each key belongs to one action, refusals have reasons, and the engine does what is allowed", () => {
  fc.assert(
    fc.property(anywhere, ({ workflow, world }) => {
      const { task } = world;
      const facts = factsOf(world, {});
      const actions = personActions(workflow, task, facts, nobody);
      const keys = actions.map(({ key }) => key).filter((key) => key !== "");
      expect(new Set(keys).size).toBe(keys.length);
      for (const { name, to, allowed, why, command } of actions) {
        expect({ name, why: why === "", command: /^signalbox (task|agent) \S/.test(command) }).toEqual({
          ...{ name, why: allowed, command: true },
        });
        if (name !== "move" && name !== "cancel") continue;
        if (name === "cancel" && !allowed) continue;
        const decision = decide(workflow, task, { kind: "move", to, actor: { role: "human" } }, facts);
        expect({ to, allowed: decision.kind === "moved" }).toEqual({ to, allowed });
      }
    }),
    { numRuns: 150 },
  );
});

function reviewed() {
  const life = atWork();
  return {
    ...life,
    task: {
      ...life.task,
      status: "reviewing",
      phase: "waiting" as const,
      runs: { worker: { key: "worker#1", mode: "session" as const } },
    },
  };
}

function of(actions: readonly PersonAction[], name: string): PersonAction {
  const found = actions.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found;
}

function names(actions: readonly PersonAction[]): readonly string[] {
  return actions.filter(({ allowed }) => allowed).map(({ name }) => name);
}

test("without a remote, and without an agent, a person is told what works in the state", () => {
  const pipeline = builtIn("pipeline");
  const { task, facts } = drive(pipeline);
  const whys = (status: string, name: string) =>
    of(personActions(pipeline, { ...task, status }, facts(), { ...nobody, hasRemote: false }), name)?.why;
  expect(whys("MERGE_READY", "create-pr")).toContain(`signalbox task approve ${task.id}`);
  expect(whys("IMPLEMENT", "create-pr")).not.toContain("task merge");
  expect(whys("IMPLEMENT", "create-pr")).toContain("signalbox task explain");
  expect(whys("MERGE_READY", "respawn")).toContain('No agent works in "MERGE_READY", so there is none to start again.');
});
