import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { controls, startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** A dialogue, then a plan, then a review with a finding; the task then waits for the approval of its plan. */
const flow = `name: flow
version: 1
roles:
  host: { mode: dialogue, harness: task, permissions: reduced, result: order, until: { clear: true } }
  planner: { mode: turn, harness: task, permissions: reduced, result: plan }
  critic: { mode: turn, harness: review, permissions: reduced, result: review }
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
  plan: { type: object, required: [parts], properties: { parts: { type: array } } }
  review: { type: object, properties: { good: { type: boolean }, findings: { type: array } } }
states:
  todo: { waits_for: slot, next: asking }
  asking: { agent: { role: host, prompt: ask }, outcomes: [{ on: failed, then: spilt }], next: planning }
  planning: { agent: { role: planner, prompt: plan }, outcomes: [{ on: failed, then: spilt }], next: judging }
  judging: { agent: { role: critic, prompt: judge }, outcomes: [{ result: { good: true }, then: spilt }, { then: planned }] }
  planned: { waits_for: human, ask: Start, next: building }
  building: { fan_out: { from: plan.parts, workflow: team-subtask }, outcomes: [{ on: failed, then: spilt }], next: served }
  served: { terminal: true }
  spilt: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: asking, hooks: [acquire_workspace] }
  - { from: any, to: spilt, by: human, hooks: [kill_session] }
prompts: { ask: "What is {summary}?", plan: "Plan {summary}.", judge: "Judge {summary}." }
`;

const script = `roles:
  host:
    - { when: { prompt: tea }, steps: [{ answer: { clear: false, message: "Milk, or none?" } }] }
    - { steps: [{ answer: { clear: true, message: "A coffee." } }] }
  planner: [{ steps: [{ answer: { parts: [{ id: a, title: Grind }, { id: b, title: Pour, needs: [a] }] } }] }]
  critic: [{ steps: [{ answer: { good: false, findings: [{ severity: high, file: recipe.md, title: Too weak }] } }] }]
`;

interface Wrong {
  readonly what: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly code: number;
  /** What the first sentence says. */
  readonly says: RegExp;
}

const item = (id: string, more: object = {}) => ({ id, title: `Do ${id}`, ...more });
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]", "c: [*b,*b,*b,*b,*b,*b,*b,*b,*b]"];

/** Plans that are refused, as a file has them. */
const plans: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  ["an empty file", "", /must be a list|is missing|empty/],
  ["an empty list", "[]", /The plan is empty/],
  ["a text", "grind, then pour", /must be a list/],
  ["broken YAML", "- { id: a", /not valid YAML/],
  ["nested aliases", bomb.join("\n"), /not valid YAML|must be a list/],
  ["deep lists", deep(2_000), /./],
  ["a cycle", JSON.stringify([item("a", { needs: ["b"] }), item("b", { needs: ["a"] })]), /a needs b, b needs a/],
  ["an id twice", JSON.stringify([item("a"), item("a")]), /Two items have the id a/],
  ["an item that needs itself", JSON.stringify([item("a", { needs: ["a"] })]), /a needs itself/],
  ["an unknown need", JSON.stringify([item("a", { needs: ["z"] })]), /which is not among the items/],
  ["needs that are no list", JSON.stringify([item("a", { needs: "b" })]), /needs of item 1 must be a list/],
  ["a path above the repository", JSON.stringify([item("a", { files: ["../x"] })]), /leads out of the repository/],
  ["a path above it in braces", JSON.stringify([item("a", { files: ["{..,src}/x"] })]), /leads out of the repository/],
  ["an absolute path", JSON.stringify([item("a", { files: ["/etc/passwd"] })]), /is absolute/],
  ["a path of git's", JSON.stringify([item("a", { files: [".git/config"] })]), /belongs to git/],
  ["no title", '[{"id":"a"}]', /title of item 1 is missing/],
  ["a long id", JSON.stringify([item("a".repeat(101))]), /The id a+ cannot be used/],
  ["an unknown size", JSON.stringify([item("a", { size: "XL" })]), /size of item 1 must be/],
  [
    "501 items",
    JSON.stringify(Array.from({ length: 501 }, (_, n) => item(`i${n}`))),
    /501 items, but may have at most 500/,
  ],
];

