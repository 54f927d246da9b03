import { describe, expect, test } from "vitest";
import { formatProblem } from "../../src/engine/language/problem.ts";
import { follow } from "../../src/engine/simulate/simulate.ts";
import type { Finding, FindingCode } from "../../src/engine/verify/finding.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { type BuiltInName, brief, builtIn, check, edit, editAfter, faults, problemsOf } from "./workflow-texts.ts";

/** One edit: the old and the new text; or the text before it, then the old and the new text. */
type Edit = readonly [from: string, to: string] | readonly [behind: string, from: string, to: string];

interface Planted {
  readonly bug: string;
  readonly in: BuiltInName;
  readonly edits: readonly Edit[];
  /** All errors and warnings that the edit causes, as `level code state`. */
  readonly found: readonly string[];
  /** A part of one of their messages. */
  readonly said: string;
}

const planted: readonly Planted[] = [
  {
    bug: "tests that fail send the work back for ever",
    in: "crew",
    edits: [["testing:", "{ on: tests, when: visits < 4, then: working }", "{ on: tests, then: working }"]],
    found: ["error rule-cycle testing"],
    said: "working → testing → working",
  },
  {
    bug: "tests that fail after the merge send the work back for ever",
    in: "crew",
    edits: [["merging:", "{ on: tests, when: visits < 4, then: working }", "{ on: tests, then: working }"]],
    found: ["error rule-cycle merging"],
    said: "working → testing → merging → working",
  },
  {
    bug: "a stuck agent recovers itself for ever",
    in: "crew",
    edits: [["      - { when: visits >= 3, action: mark_dead } # recovered twice: now a person\n", ""]],
    found: ["error rule-cycle working", "error rule-cycle testing", "error rule-cycle merging"],
    said: "working → stuck → working",
  },
  {
    bug: "an agent may take steps for ever",
    in: "crew",
    edits: [["limits: { steps: 20, ", "limits: { "]],
    found: ["error rule-cycle working"],
    said: "working → working",
  },
  {
    bug: "the specification and its review send the task back and forth for ever",
    in: "pipeline",
    edits: [
      ["{ result: { outcome: revise }, when: visits < 4, then: SPEC }", "{ result: { outcome: revise }, then: SPEC }"],
    ],
    found: ["error rule-cycle SPEC", "error promise SPEC_REVIEW"],
    said: "SPEC → SPEC_REVIEW → SPEC",
  },
  {
    bug: "a merge is resolved and conflicts again for ever",
    in: "team",
    edits: [
      ["{ on: [conflict, tests], when: visits < 4, then: RESOLVING }", "{ on: [conflict, tests], then: RESOLVING }"],
    ],
    found: ["error promise MERGING_AGENTS", "error rule-cycle MERGING_AGENTS"],
    said: "MERGING_AGENTS → RESOLVING → MERGING_AGENTS",
  },
  {
    bug: "a subtask's merge is resolved and conflicts again for ever",
    in: "team-subtask",
    edits: [["{ on: [conflict, tests], when: visits < 3, then:", "{ on: [conflict, tests], then:"]],
    // The resolution is tested and reviewed again.
    found: ["error rule-cycle SUBTASK_REVIEWING", "error rule-cycle SUBTASK_ASKING"],
    said: "SUBTASK_MERGING → SUBTASK_RESOLVING → SUBTASK_COMMITTING",
  },
  {
    bug: "a subtask's review is never satisfied",
    in: "team-subtask",
    edits: [
      [
        'changed.,\n        }\n      - { on: ok, when: "visits < {max_iterations}", then:',
        "changed.,\n        }\n      - { on: ok, then:",
      ],
    ],
    found: ["error rule-cycle SUBTASK_TESTING", "error rule-cycle SUBTASK_CLAIMING"],
    said: "SUBTASK_COMMITTING → SUBTASK_TESTING → SUBTASK_REVIEWING → SUBTASK_FEEDBACK → SUBTASK_COMMITTING",
  },
  {
    bug: "nothing counts the review rounds",
    in: "default",
    edits: [["    hooks: [{ action: increment, field: review_round }]\n", ""]],
    found: ["error rule-cycle working", "error promise agent-review", "warning dead-rule agent-review"],
    said: "working → agent-review → working",
  },
  {
    bug: "the fixer leads nowhere",
    in: "pipeline",
    edits: [
      [
        "    outcomes:\n      - { on: missing, when: approved_findings == 0, then: PR_HUMAN_REVIEW } # the person has dismissed the rest\n    next: PR_REVIEW\n",
        "",
      ],
      [
        "  - { from: FIXER, to: PR_HUMAN_REVIEW, by: [human, engine] } # the fixer was right: nothing is to be fixed\n",
        "",
      ],
    ],
    found: ["error no-success FIXER"],
    said: 'From "FIXER" a task can only be cancelled.',
  },
  {
    bug: "the worker takes its own work from stuck to the merge gate",
    in: "default",
    edits: [
      ["{ from: stuck, to: reviewing, by: human }", "{ from: stuck, to: reviewing }"],
      ["    waits_for: human\n    ask: Review it yourself, without another agent\n    next: reviewing\n", ""],
    ],
    found: ["error promise reviewing", "warning bypass stuck"],
    said: 'The worker alone can go from "stuck" to "reviewing" without ## Review',
  },
  {
    bug: "the workspace stays bound to a merged task",
    in: "crew",
    edits: [
      ["[kill_session, release_workspace, delete_branch, close_ticket]", "[kill_session, delete_branch, close_ticket]"],
    ],
    found: ["warning leak done"],
    said: "with its workspace still bound. Add release_workspace to the hooks of the way there.",
  },
  {
    bug: "cancelling leaves everything as it is",
    in: "crew",
    edits: [
      [
        "{ from: any, to: cancelled, by: human, hooks: [kill_session, release_workspace] }",
        "{ from: any, to: cancelled, by: human }",
      ],
    ],
    found: ["warning leak cancelled"],
    said: "its workspace still bound",
  },
  {
    bug: "a failed run keeps its workspace",
    in: "team",
    edits: [["FAILED:\n", "release_workspace", "sync_repo"]],
    found: ["warning leak FAILED"],
    said: "its workspace still bound",
  },
  {
    bug: "the worker answers its own questions, and asks again",
    in: "default",
    edits: [
      ["{ from: clarification, to: planning, by: human }", "{ from: clarification, to: planning, by: worker }"],
      ["    waits_for: human\n    ask: Answer the questions, then continue\n    next: planning\n", ""],
    ],
    found: ["warning agent-cycle planning", "warning agent-cycle working"],
    said: "planning → clarification → planning",
  },
  {
    bug: "the gate waits for a reviewer that is never started",
    in: "default",
    edits: [["agent: { role: reviewer, prompt: reviewer }", "agent: { role: worker, prompt: reviewer }"]],
    found: [
      "error gate-without-producer agent-review",
      "error gate-without-producer agent-review",
      "error gate-without-producer agent-review",
    ],
    said: "only reviewer can write it, which never runs there",
  },
  {
    bug: "with one failing verdict the reviewer may choose between two states",
    in: "default",
    edits: [["when: review_round >= 2", "when: review_round >= 1"]],
    found: ["warning choice agent-review"],
    said: 'the reviewer may choose between "working" and "stuck" with the same evidence',
  },
  {
    bug: "the worker may judge its own work",
    in: "default",
    edits: [["    to: reviewing\n    by: reviewer\n", "    to: reviewing\n"]],
    found: ["warning self-review agent-review"],
    said: 'The worker can give the verdict in "agent-review" itself, although reviewer should judge.',
  },
  {
    bug: "no task reaches the state that resolves conflicts",
    in: "crew",
    edits: [["{ on: conflict, when: visits < 3, then: resolving }", "{ on: conflict, when: visits < 3, then: stuck }"]],
    found: ["warning unreachable resolving"],
    said: 'No task can ever reach "resolving".',
  },
  {
    bug: "a rule has a condition that can never hold",
    in: "crew",
    edits: [
      [
        "      - { on: untested, then: merging }",
        "      - { on: tests, when: [visits < 4, visits > 5], then: queued }\n      - { on: untested, then: merging }",
      ],
    ],
    found: ["warning dead-rule testing"],
    said: 'Rule 4 of "testing" (to "queued") is never taken',
  },
  {
    bug: "the way of the two silent reviewers is gone",
    in: "default",
    edits: [
      ["  - { from: agent-review, to: stuck, by: engine } # two silent reviewers: there is no verdict to show\n", ""],
    ],
    found: ["warning dead-rule agent-review"],
    said: 'Rule 4 of "agent-review" (to "stuck") is never taken: its way is never open when its conditions hold.',
  },
  {
    bug: "from stuck no way leads on, and a person cannot cancel",
    in: "default",
    edits: [
      ["  - { from: any, to: cancelled, by: human, hooks: [kill_session, release_workspace] }\n", ""],
      ["  - { from: stuck, to: reviewing, by: human }\n", ""],
      [
        "    ask: Review it yourself, without another agent\n    next: reviewing\n",
        "    ask: Review it yourself, without another agent\n",
      ],
      ["  - { to: cancelled, never_by: [worker, reviewer] }\n", ""],
    ],
    found: ["error wedge stuck", "error no-verb stuck", "warning unreachable cancelled"],
    said: 'From "stuck" no end can be reached by any step.',
  },
  {
    bug: "the agent that a state waits for is started and ended by the same hooks",
    in: "default",
    edits: [
      [
        "{ action: spawn_agent, role: worker, prompt: worker }]",
        "{ action: spawn_agent, role: worker, prompt: worker }, kill_session]",
      ],
    ],
    found: ["error silent-wait planning"],
    said: 'In "planning" no agent is at work and no person is asked.',
  },
  {
    bug: "the reviewer that a state waits for is started and ended by the same hooks, while the worker lives on",
    in: "default",
    edits: [
      [
        "hooks: [{ action: increment, field: review_round }]",
        "hooks: [{ action: increment, field: review_round }, { action: spawn_agent, role: reviewer, prompt: reviewer }, kill_reviewer]",
      ],
    ],
    found: ["error silent-wait agent-review"],
    said: 'In "agent-review" no agent is at work and no person is asked.',
  },
  {
    bug: "only a role that never runs there could ask for the question",
    in: "default",
    edits: [
      ["{ from: planning, to: clarification, by: worker }", "{ from: planning, to: clarification, by: reviewer }"],
    ],
    found: ["warning nobody-asks planning"],
    said: 'No role can ever ask for the way from "planning" to "clarification": reviewer never runs there.',
  },
];

