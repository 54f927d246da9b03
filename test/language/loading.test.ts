import { describe, expect, test } from "vitest";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { formatProblem } from "../../src/engine/language/problem.ts";
import { ownTime } from "../scripted-ports.ts";
import { testRandomFiles } from "./random-files.ts";
import { check, edit, faults, load, marked, problemsOf } from "./workflow-texts.ts";

/** A valid file that uses most of the language; each test breaks it in one place. */
const whole = `name: b
version: 1
initial: todo
settings:
  rounds: { default: 3, min: 1, max: 9 }
  fast: { default: false }
  style: { default: safe, one_of: [safe, bold] }
presets:
  quick: { rounds: 1, fast: true }
roles:
  coder: { mode: session, prompt: build, keep: true }
  critic: { mode: turn, permissions: reduced, prompt: judge, result: verdict, limits: { attempts: 2 } }
states:
  todo: { waits_for: slot, do: [acquire_workspace], next: build }
  build:
    agent: { role: coder }
    outcomes:
      - { then: judge }
      - { action: crash, stuck_after: 2 }
  judge:
    agent: { role: critic }
    outcomes:
      - { result: { good: true }, then: merge }
      - { result: { good: false }, when: visits < 3, then: build }
      - { on: failed, then: stuck }
  merge:
    waits_for: human
    ask: Merge
    do: [merge]
    outcomes:
      - { on: conflict, then_when: [{ when: tries < 2, then: build }, { when: tries >= 2, then: stuck }] }
    next: done
  stuck: { waits_for: human, next: build }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: build, to: judge, by: coder, gate: { section: "## Handoff", fields: [DONE] } }
  - { from: merge, to: build, by: engine, hooks: [{ action: increment, field: tries }] }
  - { from: merge, to: done, by: engine, hooks: [kill_session, release_workspace] }
  - { from: stuck, to: merge, by: human, when: "tries < {rounds}" }
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
schemas:
  verdict: { type: object, required: [good], properties: { good: { type: boolean }, why: { type: string } } }
prompts:
  build: |
    {summary}. The critic says: {verdict.why}.
    Build it and commit.
  judge: 'Is the diff right? Answer {"good": true|false, "why": "…"}.'
`;

/** What is broken; the old text; the new text, with a mark where the problem must be reported; the expected message. */
type Case = readonly [what: string, from: string, to: string, said: string];

function checkCases(cases: readonly Case[]): void {
  test.each(cases)("%s", (_what, from, to, said) => {
    const { text, line, column } = marked(edit(whole, from, to));
    const problems = problemsOf(text);
    expect(problems.map(formatProblem)).toEqual([expect.stringContaining(said)]);
    expect(problems[0]).toMatchObject({ level: "error", file: "b.yml", line, column });
    expect(loadWorkflow(text, "b.yml").workflow).toBeUndefined();
  });
}

test("the unbroken file has no problem, and verifies", () => {
  expect(problemsOf(whole)).toEqual([]);
  expect(faults(check(whole).verification)).toEqual([]);
});

describe("an unknown key is an error at the key, and the nearest known key is offered", () => {
  checkCases([
    ["in the file", "initial:", "¦inital:", 'A workflow has no key "inital". Did you mean "initial"?'],
    ["in a state", "    ask: Merge", "    ¦aks: Merge", 'A state has no key "aks". Did you mean "ask"?'],
    [
      "in a transition",
      "by: coder, gate:",
      "by: coder, ¦gates:",
      'A transition has no key "gates". Did you mean "gate"?',
    ],
    ["in a gate", "fields: [DONE]", "¦feilds: [DONE]", 'A gate has no key "feilds". Did you mean "fields"?'],
    ["in a rule", "{ on: failed,", "{ ¦onn: failed,", 'A rule has no key "onn". Did you mean "on"?'],
    ["in a choice", "then: build },", "then: build, ¦thn: done },", 'A choice has no key "thn". Did you mean "then"?'],
    [
      "among the parameters of an action",
      "field: tries }",
      "field: tries, ¦feild: x }",
      '"increment" has no parameter "feild". Did you mean "field"?',
    ],
    ["in a role", "keep: true", "¦keeps: true", 'A run has no key "keeps". Did you mean "keep"?'],
    ["in a run", "agent: { role: critic }", "agent: { role: critic, ¦promt: judge }", 'A run has no key "promt".'],
    ["in a setting", "default: 3, min: 1", "default: 3, ¦minn: 1", 'A setting has no key "minn". Did you mean "min"?'],
    ["in limits", "attempts: 2", "attempts: 2, ¦stal: 5m", 'Limits has no key "stal". Did you mean "stall"?'],
    [
      "in exit monitoring",
      "transitions:\n",
      "exit_monitoring: { ¦pol_interval: 3 }\ntransitions:\n",
      'Exit monitoring has no key "pol_interval". Did you mean "poll_interval"?',
    ],
    [
      "in a panel",
      "  stuck: { waits_for: human,",
      "  stuck: { panel: { members: { role: critic }, judge: { role: critic }, ¦tool: [] },",
      'A panel has no key "tool". Did you mean "tools"?',
    ],
    [
      "in a fan-out",
      "  stuck: { waits_for: human,",
      "  stuck: { fan_out: { from: verdict.why, workflow: w, ¦wave: true },",
      'A fan-out has no key "wave". Did you mean "waves"?',
    ],
  ]);
});