test("wrong plans, answers and decisions get one clear sentence and a next step, and change nothing", async () => {
  const { json, signalbox, until, base } = await startCommands(script, { flow });
  const create = async (summary: string, isThere: (status: string) => boolean) => {
    const { task } = await json("task", "create", summary, `A ${summary}`, "--workflow", "flow");
    await until(task.id, ({ needsPerson, status }) => needsPerson && isThere(status));
    return task.id as string;
  };
  const [planned, asking, other] = [
    await create("coffee", (status) => status === "planned"),
    await create("tea", (status) => status === "asking"),
    await create("green-tea", (status) => status === "asking"),
  ];
  mkdirSync(join(base, "folder"));
  const { questions } = await json("chat");
  const questionOf = (id: string): string => questions.find(({ task }: { task: string }) => task === id)?.id;
  const calls: readonly Wrong[] = [
    ...plans.map(([what, input, says]) => ({
      ...{ what: `a plan with ${what}`, args: ["task", "plan", planned, "--file", "-"], input, code: 1, says },
    })),
    {
      what: "both ways",
      args: ["task", "plan", planned, "--edit", "--file", "-"],
      code: 2,
      says: /cannot both be given/,
    },
    { what: "a missing file", args: ["task", "plan", planned, "--file", "no.yml"], code: 3, says: /no\.yml/ },
    { what: "a folder", args: ["task", "plan", planned, "--file", join(base, "folder")], code: 1, says: /folder/ },
    { what: "no plan yet", args: ["task", "plan", asking, "--file", "-"], input: "[]", code: 1, says: /no plan yet/ },
    { what: "no such task", args: ["task", "plan", "nope"], code: 3, says: /nope/ },
    {
      what: "a text as question",
      args: ["task", "reply", asking, "x", "--question", "nope"],
      code: 1,
      says: /is not a question/,
    },
    {
      ...{ what: "the question of another task", code: 1, says: /is not a question of this task/ },
      args: ["task", "reply", asking, "x", "--question", questionOf(other)],
    },
    {
      ...{ what: "a question that was never asked", code: 1, says: /is not open/ },
      args: ["task", "reply", asking, "x", "--question", `${questionOf(asking)}9`],
    },
    { what: "an empty reply", args: ["task", "reply", asking, " "], code: 1, says: /empty/ },
    { what: "a reply where nobody talks", args: ["task", "reply", planned, "x"], code: 1, says: /dialogue/ },
    { what: "a reply to no task", args: ["task", "reply", "nope", "x"], code: 3, says: /nope/ },
    { what: "a chat with no task", args: ["chat", "nope"], input: "x", code: 3, says: /nope/ },
    { what: "a chat without words", args: ["chat", asking], code: 1, says: /nothing was sent/ },
    { what: "a chat about several", args: ["chat"], input: "x", code: 2, says: /signalbox chat/ },
    {
      what: "an unknown finding",
      args: ["task", "findings", planned, "--approve", "F9"],
      code: 1,
      says: /no finding "F9"/,
    },
    { what: "an empty finding", args: ["task", "findings", planned, "--dismiss", ""], code: 1, says: /finding/ },
    {
      ...{ what: "one known, one unknown finding", code: 1, says: /no finding "F9"/ },
      args: ["task", "findings", planned, "--dismiss", "F1", "--dismiss", "F9"],
    },
    {
      ...{ what: "both decisions", code: 2, says: /approved and dismissed with one command/ },
      args: ["task", "findings", planned, "--approve", "F1", "--dismiss", "F1"],
    },
    {
      what: "a reason for nothing",
      args: ["task", "findings", planned, "-m", "why"],
      code: 2,
      says: /nothing is decided/,
    },
    {
      what: "no findings yet",
      args: ["task", "findings", asking, "--approve", "F1"],
      code: 1,
      says: /no finding "F1"/,
    },
    {
      what: "an unknown decision",
      args: ["task", "findings", planned, "keep", "F1"],
      code: 2,
      says: /"keep" is no decision about findings/,
    },
    {
      what: "a decision about nothing",
      args: ["task", "findings", planned, "approve"],
      code: 2,
      says: /ids of findings are missing/,
    },
    {
      what: "an unknown finding among known ones",
      args: ["task", "findings", planned, "dismiss", "F1", "F9"],
      code: 1,
      says: /no finding "F9"/,
    },
    {
      ...{ what: "a new finding without a file", code: 2, says: /names no file/ },
      args: ["task", "findings", planned, "add", "-m", "Cold"],
    },
    {
      ...{ what: "a new finding without a text", code: 2, says: /has no text/ },
      args: ["task", "findings", planned, "add", "--file", "cup.ts"],
    },
    {
      ...{ what: "a new finding of an unknown severity", code: 2, says: /"awful" is no severity/ },
      args: ["task", "findings", planned, "add", "--file", "cup.ts", "--severity", "awful", "-m", "Cold"],
    },
    {
      ...{ what: "a file for no finding", code: 2, says: /of a finding that you add/ },
      args: ["task", "findings", planned, "--file", "cup.ts"],
    },
    { what: "no tree", args: ["task", "cancel", "--tree", "nope"], code: 3, says: /nope/ },
    { what: "a tree without a name", args: ["task", "cancel", "--tree"], code: 2, says: /./ },
  ];
  const state = async () => ({
    tasks: (await json("task", "list")).tasks.map(({ id, status, entry }: Record<string, unknown>) => [
      id,
      status,
      entry,
    ]),
    questions: (await json("chat")).questions,
    plan: await json("task", "plan", planned),
    findings: await json("task", "findings", planned),
  });
  const before = await state();
  const wrong: string[] = [];
  const attempt = async ({ what, args, input = "", code, says }: Wrong) => {
    const ran = await signalbox(args, input);
    const problems = [
      ran.code === code ? "" : `ended with ${ran.code}, not ${code}`,
      ran.stdout === "" || args[0] === "chat" ? "" : "printed to stdout",
      says.test(ran.stderr) ? "" : `does not say ${says}`,
      /\n {4}at |\bundefined\b|\[object/.test(ran.stderr) ? "shows its insides" : "",
      controls.test(ran.stderr) ? "has control characters" : "",
      ran.stderr.trim().split("\n").length > 6 ? "is long" : "",
      ran.stderr.trim().split("\n").length > 1 || code === 2 || /signalbox /.test(ran.stderr)
        ? ""
        : "names no next step",
    ].filter((each) => each !== "");
    if (problems.length > 0) wrong.push(`${what}: ${problems.join(", ")}\n${ran.stderr.slice(0, 400)}`);
  };
  // None of them changes anything, so their order does not matter.
  const waiting = calls.values();
  const worker = async () => {
    for (const call of waiting) await attempt(call);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  expect(wrong.join("\n")).toBe("");
  expect(await state()).toEqual(before);
});