/** Bugs that loading finds: the message, and the text it points at. */
const refused: readonly (Omit<Planted, "found"> & { readonly at: string })[] = [
  {
    bug: "two ways are open to the reviewer at the same time",
    in: "default",
    edits: [
      [
        "  - from: agent-review\n    to: stuck\n    by: reviewer",
        "  - { from: agent-review, to: working, by: reviewer, when: review_round == 1 }\n  - from: agent-review\n    to: stuck\n    by: reviewer",
      ],
    ],
    at: "review_round == 1",
    said: 'Two transitions from "agent-review" to "working" are open to reviewer when review_round = 1',
  },
  {
    bug: "the choices of an exit rule leave something out",
    in: "classic",
    edits: [["then_when:", '"review_round >= 2"', '"review_round > 2"']],
    at: "then_when",
    said: 'The choices of "agent-review" leave out review_round = 2.',
  },
  {
    bug: "a rule comes after a rule that takes everything",
    in: "crew",
    edits: [
      [
        "      - { on: failed, then: stuck } # 5 errors or stalls in a row\n",
        "      - { on: failed, then: stuck }\n      - { on: stall, then: queued }\n",
      ],
    ],
    at: "{ on: stall",
    said: '"stall" never gets here: outcome 2 of "working" handles it first.',
  },
  {
    bug: "a misspelt action",
    in: "team",
    edits: [["do: [create_pr]", "do: [crate_pr]"]],
    at: "crate_pr",
    said: 'No action "crate_pr". Did you mean "create_pr"?',
  },
  {
    bug: "the end of a session is taken for success",
    in: "default",
    edits: [
      ["      - { then: working } # fires only if the gate of that edge holds", "      - { on: ok, then: stuck }"],
    ],
    at: "{ on: ok, then: stuck }",
    said: 'The end of a session proves nothing, and the way from "planning" to "stuck" has no gate.',
  },
  {
    bug: "a rule waits for a word that never comes",
    in: "pipeline",
    edits: [["- { on: [tests, untested], when:", "- { on: [tests, untsted], when:"]],
    at: "untsted",
    said: '"TESTING" never ends with "untsted". It ends with ok, failed, ',
  },
  {
    bug: "a condition on a counter that no hook changes",
    in: "default",
    edits: [
      ["    hooks: [{ action: increment, field: review_round }]\n", ""],
      ["      - { action: set_field, field: review_round, value: 0 } # a person's request opens two new rounds\n", ""],
    ],
    at: "review_round < 2",
    said: 'Nothing in this file changes "review_round"',
  },
];