describe("an unknown name is an error at the name", () => {
  checkCases([
    [
      "an action",
      "[acquire_workspace]",
      "[¦acquire_worspace]",
      'No action "acquire_worspace". Did you mean "acquire_workspace"?',
    ],
    [
      "an action with parameters",
      "field: tries }",
      "field: tries }, { action: ¦kill_agnet, role: coder }",
      'No action "kill_agnet". Did you mean "kill_agent"?',
    ],
    ["a method of objects as an action", "do: [merge]", "do: [¦toString]", 'No action "toString".'],
    ["a target of `next`", "next: done", "next: ¦don", 'There is no state "don". Did you mean "done"?'],
    ["a target of a rule", "{ then: judge }", "{ then: ¦juge }", 'There is no state "juge". Did you mean "judge"?'],
    ["a target of a choice", "then: build },", "then: ¦biuld },", 'There is no state "biuld".'],
    ["a target of a transition", "to: judge, by", "to: [judge, ¦jugde], by", 'There is no state "jugde".'],
    ["a source of a transition", "from: stuck, to", "from: [stuck, ¦stck], to", 'There is no state "stck".'],
    ["the state to begin in", "initial: todo", "initial: ¦tood", 'There is no state "tood".'],
    ["one of several to begin in", "initial: todo", "initial: [todo, ¦tood]", 'There is no state "tood".'],
    ["the state of unclear tasks", "initial: todo", "unclear: ¦fog", 'There is no state "fog".'],
    [
      "the state of an exit rule",
      "transitions:\n",
      "exit_monitoring: { rules: [{ status: ¦stuk, action: mark_dead }] }\ntransitions:\n",
      'There is no state "stuk". Did you mean "stuck"?',
    ],
    [
      "the role of a run",
      "agent: { role: critic }",
      "agent: { role: ¦critc, prompt: judge }",
      'There is no role "critc".',
    ],
    ["a role in `by`", "by: coder", "by: ¦codr", 'There is no role "codr". Did you mean "coder"?'],
    [
      "one of several roles in `by`",
      "by: coder",
      "by: [coder, ¦criic]",
      'There is no role "criic". Did you mean "critic"?',
    ],
    [
      "a role in a hook",
      "hooks: [{ action: increment",
      "hooks: [{ action: kill_agent, role: ¦codr }, { action: increment",
      'There is no role "codr".',
    ],
    ["a prompt of a role", "prompt: build,", "prompt: ¦biuld,", 'There is no prompt "biuld". Did you mean "build"?'],
    [
      "a prompt of a run",
      "agent: { role: critic }",
      "agent: { role: critic, prompt: ¦jugde }",
      'There is no prompt "jugde".',
    ],
    ["a prompt shared by all roles", "roles:\n", "roles:\n  any: { prompt: ¦buld }\n", 'There is no prompt "buld".'],
    [
      "a prompt for a restart",
      "agent: { role: coder }",
      "agent: { role: coder }\n    respawn_prompt: ¦again",
      'There is no prompt "again".',
    ],
    [
      "a prompt of a hook",
      "hooks: [{ action: increment",
      "hooks: [{ action: spawn_agent, role: critic, prompt: ¦jdge }, { action: increment",
      'There is no prompt "jdge".',
    ],
    ["a schema", "result: verdict,", "result: ¦verdit,", 'There is no schema "verdit". Did you mean "verdict"?'],
    [
      "a schema shared by all roles",
      "roles:\n  coder: { mode: session,",
      "roles:\n  any: { result: ¦answer }\n  coder: { mode: turn,",
      'There is no schema "answer".',
    ],
    [
      "a setting in a condition",
      '"tries < {rounds}"',
      '¦"tries < {round}"',
      'There is no setting "round" that is a number',
    ],
    ["a setting in a limit", "attempts: 2", 'steps: ¦"{most}"', 'There is no setting "most" that is a number.'],
    [
      "a field of an answer",
      "{ good: true }",
      "{ ¦god: true }",
      'The schema "verdict" has no field "god". Did you mean "good"?',
    ],
    [
      "a value that an answer never has",
      "{ good: true }",
      "{ good: ¦maybe }",
      '"good" is never "maybe". It is one of true, false.',
    ],
    ["a setting in a preset", "fast: true }", "¦fats: true }", 'There is no setting "fats". Did you mean "fast"?'],
    [
      "a property of objects in a preset",
      "fast: true }",
      "¦constructor: safe }",
      '"constructor" cannot be used as a name. Choose another one.',
    ],
  ]);
});

describe("a value of the wrong kind is an error at the value", () => {
  checkCases([
    ["a list for text", "name: b", "name: ¦[b]", '"name" must be text, but is a list.'],
    ["nothing for text", "ask: Merge", "ask:¦", '"ask" must be text, but is empty.'],
    [
      "text for true or false",
      "done: { terminal: true }",
      "done: { terminal: ¦maybe }",
      '"terminal" must be true or false, but is "maybe".',
    ],
    ["text for a list", "do: [merge]", "do: ¦merge", '"do" must be a list, but is "merge".'],
    [
      "a map for a list",
      "outcomes:\n      - { then: judge }\n      - { action: crash, stuck_after: 2 }",
      "outcomes: ¦{ then: judge }",
      '"outcomes" must be a list, but is a map.',
    ],
    [
      "text for a map",
      "  quick: { rounds: 1, fast: true }",
      "  quick: ¦fast",
      '"quick" must be a map of settings, but is "fast".',
    ],
    ["a list for a record", "agent: { role: coder }", "agent: ¦[coder]", '"agent" must be a run, but is a list.'],
    [
      "text for a gate",
      '{ section: "## Handoff", fields: [DONE] }',
      '¦"## Handoff"',
      '"gate" must be a gate or a list of gates, but is "## Handoff".',
    ],
    [
      "a heading without ##",
      '"## Handoff"',
      '¦"Handoff"',
      '"section" must be a heading such as "## Handoff", but is "Handoff".',
    ],
    [
      "a gate without a section",
      '{ section: "## Handoff", fields: [DONE] }',
      "¦{ fields: [DONE] }",
      '"gate" needs the key "section".',
    ],
    [
      "a word for a number",
      "stuck_after: 2",
      "stuck_after: ¦two",
      '"stuck_after" must be a whole number, but is "two".',
    ],
    ["half a number", "attempts: 2", "attempts: ¦1.5", '"attempts" must be a whole number, but is 1.5.'],
    ["a number below the least", "attempts: 2", "attempts: ¦0", '"attempts" must be at least 1.'],
    ["less than no money", "attempts: 2", "cost: ¦-1", '"cost" must be at least 0.'],
    [
      "a time without a unit",
      "attempts: 2",
      "stall: ¦soon",
      '"stall" must be a time such as 30s, 5m or 2h, but is "soon".',
    ],
    ["an unknown mode", "mode: session", "mode: ¦sesion", '"mode" cannot be "sesion". Did you mean "session"?'],
    [
      "unknown permissions",
      "permissions: reduced",
      "permissions: ¦none",
      '"permissions" cannot be "none". Known: full, reduced.',
    ],
    [
      "a wait that is none",
      "stuck: { waits_for: human,",
      "stuck: { waits_for: ¦monday,",
      '"waits_for" must be human, slot or a time such as 60s, but is "monday".',
    ],
    ["an unknown outcome", "outcome: cancelled", "outcome: ¦dropped", '"outcome" cannot be "dropped".'],
    [
      "an action of a rule that is none",
      "action: crash",
      "action: ¦explode",
      '"action" cannot be "explode". Known: crash, mark_dead.',
    ],
    [
      "an action without a name",
      "{ action: increment, field: tries }",
      "¦{ field: tries }",
      'Entry 1 of "hooks" needs the key "action".',
    ],
    [
      "a transition without a target",
      "{ from: stuck, to: merge,",
      "¦{ from: stuck,",
      'Entry 4 of "transitions" needs the key "to".',
    ],
    [
      "a setting without a default",
      "fast: { default: false }",
      "fast: ¦{ description: quick }",
      '"fast" needs the key "default".',
    ],
    ["an invalid name", "  stuck: {", "  ¦-stuck: {", '"-stuck" is not a valid name.'],
    ["a list of no states to begin in", "initial: todo", "initial: ¦[]", '"initial" must not be an empty list.'],
    ["a list of no words", "on: failed", "on: ¦[]", '"on" must not be an empty list.'],
    [
      "no choices",
      "then_when: [{ when: tries < 2, then: build }, { when: tries >= 2, then: stuck }]",
      "then_when: ¦[]",
      '"then_when" must not be an empty list.',
    ],
    [
      "the wrong kind of parameter",
      "{ action: increment, field: tries }",
      "{ action: increment, field: tries }, { action: set_field, field: tries, value: ¦one }",
      '"value" of "set_field" must be a whole number',
    ],
    [
      "a parameter that cannot be",
      "do: [merge]",
      "do: [{ action: merge, strategy: ¦octopus }]",
      '"strategy" of "merge" cannot be "octopus".',
    ],
    [
      "a parameter that is missing",
      "{ action: increment, field: tries }",
      "{ action: increment, field: tries }, { action: ¦kill_agent }",
      '"kill_agent" needs the parameter "role".',
    ],
    [
      "a notice without text",
      "{ action: increment, field: tries }",
      "{ action: increment, field: tries }, { action: ¦notify_agent, role: coder }",
      '"notify_agent" needs either a message or a prompt.',
    ],
    ["infinity", "attempts: 2", "cost: ¦.inf", "This kind of value is not allowed here."],
    ["an invalid schema", "good: { type: boolean }", "good: { type: ¦bool }", '"bool"'],
  ]);
});

