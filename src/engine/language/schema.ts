import type { Key, Shape } from "./shape.ts";

/** The workflow language as one shape: what a file may contain. `compile` checks the meaning afterwards. */

const text: Shape = { kind: "text" };
const integer: Shape = { kind: "integer", min: 0 };
const boolean: Shape = { kind: "boolean" };
const either = (expected: string, ...options: Shape[]): Shape => ({ kind: "either", expected, options });
const oneOf = (...values: string[]): Shape => ({ kind: "text", oneOf: values });
const listOf = (of: Shape): Shape => ({ kind: "list", of });
const someOf = (of: Shape): Shape => ({ kind: "list", of, notEmpty: true });
const mapOf = (what: string, of: Shape): Shape => ({ kind: "map", what, of });
const key = (shape: Shape, description: string, required = false): Key => ({ shape, description, required });

const scalar = either("text, a number, true or false", boolean, { kind: "number" }, text);
const texts = either("a word or a list of words", someOf(text), text);
const setting: Shape = { kind: "text", pattern: /^\{[a-z][a-z0-9_]*\}$/, expected: "a setting such as {agents}" };
const count = either("a whole number or a setting such as {rounds}", integer, setting);
const duration = either(
  "a time such as 30s, 5m or 2h",
  { kind: "number", min: 0 },
  { kind: "text", pattern: /^\d+(\.\d+)?(ms|s|m|h|d)$/ },
);
const guards = either("a condition such as review_round < 2, or a list of them", listOf(text), text);

const limits: Shape = {
  kind: "record",
  what: "limits",
  keys: {
    attempts: key({ kind: "integer", min: 1 }, "How often the engine tries before it takes a rule"),
    steps: key(count, "Steps of a stepped run"),
    rounds: key(count, "Rounds of a dialogue"),
    stall: key(duration, "Time without a sign of life"),
    time: key(duration, "Time in all"),
    cost: key({ kind: "number", min: 0 }, "US dollars"),
    backoff: key(
      {
        kind: "record",
        what: "a backoff",
        keys: {
          first: key(duration, "The pause before the first retry", true),
          factor: key({ kind: "number", min: 1 }, "The factor by which each pause grows (1)"),
          max: key(duration, "The longest pause"),
        },
      },
      "The pause before a retry",
    ),
  },
};

const runKeys: Readonly<Record<string, Key>> = {
  role: key(text, "The role of the run"),
  mode: key(oneOf("session", "turn", "steps", "dialogue"), "How the agent is run (session)"),
  harness: key(text, "`task`, `review`, or the name of a harness"),
  prompt: key(text, "Key in `prompts`: the agent's first message"),
  model: key(text, "A model, or a setting that names one"),
  permissions: key(oneOf("full", "reduced"), "What the agent may do (full)"),
  sandbox: key(oneOf("auto", "on", "off"), "Whether the agent runs in a sandbox (the user's setting)"),
  network: key(
    oneOf("on", "off", "proxy"),
    "Whether the agent reaches the network; `proxy`: only listed hosts. `off` and `proxy` need a sandbox (on)",
  ),
  tools: key(listOf(text), "The tools the agent may use"),
  result: key(text, "Key in `schemas`: the answer must fit it"),
  window: key(text, "The name of the terminal window"),
  keep: key(boolean, "The run, or its session, outlives the state"),
  step_prompt: key(text, "Key in `prompts`: the message of each further step"),
  marker: key(text, "The line that ends a stepped run (DONE)"),
  until: key(mapOf("fields of the answer", scalar), "The answer that ends a dialogue"),
  confirm: key(boolean, "A person must confirm the end of a dialogue"),
  limits: key(limits, "Limits of each run"),
};
const run: Shape = { kind: "record", what: "a run", keys: runKeys };