describe("every planted bug is found, and nothing else", () => {
  test("there are at least eighteen bugs", () => expect(planted.length + refused.length).toBeGreaterThanOrEqual(18));

  test.each(planted.map((each) => [each.bug, each] as const))("%s", (_bug, { in: name, edits, found, said }) => {
    const { workflow, verification } = check(apply(builtIn(name), edits));
    const before = faults(unedited(name).verification);
    expect(faults(verification).filter((fault) => !before.includes(fault))).toEqual(found);
    const texts = verification.findings.map(({ message, fix }) => `${message} ${fix}`);
    expect(texts).toContainEqual(expect.stringContaining(said));
    expect(verification.proved).toBe(!found.some((fault) => fault.startsWith("error")));
    for (const finding of verification.findings) checkExample(workflow, finding);
  });
});

describe("a bug that is visible without exploring is found when the file is loaded", () => {
  test.each(refused.map((each) => [each.bug, each] as const))("%s", (_bug, { in: name, edits, said, at }) => {
    const text = apply(builtIn(name), edits);
    const line = text.slice(0, text.indexOf(at)).split("\n").length;
    const [problem, ...more] = problemsOf(text, "b.yml");
    expect(problem && formatProblem(problem)).toContain(said);
    expect(problem).toMatchObject({ level: "error", line });
    // One mistake may be reported at several places, but always with the same message.
    for (const { message } of more) expect(message).toBe(problem?.message);
  });
});

