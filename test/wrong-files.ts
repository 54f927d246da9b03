/** One file for each check of the loader, in the order of the table "What is checked at load" in docs/workflow-language.md. */
export const wrongFiles: readonly string[] = [
  // Syntax
  states("a: { next: b }, b: { terminal: true }, a: { next: b }"),
  states("a: { next: *end }, b: { terminal: true }"),
  `version: 1\nschemas: { s: ${"[".repeat(30)}${"]".repeat(30)} }`,
  plain("transition: []"),
  "version: 1",
  plain("transitions: { from: a, to: b }"),
  plain("transitions: [{ from: a, to: b, by: [] }]"),
  plain("roles: { worker: { mode: chat } }"),
  plain('transitions: [{ from: a, to: b, gate: { section: "Handoff" } }]'),
  plain('transitions: [{ from: a, to: b, gate: { section: "## Handoff", fields: ["DONE:"] } }]'),
  plain("roles: { worker: { limits: { attempts: 0 } } }"),
  states("1st: { terminal: true }"),
  // File
  "version: 2\nstates: { a: { next: b }, b: { terminal: true } }",
  states("a: { waits_for: human }"),
  states("a: { terminal: true }"),
  states("any: { next: b }, b: { terminal: true }"),
  states("start: { next: finsh }, finish: { terminal: true }"),
  plain("initial: b"),
  states("a: { next: b }, b: { terminal: true, next: b }"),
  plain("exit_monitoring: { rules: [{ status: b, then: a }] }"),
  plain("transitions: [{ from: b, to: a }]"),
  states("a: { outcome: failed, next: b }, b: { terminal: true }"),
  states("a: { waits_for: slot, ask: Merge, next: b }, b: { terminal: true }"),
  states("a: { agent: { prompt: p }, waits_for: slot, next: b }, b: { terminal: true }", "prompts: { p: x }"),
  states("a: { waits_for: human, respawn_prompt: p, next: b }, b: { terminal: true }", "prompts: { p: x }"),
  states("a: { waits_for: human, evidence: new_commits > 0, next: b }, b: { terminal: true }"),
  plain("limits: { stall: 5m }"),
  plain("settings: { rounds: { default: 0, min: 1 } }"),
  plain("settings: { visits: { default: 3 } }"),
  plain("settings: { spec: { default: true } }\npresets: { quick: { spec: 3 } }"),
  plain("schemas: { verdict: { type: object, required: [good] } }"),
  // Runs
  plain("roles: { human: { mode: turn } }"),
  plain("roles: { coder: { mode: turn } }\ntransitions: [{ from: a, to: b, by: codr }]"),
  turn("prompt: buld", "prompts: { build: x }"),
  turn("role: coder"),
  turn("prompt: p, marker: OK"),
  states("a: { agent: { mode: dialogue, prompt: p }, next: b }, b: { terminal: true }", "prompts: { p: x }"),
  states(
    "a: { agent: { mode: dialogue, prompt: p, result: r, until: { redy: true } }, next: b }, b: { terminal: true }",
    "prompts: { p: x }\nschemas: { r: { properties: { ready: { type: boolean } } } }",
  ),
  states(
    "a: { agent: { prompt: p, result: r }, waits_for: human }, b: { terminal: true }",
    "prompts: { p: x }\nschemas: { r: {} }",
  ),
  turn("prompt: p, result: verdct", "prompts: { p: x }\nschemas: { verdict: { type: object } }"),
  states(
    "a: { panel: { members: { prompt: p, result: r }, judge: { mode: turn, prompt: p, result: r } }, next: b }, b: { terminal: true }",
    "prompts: { p: x }\nschemas: { r: {} }",
  ),
  states(
    "a: { fan_out: { from: plan.parts, workflow: w }, next: b }, b: { terminal: true }",
    "schemas: { plan: { properties: { parts: { type: string } } } }",
  ),
  states(
    'a: { fan_out: { from: plan.parts, workflow: w, policy: "{policy}" }, next: b }, b: { terminal: true }',
    "settings: { policy: { default: retry } }\nschemas: { plan: { properties: { parts: { type: array } } } }",
  ),
  turn('prompt: p, limits: { steps: "{most}" }'),
  // Guards
  plain("transitions: [{ from: a, to: b, when: visits less than 3 }]"),
  plain("transitions: [{ from: a, to: b, when: rounds < 3 }]"),
  plain("settings: { who: { default: me } }\ntransitions: [{ from: a, to: b, when: who == 1 }]"),
  plain("transitions: [{ from: a, to: b, hooks: [{ action: increment, field: visits }] }]"),
  // Actions
  plain("transitions: [{ from: a, to: b, hooks: [kill_sesion] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [{ action: merge, stratgy: ff }] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [kill_agent] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [{ action: run_command, command: make }] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [{ action: notify_agent, role: worker, message: Hi, steps: -3 }] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [{ action: notify_agent, role: worker }] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [notify_worker] }]"),
  plain("transitions: [{ from: a, to: b, hooks: [spawn_reviewer] }]"),
  plain(
    "transitions: [{ from: a, to: b, hooks: [{ action: spawn_agent, prompt: p, result: r }] }]\nprompts: { p: x }\nschemas: { r: {} }",
  ),
  states("a: { do: [increment_review_round], next: b }, b: { terminal: true }"),
  states(
    "a: { do: [{ action: spawn_agent, prompt: p, increment: rounds }], next: b }, b: { terminal: true }",
    "prompts: { p: x }",
  ),
  // Rules and ways
  states("a: { outcomes: [{ then: b, action: crash }] }, b: { terminal: true }"),
  states("a: { outcomes: [{ then: b, b_after: 2 }] }, b: { terminal: true }"),
  states(
    "a: { outcomes: [{ then_when: [{ when: visits < 2, then: a }, { when: visits > 1, then: b }], b_after: 2 }] }, b: { terminal: true }",
  ),
  states("a: { waits_for: human, outcomes: [{ action: crash, stuk_after: 2 }] }, stuck: { terminal: true }"),
  states("a: { do: [run_tests], outcomes: [{ on: conflict, then: b }] }, b: { terminal: true }"),
  judged("{ result: { good: maybe }, then: b }"),
  judged("{ result: { good: true }, then: b }", "next: b"),
  states("a: { do: [run_tests], outcomes: [{ on: failed, then: b }, { on: tests, then: a }] }, b: { terminal: true }"),
  states("a: { agent: { prompt: p }, next: b }, b: { terminal: true }", "prompts: { p: x }"),
  states(
    "a: { outcomes: [{ then_when: [{ when: visits < 2, then: a }, { when: visits > 2, then: b }] }] }, b: { terminal: true }",
  ),
  plain("exit_monitoring: { poll_interval: 0.05 }"),
  plain("transitions: [{ from: a, to: b, when: visits < 3 }, { from: a, to: b, when: visits > 1 }]"),
  turn("prompt: p", 'prompts: { p: "Do {sumary}." }'),
  // Promises
  plain("promises: [{ to: b, after: {} }]"),
  plain("promises: [{ to: b, after: { merged: false } }]"),
  plain("promises: [{ to: a, never_by: human }]"),
  plain("promises: [{ to: b, never_by: [engine, human] }]"),
  states(
    "a: { waits_for: human, next: b }, b: { terminal: true }",
    'transitions: [{ from: a, to: b, gate: { section: "## Review" } }]\npromises: [{ to: b, after: { gate: "## Reviw" } }]',
  ),
  `${judged("{ result: { good: true }, then: b }")}\npromises: [{ to: b, after: { result: { god: true } } }]`,
  `${turn("role: judge, prompt: p")}\npromises: [{ role: judge, never_same_run_as: judge }]`,
  plain("promises: [{ within: 2, of: b }, { within: 3, of: b }]"),
];

function states(inner: string, rest = ""): string {
  return `version: 1\nstates: { ${inner} }\n${rest}`;
}

function plain(rest: string): string {
  return states("a: { next: b }, b: { terminal: true }", rest);
}

function turn(run: string, rest = "prompts: { p: x }"): string {
  return states(`a: { agent: { mode: turn, ${run} }, next: b }, b: { terminal: true }`, rest);
}

function judged(rule: string, next = ""): string {
  const state = `a: { agent: { mode: turn, prompt: p, result: r }, outcomes: [${rule}], ${next} }`;
  return states(
    `${state}, b: { terminal: true }`,
    "prompts: { p: x }\nschemas: { r: { properties: { good: { type: boolean } } } }",
  );
}