describe("the version must be 1", () => {
  checkCases([
    [
      "version 2 is refused",
      "version: 1",
      "version: ¦2",
      "This is version 2 of the language; version 1 is known. Write version: 1.",
    ],
    ["text is refused", "version: 1", 'version: ¦"1"', '"version" must be a number, but is "1".'],
    ["a missing version is refused", "name: b\nversion: 1", "¦name: b", 'The file needs the key "version".'],
  ]);
});

describe("a state waits for one thing, and a terminal state for nothing", () => {
  checkCases([
    [
      "a terminal state with a wait",
      "done: { terminal: true }",
      "done: { terminal: true, ¦waits_for: human }",
      '"done" is terminal and can only have terminal, outcome, do. Remove waits_for.',
    ],
    [
      "a terminal state with an agent",
      "done: { terminal: true }",
      "done: { terminal: true, ¦agent: { role: critic } }",
      "Remove agent.",
    ],
    [
      "a terminal state with a next one",
      "done: { terminal: true }",
      "done: { terminal: true, ¦next: stuck }",
      "Remove next.",
    ],
    [
      "a way out of a terminal state",
      "from: stuck, to: merge",
      "from: ¦done, to: merge",
      '"done" is terminal, so nothing leads out of it.',
    ],
    [
      "an exit rule of a terminal state",
      "transitions:\n",
      "exit_monitoring: { rules: [{ status: ¦done, then: stuck }] }\ntransitions:\n",
      '"done" is terminal, so nothing ends in it.',
    ],
    [
      "a terminal state to begin in",
      "initial: todo",
      "initial: ¦done",
      '"done" is terminal; a task cannot start there.',
    ],
    [
      "an outcome of a state that is no end",
      "stuck: { waits_for: human,",
      "stuck: { ¦outcome: failed, waits_for: human,",
      '"stuck" is not terminal, so it has no outcome.',
    ],
    [
      "an agent and a slot",
      "stuck: { waits_for: human,",
      "stuck: { agent: { role: critic }, ¦waits_for: slot,",
      "A state waits for one thing, but this one has agent and waits_for.",
    ],
    [
      "a panel and a person",
      "stuck: { waits_for: human,",
      "stuck: { ¦waits_for: human, panel: { members: { role: critic }, judge: { role: critic } },",
      "but this one has panel and waits_for.",
    ],
    [
      "a question to nobody",
      "todo: { waits_for: slot,",
      "todo: { ¦ask: Start, waits_for: slot,",
      '"todo" does not wait for a person.',
    ],
  ]);

  test("an agent at hand while a person decides is one wait", () => {
    expect(
      problemsOf(edit(whole, "stuck: { waits_for: human,", "stuck: { agent: { role: critic }, waits_for: human,")),
    ).toEqual([]);
  });

  test("a file without a terminal state is refused, and a file with only terminal states too", () => {
    const none = problemsOf("version: 1\nstates: { a: { waits_for: human } }\n");
    const only = problemsOf("version: 1\nstates: { a: { terminal: true } }\n");
    const empty = problemsOf("version: 1\nstates: {}\n");
    expect([none, only, empty].map((problems) => problems.map(({ message }) => message))).toEqual([
      ["No state is terminal, so no task could ever end."],
      ["Every state is terminal, so no task could ever begin."],
      ["There are no states."],
    ]);
  });
});

describe("roles that run and roles that ask must exist", () => {
  checkCases([
    ["a role called human", "roles:\n", "roles:\n  ¦human: { mode: turn }\n", '"human" is reserved.'],
    ["a role called engine", "roles:\n", "roles:\n  ¦engine: { mode: turn }\n", '"engine" is reserved.'],
    [
      "a run of a person",
      "agent: { role: critic }",
      "agent: { role: ¦human, prompt: judge }",
      '"human" is reserved and cannot run an agent.',
    ],
    [
      "a hook that ends everybody's run",
      "{ action: increment, field: tries }",
      "{ action: increment, field: tries }, { action: kill_agent, role: ¦any }",
      '"any" is reserved and cannot run an agent.',
    ],
    ["`by: any`", "by: coder", "by: ¦any", '"any" is not a role. Leave `by` out'],
    ["`any` among others", "by: coder", "by: [coder, ¦any]", '"any" is not a role.'],
    [
      "a role that names another",
      "permissions: reduced,",
      "¦role: coder, permissions: reduced,",
      "A role has the name it is declared under.",
    ],
    [
      "a run without a prompt",
      "coder: { mode: session, prompt: build, keep: true }\n  critic: { mode: turn, permissions: reduced, prompt: judge, result: verdict, limits: { attempts: 2 } }\nstates:\n  todo: { waits_for: slot, do: [acquire_workspace], next: build }\n  build:\n    agent:",
      "coder: { mode: session, keep: true }\n  critic: { mode: turn, permissions: reduced, prompt: judge, result: verdict, limits: { attempts: 2 } }\nstates:\n  todo: { waits_for: slot, do: [acquire_workspace], next: build }\n  build:\n    ¦agent:",
      'The run of "coder" has no prompt to start with.',
    ],
    [
      "a marker in a turn",
      "mode: turn,",
      "mode: turn, ¦marker: END,",
      '"marker" belongs to mode steps, but this run is in mode turn.',
    ],
    [
      "a dialogue without its end",
      "agent: { role: critic }",
      "¦agent: { role: critic, mode: dialogue }",
      "A dialogue needs a result and the answer that ends it.",
    ],
    [
      "a session with an answer",
      "agent: { role: coder }",
      "¦agent: { role: coder, result: verdict }",
      "A session gives no answer that a schema could check.",
    ],
  ]);

  test("roles are open where a file declares none, so any name may ask", () => {
    const text =
      "version: 1\nstates: { a: {}, b: { terminal: true } }\ntransitions: [{ from: a, to: b, by: somebody }]\n";
    expect(problemsOf(text)).toEqual([]);
  });
});