describe("small files with one bug each, and their corrected forms", () => {
  const plain = (rest: string, states: string) => `version: 1
roles: { worker: { prompt: p } }
states:
${states}
  done: { terminal: true }
${rest}prompts: { p: x }
`;

  test("no-verb: a person is needed, but has no way to act", () => {
    const text = (by: string) =>
      plain(
        `exit_monitoring: { rules: [{ status: b, action: mark_dead }] }
transitions:
  - { from: a, to: b, by: human, hooks: [acquire_workspace, { action: spawn_agent, prompt: p }] }
  - { from: b, to: done, by: ${by}, hooks: [kill_session, release_workspace] }
`,
        "  a: {}\n  b: {}",
      );
    const bad = check(text("worker"));
    expect(faults(bad.verification)).toEqual(["error wedge b", "error no-verb b"]);
    for (const finding of bad.verification.findings) checkExample(bad.workflow, finding);
    expect(codes(text("[worker, human]"))).not.toContain("no-verb");
  });

  test("incomplete: a workflow with too many positions gets a finding instead of a long wait", () => {
    const text = (bound: number) =>
      plain(
        `transitions:
  - { from: a, to: b, by: worker, when: x < ${bound}, hooks: [{ action: increment, field: x }] }
  - { from: a, to: c, by: worker, when: y < ${bound}, hooks: [{ action: increment, field: y }] }
  - { from: a, to: done, by: human, hooks: [kill_session, release_workspace] }
`,
        `  a: { agent: { role: worker, keep: true }, waits_for: human }
  b: { next: a }
  c: { next: a }`,
      );
    const { verification } = check(text(300));
    expect(verification.proved).toBe(false);
    expect(faults(verification)).toContain("error incomplete");
    expect(codes(text(3))).not.toContain("incomplete");
    expect(check(text(3)).verification.proved).toBe(true);
  });

  test("held: an ending without a rule is a note, which disappears with a rule", () => {
    const states = (rule: string) => `  a: { agent: { mode: turn, prompt: p }, outcomes: [${rule}], next: done }`;
    const end = "transitions: [{ from: a, to: done, hooks: [kill_session, release_workspace] }]\n";
    const { verification } = check(plain(end, states("{ on: stall, then: done }")));
    expect(verification.findings.map(brief)).toEqual(["note held a"]);
    expect(verification.findings[0]?.message).toMatch(/^"a" can be held for a person after it ended with error/);
    expect(codes(plain(end, states("{ on: failed, then: done }")))).toEqual([]);
  });

  test("an agent's cycle is only a note where a limit on cost bounds it", () => {
    const text = (limits: string) =>
      plain(
        `${limits}transitions:\n  - { from: a, to: b }\n  - { from: b, to: a }\n  - { from: a, to: done, hooks: [kill_session, release_workspace] }\n`,
        "  a: { agent: { role: worker, keep: true }, outcomes: [{ action: mark_dead }] }\n  b: { agent: { role: worker, keep: true }, outcomes: [{ action: mark_dead }] }",
      );
    const levels = (limits: string) =>
      check(text(limits))
        .verification.findings.filter(({ code }) => code === "agent-cycle")
        .map(brief);
    expect(levels("")).toEqual(["warning agent-cycle a"]);
    expect(levels("limits: { cost: 5 }\n")).toEqual(["note agent-cycle a"]);
  });

  test("a timer that repeats is an error unless the task's time is limited; rules that need no time are one anyway", () => {
    const levels = (limits: string, wait: string) =>
      check(
        plain(
          `${limits}transitions: [{ from: a, to: done, by: human }]\n`,
          `  a: { ${wait}do: [run_tests], outcomes: [{ on: failed, then: a }], next: done }`,
        ),
      )
        .verification.findings.filter(({ code }) => code === "rule-cycle")
        .map((finding) => `${finding.level} ${finding.message}`);
    const timed = "A timer and rules alone can move a task in a cycle without end: a → a.";
    expect(levels("", "waits_for: 10m, ")).toEqual([`error ${timed}`]);
    expect(levels("limits: { cost: 5 }\n", "waits_for: 10m, ")).toEqual([`error ${timed}`]);
    expect(levels("limits: { time: 3d }\n", "waits_for: 10m, ")).toEqual([`note ${timed}`]);
    expect(levels("limits: { time: 3d }\n", "")).toEqual([
      "error Rules alone can move a task in a cycle without end: a → a.",
    ]);
  });

  test("a person who does not answer is reminded in a second state, and the task ends later", () => {
    const text = `version: 1
states:
  asked: { waits_for: human, ask: Publish it, limits: { time: 1d }, outcomes: [{ on: time, then: reminded }], next: done }
  reminded: { waits_for: human, ask: Publish it now, limits: { time: 3d }, outcomes: [{ on: time, then: expired }], next: done }
  done: { terminal: true }
  expired: { terminal: true, outcome: cancelled }
`;
    expect(check(text).verification.findings).toEqual([]);
  });

  test("a state that only some presets reach is a note", () => {
    const notes = unedited("pipeline").verification.findings.filter(({ code }) => code === "unreachable");
    expect(notes.map(brief)).toEqual(["note unreachable SPEC", "note unreachable SPEC_REVIEW"]);
    expect(notes[0]?.message).toContain("preset quick-fix");
  });
});