const gate: Shape = {
  kind: "record",
  what: "a gate",
  keys: {
    section: key(
      { kind: "text", pattern: /^## \S/, expected: 'a heading such as "## Handoff"' },
      "The section that must be there",
      true,
    ),
    required: key(boolean, "The section must have content, as every gate requires"),
    fields: key(
      listOf({ kind: "text", pattern: /^[A-Za-z][A-Za-z0-9_ -]*$/, expected: "a key such as DONE" }),
      "At least one `KEY:` line with content",
    ),
    verdict: key(oneOf("PASS", "FAIL"), "The verdict the section must give"),
    first_line: key(
      boolean,
      "The verdict must be the first line (`Verdict: PASS`); otherwise the first PASS or FAIL counts",
    ),
  },
};
const gates = either("a gate or a list of gates", listOf(gate), gate);

const action = either("the name of an action, or a map with `action`", text, {
  kind: "record",
  what: "an action",
  keys: { action: key(text, "Which action", true) },
  open: { pattern: /./, shape: { kind: "any" }, description: "The action's own parameters" },
});

const after = {
  pattern: /^[A-Za-z][A-Za-z0-9_-]*_after$/,
  shape: { kind: "integer", min: 1 },
  description: "From this many failures on, go to that state",
} as const;
const ruleKeys: Readonly<Record<string, Key>> = {
  on: key(texts, "How it ended"),
  result: key(mapOf("fields of the answer", scalar), "What the answer says"),
  when: key(guards, "Conditions"),
  has_artifact: key(gate, "A section that must be there"),
  no_artifact: key(boolean, "None of the artifacts that the state's other rules ask for exists"),
  reason: key(text, "Why, for people"),
  then: key(text, "The state to go to"),
  then_when: key(
    someOf({
      kind: "record",
      what: "a choice",
      keys: { when: key(guards, "Conditions", true), then: key(text, "The state to go to", true) },
    }),
    "Several targets, exactly one of which must fit",
  ),
  action: key(oneOf("crash", "mark_dead"), "Hold the task for a person"),
};
const rule: Shape = { kind: "record", what: "a rule", keys: ruleKeys, open: after };
const monitoringRule: Shape = {
  kind: "record",
  what: "a rule",
  keys: { status: key(text, "The state it belongs to", true), ...ruleKeys },
  open: after,
};

const state: Shape = {
  kind: "record",
  what: "a state",
  keys: {
    terminal: key(boolean, "The end of a task"),
    outcome: key(oneOf("done", "failed", "cancelled"), "How a task that ends here ended"),
    agent: key(run, "Waits for this run"),
    panel: key(
      {
        kind: "record",
        what: "a panel",
        keys: {
          members: key(run, "One run for each model, and for each prompt where there are prompts", true),
          prompts: key(listOf(text), "One member for each of these prompts"),
          judge: key(run, "The run that weighs their answers", true),
          tools: key(listOf(text), "The tools all of them may use"),
        },
      },
      "Waits for several runs and a judge",
    ),
    fan_out: key(
      {
        kind: "record",
        what: "a fan-out",
        keys: {
          from: key(
            {
              kind: "text",
              pattern: /^[A-Za-z][A-Za-z0-9_-]*\.[A-Za-z0-9_]+$/,
              expected: "a list in a result, such as plan.subtasks",
            },
            "The items",
            true,
          ),
          workflow: key(text, "The workflow of the children", true),
          parallel: key(count, "How many run at the same time (1)"),
          waves: key(
            either("true, false or a setting", boolean, setting),
            "Start a wave only when the one before it has ended",
          ),
          policy: key(
            either("retry, continue, stop or a setting", oneOf("retry", "continue", "stop"), setting),
            "What a failed child means (retry)",
          ),
        },
      },
      "Waits for one child task for each item",
    ),
    waits_for: key(
      either("human, slot or a time such as 60s", oneOf("human", "slot"), {
        kind: "text",
        pattern: /^\d+(\.\d+)?(ms|s|m|h|d)$/,
      }),
      "Waits for a person, a free slot, or time to pass",
    ),
    ask: key(text, "What the person's `continue` does"),
    unless: key(guards, "Skip the wait when this holds"),
    evidence: key(guards, "What the agent must have produced; it is told once what is missing"),
    do: key(listOf(action), "The engine's own work after the wait"),
    outcomes: key(listOf(rule), "The rules: the first one that matches and whose way is open is taken"),
    next: key(text, "The state to go to when all went well"),
    limits: key(limits, "Limits for each visit"),
    respawn_prompt: key(text, "Key in `prompts`: the message for an agent that is started again"),
  },
};

const transition: Shape = {
  kind: "record",
  what: "a transition",
  keys: {
    from: key(texts, "A state, a list of states, or `any`", true),
    to: key(texts, "A state or a list of states", true),
    by: key(texts, "Who may ask"),
    when: key(guards, "Conditions"),
    gate: key(gates, "Artifacts that must be there"),
    hooks: key(listOf(action), "Actions that are carried out when the task takes this way"),
  },
};

const promise: Shape = {
  kind: "record",
  what: "a promise",
  keys: {
    to: key(text, "The state that a task moves to"),
    after: key(
      {
        kind: "record",
        what: "what must have happened",
        keys: {
          merged: key(boolean, "The work is merged: true"),
          tests: key(oneOf("passed"), "The project's tests have passed on the work as it is: passed"),
          gate: key(
            { kind: "text", pattern: /^## \S/, expected: 'a heading such as "## Review"' },
            "A gate that asks for this section was passed",
          ),
          verdict: key(oneOf("PASS", "FAIL"), "With gate: the verdict that the section gave"),
          result: key(mapOf("fields of the answer", scalar), "An answer said this"),
          by: key(texts, "With gate and result: the roles whose word counts; `human` for a person who moves the task"),
        },
      },
      "With to: what must have happened, since the work last moved",
    ),
    never_by: key(texts, "With to: the roles that never ask for it; `engine` for the rules"),
    role: key(text, "With never_same_run_as: the role that judges"),
    never_same_run_as: key(text, "With role: the role whose runs never give what that role is there to give"),
    within: key({ kind: "integer", min: 1 }, "With of: how often a task enters the state without a person"),
    of: key(text, "With within: the state"),
  },
};

const settingValue = either(
  "text, a number, true, false, a list or a map",
  boolean,
  { kind: "number" },
  text,
  listOf(text),
  mapOf("values", text),
);

export const workflowShape: Shape = {
  kind: "record",
  what: "a workflow",
  keys: {
    name: key(text, "A label"),
    version: key({ kind: "number" }, "The version of the language: 1", true),
    description: key(text, "What the workflow is for"),
    initial: key(texts, "Where tasks start; the first is the default"),
    unclear: key(text, "Where a task without a summary starts"),
    agents: key(
      oneOf("anonymous", "named"),
      "Who does the runs: an agent of their own each, or the project's named agents, one run at a time (anonymous)",
    ),
    settings: key(
      mapOf("settings", {
        kind: "record",
        what: "a setting",
        keys: {
          default: key(settingValue, "Its default value, which also gives its type", true),
          one_of: key(listOf(scalar), "The values it may have"),
          min: key({ kind: "number" }, "The smallest value"),
          max: key({ kind: "number" }, "The largest value"),
          description: key(text, "What it is for"),
        },
      }),
      "Values that presets, projects and tasks may change",
    ),
    presets: key(mapOf("presets", mapOf("settings", settingValue)), "Named sets of settings"),
    roles: key(mapOf("roles", run), "What the runs of a role share; `any` is shared by all"),
    limits: key(limits, "Limits for the task's whole life"),
    states: key(mapOf("states", state), "The states, in the order of the dashboards", true),
    transitions: key(listOf(transition), "The ways: who may ask, on what conditions, and with which actions"),
    exit_monitoring: key(
      {
        kind: "record",
        what: "exit monitoring",
        keys: {
          poll_interval: key({ kind: "number", min: 0 }, "Seconds between two checks"),
          rules: key(listOf(monitoringRule), "`outcomes` of all states in one place"),
        },
      },
      "What happens when an agent ends",
    ),
    promises: key(listOf(promise), "What must hold of every task: proved by `verify`, and checked before each move"),
    prompts: key(mapOf("prompts", text), "Messages for agents"),
    schemas: key(mapOf("schemas", { kind: "any" }), "What answers must look like"),
  },
};