describe("panels, fan-outs, dialogues and hooks that start agents must be complete", () => {
  const panel = (members: string) => `stuck: { panel: { members: { ${members} }, judge: { role: critic } },`;
  const fanOut = (more: string) => `stuck: { fan_out: { workflow: w, ${more} },`;
  const stuck = "stuck: { waits_for: human,";
  const hook = "{ action: increment, field: tries }";
  checkCases([
    [
      "a session in a panel",
      stuck,
      panel("role: coder, result: verdict").replace("members", "¦members"),
      "The runs of a panel are turns, but this one is in mode session.",
    ],
    [
      "a fan-out over no result",
      stuck,
      fanOut("from: ¦plan.parts"),
      'There is no schema "plan", so no result of that name.',
    ],
    [
      "a fan-out over what is no list",
      stuck,
      fanOut("from: ¦verdict.why"),
      '"why" is not a list in the schema "verdict".',
    ],
    [
      "a fan-out over no field",
      stuck,
      fanOut("from: ¦verdict"),
      '"from" must be a list in a result, such as plan.subtasks, but is "verdict".',
    ],
    [
      "a dialogue that waits for what is never said",
      "agent: { role: critic }",
      "agent: { role: critic, mode: dialogue, until: { good: ¦perhaps } }",
      '"good" is never "perhaps". It is one of true, false.',
    ],
    [
      "a dialogue that waits for a field that is not there",
      "agent: { role: critic }",
      "agent: { role: critic, mode: dialogue, until: { ¦ready: true } }",
      'The schema "verdict" has no field "ready".',
    ],
    [
      "a hook with an unknown schema",
      hook,
      `${hook}, { action: spawn_agent, role: critic, prompt: judge, result: ¦verdit }`,
      'There is no schema "verdit".',
    ],
    [
      "a hook with an unknown mode",
      hook,
      `${hook}, { action: spawn_agent, role: critic, prompt: judge, mode: ¦chat }`,
      '"mode" of "spawn_agent" cannot be "chat".',
    ],
    [
      "a restart where nobody runs",
      stuck,
      "stuck: { ¦respawn_prompt: build, waits_for: human,",
      "This state has no agent that could be started again.",
    ],
    [
      "a counter moved by a state's own work",
      "do: [merge]",
      "do: [merge, ¦{ action: increment, field: tries }]",
      '"increment" belongs to a transition, not to a state.',
    ],
    [
      "a counter moved by an agent that a state's own work starts",
      "do: [merge]",
      "do: [merge, { action: spawn_agent, role: critic, increment: ¦tries }]",
      '"increment" belongs to a transition, not to a state.',
    ],
    [
      "attempts of a whole task",
      "roles:\n",
      "limits: { ¦attempts: 3 }\nroles:\n",
      '"attempts" is a limit of a state or a role, not of the whole task.',
    ],
    [
      "a state called any",
      "  done: { terminal: true }",
      "  ¦any: {}\n  done: { terminal: true }",
      '"any" stands for every state and cannot name one.',
    ],
  ]);

  const parts = edit(
    edit(whole, "properties: { good:", "properties: { parts: { type: array }, good:"),
    stuck,
    "stuck: { fan_out: { from: verdict.parts, workflow: w, parallel: 2 },",
  );
  test("a fan-out over a list is valid", () => expect(problemsOf(parts)).toEqual([]));
  test.each([
    ["a policy that may be anything", 'policy: "{style}"', 'The setting "style" allows values that are not policies.'],
    ["an unknown policy", "policy: hope", '"policy" must be retry, continue, stop or a setting'],
    ["a setting that is not a switch", 'waves: "{rounds}"', 'There is no setting "rounds" of the right type.'],
    ["a setting that is not a number", 'parallel: "{style}"', 'There is no setting "style" that is a number.'],
  ])("%s", (_what, more, said) => {
    const text = edit(parts, "parallel: 2", more);
    const line = text.split("\n").findIndex((each) => each.includes(more)) + 1;
    expect(problemsOf(text).map(formatProblem)).toEqual([expect.stringContaining(said)]);
    expect(problemsOf(text)[0]?.line).toBe(line);
  });

  test("a panel's runs need a prompt and a schema", () => {
    const bare = (run: string) =>
      problemsOf(`version: 1
roles: { scout: { mode: turn }, judge: { mode: turn, prompt: p, result: r } }
states: { a: { panel: { members: { role: scout${run} }, judge: { role: judge } }, next: b }, b: { terminal: true } }
schemas: { r: { type: object } }
prompts: { p: x }
`).map(({ message }) => message);
    expect(bare(", prompt: p, result: r")).toEqual([]);
    expect(bare(", result: r")).toEqual(['The run of "scout" has no prompt.']);
    expect(bare(", prompt: p")).toEqual(["The runs of a panel need a schema for their answers."]);
  });

  test.each([
    ["prompts instead of one", "prompts: [safe, fast], members: { role: scout }", []],
    ["an unknown prompt", "prompts: [safe, fsat], members: { role: scout }", ['There is no prompt "fsat".']],
    ["a prompt twice", "prompts: [safe, safe], members: { role: scout }", ['Two members have the prompt "safe".']],
    ["no prompts", "prompts: [], members: { role: scout }", ["A panel without prompts has no members."]],
    [
      "a prompt that nobody would get",
      "prompts: [safe], members: { role: scout, prompt: fast }",
      ["The members have prompts of their own, so none of them would get this one."],
    ],
  ])("prompts of a panel's members: %s", (_what, panel, said) => {
    const text = `version: 1
roles: { scout: { mode: turn, result: r }, judge: { mode: turn, prompt: safe, result: r } }
states: { a: { panel: { ${panel}, judge: { role: judge } }, next: b }, b: { terminal: true } }
schemas: { r: { type: object } }
prompts: { safe: x, fast: x }
`;
    expect(problemsOf(text).map(({ message }) => message)).toEqual(said);
    for (const problem of problemsOf(text)) expect(problem.line).toBe(3);
  });

  test("a hook that starts an agent needs a prompt, its own or the role's", () => {
    const started = (role: string) =>
      problemsOf(`version: 1
roles: { worker: { ${role} } }
states: { a: {}, b: { terminal: true } }
transitions: [{ from: a, to: b, hooks: [{ action: spawn_agent, role: worker }] }]
prompts: { p: x }
`).map(({ message }) => message);
    expect(started("prompt: p")).toEqual([]);
    expect(started("mode: session")).toEqual(['"spawn_agent" has no prompt to start with.']);
  });
});