describe("the built-in workflows have exactly the findings that are known", () => {
  test.each(["default", "team", "team-subtask", "pipeline", "crew"] as const)("%s: no error and no warning", (name) => {
    const { workflow, verification } = unedited(name);
    expect(faults(verification)).toEqual([]);
    expect(verification.proved).toBe(true);
    for (const finding of verification.findings) checkExample(workflow, finding);
  });

  test("classic: warnings for what its seed leaves open", () => {
    const { workflow, verification } = unedited("classic");
    expect(faults(verification)).toEqual([
      "warning agent-cycle working",
      "warning self-review agent-review",
      "warning bypass stuck",
    ]);
    expect(verification.proved).toBe(true);
    for (const finding of verification.findings) checkExample(workflow, finding);
  });

  test("minimal: only a warning that there is no state `stuck`", () => {
    const { verification } = check(builtIn("minimal"), "minimal.yml");
    const [only, ...more] = verification.findings.filter(({ level }) => level !== "note");
    expect(more).toEqual([]);
    expect(only).toMatchObject({ level: "warning", code: "loading", example: undefined });
    expect(only?.message).toMatch(/^minimal\.yml:\d+:\d+ There is no state "stuck"/);
    expect(verification.proved).toBe(true);
  });

  test("correcting the cause of each warning of classic removes the warning", () => {
    const asked = edit(
      builtIn("classic"),
      "  - from: clarification\n    to: working\n",
      "  - from: clarification\n    to: working\n    by: human\n",
    );
    const recovered = edit(
      asked,
      "  - from: stuck\n    to: working\n",
      "  - from: stuck\n    to: working\n    by: human\n",
    );
    expect(faults(check(recovered).verification)).not.toContain("warning agent-cycle working");
    const sent = edit(
      asked,
      "  - from: stuck\n    to: agent-review\n",
      "  - from: stuck\n    to: agent-review\n    by: human\n",
    );
    expect(faults(check(sent).verification)).not.toContain("warning bypass stuck");
    const killed = edit(
      sent,
      "    by: human\n    hooks:\n      - action: spawn_agent\n        prompt: reviewer",
      "    by: human\n    hooks:\n      - action: kill_session\n      - action: spawn_agent\n        prompt: reviewer",
    );
    expect(faults(check(killed).verification)).not.toContain("warning self-review agent-review");
  });
});

test("every kind of finding is planted in some test above, and absent from a correct file", () => {
  const all: readonly FindingCode[] = [
    "wedge",
    "no-success",
    "silent-wait",
    "rule-cycle",
    "agent-cycle",
    "gate-without-producer",
    "nobody-asks",
    "no-verb",
    "choice",
    "bypass",
    "self-review",
    "leak",
    "unreachable",
    "dead-rule",
    "held",
    "incomplete",
    "loading",
  ];
  const elsewhere: readonly FindingCode[] = ["no-verb", "incomplete", "held", "loading"];
  const here = new Set(planted.flatMap(({ found }) => found.map((fault) => fault.split(" ")[1])));
  expect(all.filter((code) => !here.has(code) && !elsewhere.includes(code))).toEqual([]);
  // A person is asked about work that changes what decides about work; team-subtask has no other finding.
  expect(unedited("team-subtask").verification.findings.map(({ code }) => code)).toEqual(["held"]);
});

const verified = new Map<BuiltInName, ReturnType<typeof check>>();

/** A built-in workflow, which is verified once for all tests. */
function unedited(name: BuiltInName): ReturnType<typeof check> {
  const known = verified.get(name) ?? check(builtIn(name));
  verified.set(name, known);
  return known;
}

function apply(text: string, edits: readonly Edit[]): string {
  return edits.reduce((now, [a, b, c]) => (c === undefined ? edit(now, a, b) : editAfter(now, a, b, c)), text);
}

function codes(text: string): readonly FindingCode[] {
  return check(text).verification.findings.map(({ code }) => code);
}

/** The example of each finding can be followed with the real engine, and leads to what the finding says. */
function checkExample(workflow: Workflow, { code, state, message, example }: Finding): void {
  if (example === undefined) {
    expect(["unreachable", "dead-rule", "loading", "incomplete"]).toContain(code);
    return;
  }
  const followed = follow(workflow, example);
  expect(followed.problem).toBeUndefined();
  const { status } = followed.last.task;
  if (code === "bypass" || code === "self-review") {
    // These show a step that is taken: it leads out of the reported state.
    expect(followed.steps.at(-1)?.from).toBe(state);
    expect(followed.steps.at(-1)?.to).toBe(status);
    expect(followed.steps.at(-1)?.step.by).toBe(/^The (\S+) /.exec(message)?.[1]);
    expect(example.circle).toBe(0);
    return;
  }
  expect(status).toBe(state);
  expect(example.circle > 0).toBe(code === "rule-cycle" || code === "agent-cycle");
  for (let rounds = 1; example.circle > 0 && rounds <= 3; rounds++) {
    const circle = example.steps.slice(-example.circle);
    const again = follow(workflow, {
      ...example,
      steps: [...example.steps, ...Array.from({ length: rounds }, () => circle).flat()],
    });
    expect(again.problem).toBeUndefined();
    expect(again.last.task.status).toBe(state);
    expect(circle.every((step) => step.by !== "human")).toBe(true);
  }
}