describe("rules must match how the state can end", () => {
  checkCases([
    [
      "a word the state cannot end with",
      "on: failed",
      "on: ¦conflict",
      '"judge" never ends with "conflict". It ends with ok, failed, error, ',
    ],
    ["one of several such words", "on: failed", "on: [error, ¦tests]", '"judge" never ends with "tests".'],
    [
      "a slip in a word",
      "on: conflict",
      "on: ¦conflct",
      '"merge" never ends with "conflct". It ends with ok, failed, error, ',
    ],
    ["`time` without such a limit", "on: failed", "on: ¦time", '"judge" never ends with "time".'],
    [
      "a rule that an earlier one forestalls",
      "- { on: failed, then: stuck }",
      "- { on: failed, then: stuck }\n      - ¦{ on: error, then: build }",
      '"error" never gets here: outcome 3 of "judge" handles it first.',
    ],
    [
      "a rule behind one for everything",
      "- { action: crash, stuck_after: 2 }",
      "- { action: crash, stuck_after: 2 }\n      - ¦{ then: stuck }",
      '"anything" never gets here: outcome 2 of "build" handles it first.',
    ],
    [
      "`next` beside rules for answers",
      "      - { on: failed, then: stuck }\n",
      "      - { on: failed, then: stuck }\n    ¦next: merge\n",
      '"next" would be taken for any answer, because "ok" only means that there is one.',
    ],
    [
      "an answer where none comes",
      "- { then: judge }",
      "- { ¦result: { good: true }, then: judge }",
      '"build" waits for no answer that a rule could read.',
    ],
    [
      "a session whose `ok` asks for no artifact",
      "- { then: judge }",
      "- { then: judge }\n      - ¦{ on: ok, then: merge }",
      'The end of a session proves nothing, and the way from "build" to "merge" has no gate.',
    ],
    [
      "a session with a plain `next`",
      "      - { then: judge }\n      - { action: crash, stuck_after: 2 }\n",
      "      - { on: exit, action: crash, stuck_after: 2 }\n    next: ¦stuck\n",
      "The end of a session proves nothing",
    ],
    [
      "a rule that does two things",
      "- { then: judge }",
      "- ¦{ then: judge, action: crash }",
      "A rule does one thing, but this one has then and action.",
    ],
    [
      "a rule that does nothing",
      "- { then: judge }",
      "- { then: judge }\n      - ¦{ on: exit }",
      "A rule does one thing, but this one has nothing.",
    ],
    [
      "a limit on failures without an action",
      "- { then: judge }",
      "- ¦{ then: judge, stuck_after: 2 }",
      "A limit on failures goes with an action. Add action: crash.",
    ],
    [
      "a limit on failures beside choices",
      "{ on: conflict, then_when:",
      "¦{ on: conflict, stuck_after: 2, then_when:",
      "A limit on failures goes with an action.",
    ],
    [
      "two limits on failures",
      "stuck_after: 2",
      "stuck_after: 2, ¦merge_after: 3",
      "A rule has one limit on failures.",
    ],
    [
      "choices that leave something out",
      "{ on: conflict, then_when: [{ when: tries < 2,",
      "{ on: conflict, ¦then_when: [{ when: tries < 1,",
      'The choices of "merge" leave out tries = 1.',
    ],
    [
      "choices that overlap",
      "{ when: tries >= 2, then: stuck }",
      "¦{ when: tries >= 1, then: stuck }",
      'Two choices of "merge" fit tries = 1.',
    ],
  ]);

  test("a limit on failures that leads to no state is only a warning", () => {
    const problems = problemsOf(edit(whole, "stuck_after: 2", "stuk_after: 2"));
    expect(problems.map(formatProblem)).toEqual([
      'b.yml:19:26 warning: There is no state "stuk", so the task is held in its state instead. Did you mean "stuck"?',
    ]);
  });

  test("choices over two fields must cover their combinations", () => {
    const choices = (second: string) =>
      edit(
        whole,
        "{ when: tries < 2, then: build }, { when: tries >= 2, then: stuck }",
        `{ when: [tries < 2, dirty == true], then: build }, ${second}`,
      );
    const incomplete = choices("{ when: tries >= 2, then: stuck }");
    const complete = choices("{ when: [tries < 2, dirty == false], then: stuck }, { when: tries >= 2, then: stuck }");
    expect(problemsOf(incomplete).map(({ message }) => message)).toEqual([
      'The choices of "merge" leave out tries = 0, dirty = 0.',
    ]);
    expect(problemsOf(complete)).toEqual([]);
  });

  test("a counter is never negative, so `== 0` and `> 0` leave nothing out", () => {
    for (const field of ["tries", "commits", "crash_count"]) {
      const text = whole.replaceAll("tries < 2,", `${field} == 0,`).replaceAll("tries >= 2,", `${field} > 0,`);
      expect(problemsOf(text)).toEqual([]);
    }
    const visits = whole.replaceAll("tries < 2,", "visits == 1,").replaceAll("tries >= 2,", "visits > 1,");
    expect(problemsOf(visits)).toEqual([]);
    const setting = whole.replaceAll("tries < 2,", "rounds == 0,").replaceAll("tries >= 2,", "rounds > 0,");
    expect(problemsOf(setting).map(({ message }) => message)).toEqual([
      'The choices of "merge" leave out rounds = -1.',
    ]);
  });

  test("choices need not cover what the rule itself excludes", () => {
    const rule = (when: string) =>
      edit(whole, "then_when: [{ when: tries < 2,", `when: ${when}, then_when: [{ when: tries == 1,`);
    expect(problemsOf(rule("tries > 0"))).toEqual([]);
    expect(problemsOf(rule("tries >= 0")).map(({ message }) => message)).toEqual([
      'The choices of "merge" leave out tries = 0.',
    ]);
  });
});

describe("conditions must compare fields that change", () => {
  checkCases([
    [
      "a field nobody changes",
      "when: visits < 3",
      "when: ¦review_round < 3",
      'Nothing in this file changes "review_round", so no condition can depend on it.',
    ],
    [
      "a slip in a field",
      "when: visits < 3",
      "when: ¦vists < 3",
      'Nothing in this file changes "vists", so no condition can depend on it. Did you mean "visits"?',
    ],
    [
      "one of several conditions",
      "when: visits < 3",
      "when: [visits < 3, ¦trys < 2]",
      'Nothing in this file changes "trys"',
    ],
    [
      "a sentence",
      "when: visits < 3",
      "when: ¦fewer than three visits",
      '"fewer than three visits" is not a condition.',
    ],
    [
      "two conditions in one",
      "when: visits < 3",
      "when: ¦visits < 3 && tries < 2",
      '"visits < 3 && tries < 2" is not a condition.',
    ],
    ["an unknown operator", "when: visits < 3", "when: ¦visits = 3", '"visits = 3" is not a condition.'],
    ["text on the right", "when: visits < 3", "when: ¦style == safe", '"style == safe" is not a condition.'],
    [
      "a setting that is text",
      "when: visits < 3",
      "when: ¦style == 1",
      'The setting "style" is neither a number nor true or false.',
    ],
    [
      "a counter that the engine counts",
      "field: tries }",
      "field: tries }, { action: increment, field: ¦visits }",
      '"visits" is counted by the engine or set by people',
    ],
    [
      "a counter that is a setting",
      "field: tries }",
      "field: tries }, { action: increment, field: ¦rounds }",
      '"rounds" is counted by the engine or set by people',
    ],
    [
      "a setting that the engine counts",
      "  fast:",
      "  ¦commits: { default: 1 }\n  fast:",
      '"commits" is counted by the engine, and cannot be a setting.',
    ],
    [
      "a counter with a bad name",
      "field: tries }",
      "field: tries }, { action: increment, field: ¦My Counter }",
      "must be the name of a counter",
    ],
  ]);
});

describe("settings keep their types and bounds", () => {
  checkCases([
    [
      "a preset with the wrong type",
      "rounds: 1,",
      "rounds: ¦many,",
      'The setting "rounds" must be a number, but is text.',
    ],
    [
      "a preset below the least value",
      "rounds: 1,",
      "rounds: ¦0,",
      'The setting "rounds" must be at least 1, but is 0.',
    ],
    [
      "a preset above the largest value",
      "rounds: 1,",
      "rounds: ¦10,",
      'The setting "rounds" must be at most 9, but is 10.',
    ],
    [
      "a preset with a value that is not offered",
      "rounds: 1,",
      "style: ¦wild,",
      'The setting "style" must be one of safe, bold, but is wild.',
    ],
    [
      "a default outside its own bounds",
      "default: 3,",
      "default: ¦30,",
      'The setting "rounds" must be at most 9, but is 30.',
    ],
    [
      "a setting whose name is no word",
      "  fast:",
      "  ¦Fast-lane: { default: true }\n  fast:",
      '"Fast-lane" cannot name a setting.',
    ],
  ]);
});

describe("`{name}` is a variable and must exist; every other brace is text", () => {
  checkCases([
    [
      "an unknown variable in the second line of a prompt",
      "    Build it and commit.",
      "    Build it and ¦{nope}.",
      'There is no variable "nope".',
    ],
    [
      "the place is that of the variable, not of its escaped twin",
      "    Build it and commit.",
      "    Print {{nope}}, then\n    use ¦{nope}.",
      'There is no variable "nope". Known: ',
    ],
    ["a slip in a variable", "{summary}.", "¦{sumary}.", 'There is no variable "sumary". Did you mean "summary"?'],
    [
      "a field that the answer does not have",
      "{verdict.why}",
      "¦{verdict.wy}",
      'The schema "verdict" has no field "wy". Did you mean "why"?',
    ],
    ["a field of nothing", "{verdict.why}", "¦{result.why}", 'There is no variable "result.why".'],
    ["in the window of a role", "keep: true", 'keep: true, window: "w-¦{nope}"', 'There is no variable "nope".'],
    [
      "in a message of a hook",
      "field: tries }",
      'field: tries }, { action: notify, message: "See ¦{nope}" }',
      'There is no variable "nope".',
    ],
    ["in what the person is asked", "ask: Merge", 'ask: "Merge ¦{nope}"', 'There is no variable "nope".'],
    [
      "in a parameter of the state's own work",
      "do: [merge]",
      'do: [merge, { action: create_branch, name: "x/¦{nope}" }]',
      'There is no variable "nope".',
    ],
  ]);

  test.each([
    ["{{nope}} is printed as it stands", "Say {{nope}}."],
    ["JSON needs no escaping", 'Answer {"good": true, "list": [{"a": 1}]} or { good: true }.'],
    ["nor does code", "if (x) { y() } else {} $HOME {Upper} {kebab-case} {1} {}"],
    [
      "settings, counters, results and the parent's fields are variables",
      "{rounds} {tries} {verdict} {verdict.good} {parent.branch} {cli}",
    ],
  ])("%s", (_what, line) => {
    expect(problemsOf(edit(whole, "    Build it and commit.", `    ${line}`))).toEqual([]);
  });
});

describe("for one pair of states, conditions exclude each other wherever askers overlap", () => {
  const pair = (first: string, second: string) =>
    problemsOf(`version: 1
roles: { worker: { prompt: p }, judge: { prompt: p } }
states:
  a: { agent: { role: worker }, waits_for: human }
  b: { terminal: true }
transitions:
  - { from: a, to: b, hooks: [{ action: increment, field: n }]${first} }
  - { from: a, to: b${second} }
prompts: { p: x }
`).map(({ line, message }) => `${line} ${message}`);

  test.each([
    ["everyone, without conditions", "", "", "open to everyone (no condition / no condition)."],
    ["conditions that overlap", ", when: n < 2", ", when: n > 0", "open to everyone when n = 1 (n < 2 / n > 0)."],
    ["one with a condition, one without", ", when: n < 2", "", "open to everyone when n = 0 (n < 2 / no condition)."],
    ["everyone includes a role", ", by: worker", "", "open to worker"],
    ["a role in both lists", ", by: [worker, human]", ", by: [judge, human]", "open to human"],
    [
      "a list of conditions",
      ", when: [n < 2, dirty == true]",
      ", when: dirty == true",
      "open to everyone when n = 0, dirty = 1",
    ],
  ])("ambiguous: %s", (_what, first, second, said) => {
    expect(pair(first, second)).toEqual([expect.stringContaining(`8 Two transitions from "a" to "b" are ${said}`)]);
  });

  test.each([
    ["conditions that exclude each other", ", when: n < 2", ", when: n >= 2"],
    ["a list of conditions one of which excludes", ", when: [n < 2, dirty == true]", ", when: [n < 5, dirty == false]"],
    ["different askers", ", by: worker", ", by: human"],
    ["the engine takes the first that is open", ", by: worker", ", by: engine"],
    ["equal, and not equal", ", when: n == 1", ", when: n != 1"],
  ])("not ambiguous: %s", (_what, first, second) => {
    expect(pair(first, second)).toEqual([]);
  });

  test("two ways with six conditions each are compared quickly", () => {
    const fields = ["commits", "approved_findings", "open_findings", "children_done", "children_failed", "exit_code"];
    const guards = (op: string) =>
      `, when: [${fields.map((field, i) => `${field} ${i === 5 ? op : ">"} ${3 * i}`).join(", ")}]`;
    expect(pair(guards(">"), guards("<="))).toEqual([]);
    expect(pair(guards(">"), guards(">="))).toHaveLength(1);
  });
});

describe("`any` stands for every state that is not terminal, and a specific pair overrides it", () => {
  const workflow = load(`version: 1
states: { a: {}, b: {}, c: { terminal: true }, d: { terminal: true } }
transitions:
  - { from: any, to: [b, c], by: human }
  - { from: a, to: b }
  - { from: [a, b], to: d, by: engine }
`);
  const ways = workflow.ways.map(({ from, to, by }) => `${from} ${to} ${by ?? "everyone"}`);

  test("it gives one way for each state and target", () => expect(ways).toContain("b c human"));
  test("it gives no way out of a terminal state, and none from a state to itself", () => {
    expect(ways.filter((way) => way.startsWith("c ") || way.startsWith("d ") || way.startsWith("b b"))).toEqual([]);
  });
  test("a specific pair has only its own way", () => {
    expect(ways).toEqual(["a c human", "b c human", "a b everyone", "a d engine", "b d engine"]);
  });

  test("a rule's target without a transition becomes a way of the engine", () => {
    const implied = load("version: 1\nstates: { a: { next: b }, b: { terminal: true } }\n").ways;
    expect(implied).toEqual([{ from: "a", to: "b", by: ["engine"], when: [], gates: [], hooks: [], implied: "rule" }]);
  });

  test("a file with too many ways is refused", () => {
    const states = Array.from({ length: 150 }, (_, i) => `s${i}: {}`).join(", ");
    const targets = Array.from({ length: 150 }, (_, i) => `s${i}`).join(", ");
    const text = `version: 1\nstates: { ${states}, end: { terminal: true } }\ntransitions: [{ from: any, to: [${targets}] }]\n`;
    expect(problemsOf(text).map(({ message }) => message)).toEqual(["These are 22350 ways, more than 20000."]);
  });
});

describe("a file that is not plain YAML is refused", () => {
  const place = (text: string) => problemsOf(text).map(formatProblem);

  test("a duplicate key", () => {
    const { text, line, column } = marked(edit(whole, "version: 1\n", "version: 1\n¦name: c\n"));
    expect(place(text)).toEqual([
      `b.yml:${line}:${column} error: The key "name" is already used above. Merge the two, or remove one.`,
    ]);
  });
  test("a duplicate key in a state", () => {
    const { text, line, column } = marked(edit(whole, "    ask: Merge\n", "    ask: Merge\n    ¦ask: Merge\n"));
    expect(place(text)).toEqual([
      `b.yml:${line}:${column} error: The key "ask" is already used above. Merge the two, or remove one.`,
    ]);
  });
  test("tabs as indentation", () => {
    expect(place("version: 1\nstates:\n\ta: {}\n")).toEqual([
      "b.yml:3:1 error: This line is indented with a tab. Indent it with spaces.",
    ]);
  });
  test("a bracket that is never closed", () => {
    expect(place("version: 1\nstates: { a: {\n")[0]).toContain("b.yml:2:14 error: This { is never closed.");
  });
  test("a warning of the parser", () => {
    expect(place(edit(whole, "name: b", "name: !label b"))).toEqual([
      expect.stringContaining("b.yml:1:7 error: !label is a tag, and tags have no meaning here."),
    ]);
  });
  test("two documents in one file", () => {
    expect(place(`${whole}---\n${whole}`)[0]).toContain("A second document begins here");
  });
  test("an alias without an anchor", () => {
    const { text, line, column } = marked(edit(whole, "agent: { role: coder }", "agent: ¦*nothing"));
    expect(place(text)[0]).toContain(`b.yml:${line}:${column} error: There is no anchor "nothing".`);
  });
  test("a key that is a list", () => {
    expect(place("version: 1\n? [a, b]\n: c\n")).toContain(
      "b.yml:2:3 error: A key must be a plain word. Write it as text.",
    );
  });
  test("one mistake does not cause a flood of problems", () => {
    expect(problemsOf("{a: ".repeat(5_000)).length).toBeLessThanOrEqual(10);
  });
});

describe("anchors work, merge keys do not", () => {
  test("an alias has the value of its anchor", () => {
    const text = edit(
      edit(whole, "do: [merge]", "do: &work [merge]"),
      "do: [acquire_workspace]",
      "do: [acquire_workspace]",
    );
    const shared = edit(text, "stuck: { waits_for: human,", "stuck: { waits_for: human, do: *work,");
    expect(load(shared).states.stuck?.do).toEqual(load(shared).states.merge?.do);
  });
  test("an alias inside an aliased value keeps its own value", () => {
    const prompts = "prompts:\n  one: &x first\n  two: &y x\n  three: &x second\n  four: *x\n  five: *y\n";
    const { prompts: read } = load(`version: 1\nstates: { a: {}, b: { terminal: true } }\n${prompts}`);
    expect({ ...read }).toEqual({ one: "first", two: "x", three: "second", four: "second", five: "x" });
  });
  test("a problem in an aliased value is reported where it is written", () => {
    const { text, line, column } = marked(
      edit(whole, "do: [merge]", "do: &work [¦mrge]").replace(
        "stuck: { waits_for: human,",
        "stuck: { waits_for: human, do: *work,",
      ),
    );
    expect(problemsOf(text)).toEqual([expect.objectContaining({ line, column })]);
  });
  test("a merge key is an unknown key", () => {
    const text = edit(
      edit(whole, "agent: { role: coder }", "agent: &a { role: coder }"),
      "agent: { role: critic }",
      "agent: { <<: *a }",
    );
    expect(problemsOf(text).map(({ message }) => message)).toEqual(['A run has no key "<<".']);
  });
});

describe("an oversized file is refused quickly", () => {
  const quick = (text: string, said: string) => {
    const started = ownTime();
    expect(problemsOf(text).map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining(said)]),
    );
    expect(ownTime() - started).toBeLessThan(20_000);
  };
  test("too large", () => quick(`version: 1\n#${"x".repeat(300_000)}\n`, "The file has 293 KB; it may have 256 KB."));
  test("too many values", () =>
    quick(`version: 1\nstates: [${"a,".repeat(25_000)}]\n`, "The file has more than 20000 values."));
  test("too deep", () =>
    quick(`version: 1\nschemas: { s: ${"[".repeat(30)}${"]".repeat(30)} }\n`, "nested deeper than 24 levels"));
  test.each(["[", "{a: ", "- ", "? "])("deeper than the parser's own stack: %s", (opening) =>
    quick(opening.repeat(50_000), "nested deeper than 24 levels"),
  );
  test("an alias inside itself", () => quick("version: 1\nschemas: &a { s: *a }\n", "nested deeper than 24 levels"));
  test("aliases that multiply", () => {
    const levels = "bcdefghij".split("").map((name, i) => `${name}: &${name} [${`*${"abcdefghi"[i]},`.repeat(9)}]`);
    quick(`a: &a [x,x,x,x,x,x,x,x,x]\n${levels.join("\n")}\n`, "more than 20000 values");
  });
  test("very many aliases", () => quick(`x: &a 1\ny:\n${"- *a\n".repeat(20_000)}`, "more than 20000 values"));
});

describe("a name that is special in JavaScript has no special meaning in a file", () => {
  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s", (name) => {
    const texts = [
      `version: 1\n${name}: 1\nstates: { a: {}, b: { terminal: true } }\n`,
      `version: 1\nstates: { a: { ${name}: 1 }, b: { terminal: true } }\n`,
      `version: 1\nstates: { a: { next: ${name} }, b: { terminal: true } }\n`,
      `version: 1\nstates: { a: { do: [{ action: notify, ${name}: { message: x } }], next: b }, b: { terminal: true } }\n`,
      `version: 1\nstates: { a: { do: [${name}], next: b }, b: { terminal: true } }\n`,
      `version: 1\nstates: { a: { outcomes: [{ when: ${name} < 1, then: b }] }, b: { terminal: true } }\n`,
      `version: 1\npresets: { p: { ${name}: x } }\nstates: { a: {}, b: { terminal: true } }\n`,
      `version: 1\nstates: { a: { agent: { prompt: ${name} }, waits_for: human }, b: { terminal: true } }\n`,
    ];
    for (const text of texts) expect(problemsOf(text).map(formatProblem).join("\n")).toContain(name);
  });
  test("a state cannot be called constructor", () => {
    const problems = problemsOf(
      "version: 1\nstates: { constructor: { next: toString }, toString: { terminal: true } }\n",
    );
    expect(problems.map((problem) => problem.message)).toEqual([
      '"constructor" cannot be used as a name.',
      '"toString" cannot be used as a name.',
    ]);
  });
  test("loading changes no prototype", () => {
    problemsOf("version: 1\n__proto__: { leaked: true }\nstates: { __proto__: { leaked: true } }\n");
    expect(({} as { leaked?: boolean }).leaked).toBeUndefined();
  });
});

describe("a file that is not a workflow is refused with a clear problem", () => {
  const said = (text: string) => problemsOf(text).map(formatProblem);
  test("an empty file", () => {
    expect(said("")).toEqual([
      'b.yml:1:1 error: The file needs the key "version". Add version: …',
      'b.yml:1:1 error: The file needs the key "states". Add states: …',
    ]);
  });
  test("a file with only comments", () => expect(said("# to do\n")).toHaveLength(2));
  test("a list", () =>
    expect(said("- a\n- b\n")).toEqual([
      expect.stringContaining("b.yml:1:1 error: The file must be a workflow, but is a list."),
    ]));
  test("a sentence", () =>
    expect(said("hello")).toEqual([expect.stringContaining('The file must be a workflow, but is "hello".')]));
  test("bytes of a picture", () => {
    expect(said(Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("utf8")).length).toBeGreaterThan(0);
  });
  test("a byte order mark does no harm", () => expect(problemsOf(`\uFEFF${whole}`)).toEqual([]));
  test("Windows line endings do no harm, and places stay right", () => {
    const { text, line, column } = marked(edit(whole, "next: done", "next: ¦don"));
    expect(problemsOf(whole.replaceAll("\n", "\r\n"))).toEqual([]);
    expect(problemsOf(text.replaceAll("\n", "\r\n"))).toEqual([expect.objectContaining({ line, column })]);
  });
});

describe("all problems are reported together, in the order of the file", () => {
  test("problems of form", () => {
    const text = edit(
      edit(edit(whole, "name: b", "nam: b"), "    ask: Merge", "    aks: Merge"),
      "by: coder",
      "bye: coder",
    );
    const lines = text.split("\n");
    const lineOf = (part: string) => lines.findIndex((line) => line.includes(part)) + 1;
    expect(problemsOf(text).map(({ line }) => line)).toEqual([lineOf("nam:"), lineOf("aks:"), lineOf("bye:")]);
  });
  test("problems of meaning", () => {
    const text = edit(
      edit(edit(edit(whole, "next: done", "next: don"), "{verdict.why}", "{nope}"), "initial: todo", "initial: tood"),
      "by: coder",
      "by: codr",
    );
    expect(problemsOf(text).map(({ message }) => message)).toEqual([
      'There is no state "tood".',
      'There is no state "don".',
      'There is no role "codr".',
      'There is no variable "nope".',
    ]);
  });
  test("the same problem at the same place is reported once", () => {
    const keys = problemsOf(edit(whole, "prompt: build,", "prompt: biuld,")).map(formatProblem);
    expect(new Set(keys).size).toBe(keys.length);
  });
  test("a problem reads file:line:column, what is wrong, how to fix it", () => {
    const text = edit(
      whole,
      "from: any, to: dropped, by: human, hooks: [kill_session",
      "from: any, to: dropped, by: human, hooks: [kill_sesion",
    );
    const line = text.split("\n").findIndex((each) => each.includes("kill_sesion")) + 1;
    expect(problemsOf(text, "mine/b.yml").map(formatProblem)).toEqual([
      `mine/b.yml:${line}:50 error: No action "kill_sesion". Did you mean "kill_session"?`,
    ]);
  });
});

test("the example of the language's own page is 22 lines, loads, and verifies without an error or a warning", () => {
  const mine = `name: mine
version: 1
roles:
  coder:  { mode: turn, permissions: full, prompt: build }
  critic: { mode: turn, permissions: reduced, prompt: judge, result: verdict }
states:
  todo:    { waits_for: slot, do: [acquire_workspace], next: build }
  build:   { agent: { role: coder }, do: [harvest_uncommitted], next: judge }
  judge:
    agent: { role: critic }
    outcomes:
      - { result: { good: true }, then: merge }
      - { result: { good: false }, when: visits < 3, then: build }   # the third time a person is asked
  merge:   { waits_for: human, ask: Merge, do: [merge, release_workspace], next: done }
  done:    { terminal: true }
  dropped: { terminal: true }
transitions:
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
schemas: { verdict: { type: object, required: [good], properties: { good: { type: boolean }, why: { type: string } } } }
prompts:
  build: "{summary}. The critic says: {verdict.why}. Build it and commit."
  judge: 'Is the diff right? Answer {"good": true|false, "why": "…"}.'
`;
  expect(mine.trimEnd().split("\n")).toHaveLength(22);
  expect(problemsOf(mine, "mine.yml")).toEqual([]);
  const { verification } = check(mine, "mine.yml");
  expect(faults(verification)).toEqual([]);
  expect(verification.proved).toBe(true);
});

testRandomFiles(1);

describe("the workflow of a fan-out's children", () => {
  const text = `version: 1
states:
  plan: { agent: { mode: turn, prompt: p, result: plan }, next: build }
  build: { fan_out: { from: plan.parts, workflow: team-subtaks }, next: done }
  done: { terminal: true }
prompts: { p: x }
schemas: { plan: { type: object, required: [parts], properties: { parts: { type: array, items: {} } } } }
`;

  test("must exist where the known workflows are given", () => {
    expect(loadWorkflow(text, "b.yml", ["team", "team-subtask"]).problems.map(formatProblem)).toEqual([
      'b.yml:4:51 error: There is no workflow "team-subtaks" for the children. Did you mean "team-subtask"?',
    ]);
    expect(loadWorkflow(text.replace("subtaks", "subtask"), "b.yml", ["team-subtask"]).problems).toEqual([]);
  });

  test("is not checked where the known workflows are not given", () => {
    expect(loadWorkflow(text, "b.yml").problems).toEqual([]);
  });
});
