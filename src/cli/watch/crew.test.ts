import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunView } from "../../api/agents.ts";
import type { CrewView, SlotView } from "../../api/tickets.ts";
import { createPaint } from "../fast/tell.ts";
import { writeSlots } from "../tables.ts";
import { displayWidth } from "../text.ts";
import { crewLines, slotLines } from "./crew.ts";
import type { Frame } from "./rows.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const frame: Frame = { columns: 99, rows: 12, paint: createPaint(false), now, title: "coffee", trouble: "" };

const slot = (name: string, more: Partial<SlotView> = {}): SlotView => ({
  ...{ name, state: "idle", reason: "", task: "", lastTask: "", ticket: "", branch: "", workspace: "", session: "" },
  ...{ steps: 0, assignedAt: null, stepAt: null, madeAt: "2026-11-15T11:00:00Z" },
  ...{ inputTokens: 0, outputTokens: 0, cost: 0, ...more },
});
const crew = (agents: readonly SlotView[], more: Partial<CrewView> = {}): CrewView => ({
  ...{
    project: "coffee",
    running: true,
    most: 10,
    workflow: "crew",
    agents: [...agents],
    waiting: [],
    unready: [],
    leftOver: [],
  },
  ...{ unread: [], troubles: [], problems: [], warnings: [], poolSize: 3, ...more },
});
const busy = slot("A", {
  ...{ state: "working", task: "coffee#3", lastTask: "t3", ticket: "c-12", steps: 2 },
  ...{ assignedAt: "2026-11-15T11:58:00Z", inputTokens: 12_000, cost: 0.5 },
});
const run = { id: "r", task: "t3", activity: "busy", raised: "", what: "Reading recipe.md" } as RunView;

test("every agent is shown, idle ones too, with what its program is doing", () => {
  const waiting = ["c-5", "c-9"];
  const lines = crewLines({ crew: crew([busy, slot("B")], { waiting }), runs: [run] }, frame);
  expect(lines.slice(0, 6)).toEqual([
    "coffee  2 agents · 1 working · 1 idle",
    "2 ready: c-5, c-9. Tickets are given to idle agents, at most 10 at a time.",
    "",
    "   AGENT  STATE    TICKET  TASK      STEPS  SINCE  TOKENS   COST  WHAT",
    "●  A      working  c-12    coffee#3      2     2m     12k  $0.50  Reading recipe.md",
    "○  B      idle     –       –             –      –       0  $0.00",
  ]);
  expect(lines.at(-1)).toMatch(/^q leave/);
});

test("tickets that wait for others, or can never be given out, are summarised in one line each", () => {
  const unready = ["c-2", "c-3"];
  const troubles = ["c-2 waits for c-9, and there is no such ticket.", "c-3 waits for itself."];
  const told = (more: Partial<CrewView>) => crewLines({ crew: crew([slot("A")], more), runs: [] }, frame).slice(1, 4);
  expect(told({ unready, troubles, unread: ["README.md", "c-1.md"] })).toEqual([
    "No ticket is ready. 2 wait for others: c-2, c-3. Tickets are given to idle agents, at most 10 at a…",
    "c-2 waits for c-9, and there is no such ticket. And 1 more: signalbox ticket list",
    "Not read: README.md, c-1.md. To see why: signalbox ticket list",
  ]);
  expect(told({ waiting: ["c-1"], unready: ["c-2"], troubles: troubles.slice(0, 1) }).slice(0, 2)).toEqual([
    "1 ready: c-1. 1 waits for others: c-2. Tickets are given to idle agents, at most 10 at a time.",
    "c-2 waits for c-9, and there is no such ticket.",
  ]);
});

test("tickets whose task has ended are named, with the command that gives them out again", () => {
  const lines = crewLines({ crew: crew([slot("A")], { leftOver: ["c-3", "c-4"] }), runs: [] }, frame);
  expect(lines[1]).toMatch(/^No ticket is ready\. /);
  expect(lines[2]).toMatch(/^Given out before, and not done: c-3, c-4\. To give one out again: /);
});

test("the reason why an agent is stuck replaces its program's last message; problems are shown at the top", () => {
  const stuck = slot("A", { state: "stuck", task: "coffee#3", lastTask: "t3", reason: "Tests\nfail." });
  const problems = [{ ticket: "c-1", problem: "It has no title." }];
  const lines = crewLines({ crew: crew([stuck, slot("B")], { problems, poolSize: 1 }), runs: [run] }, frame);
  expect(lines[2]).toBe("c-1: It has no title.");
  expect(lines[3]).toBe("coffee has room for 1 at a time. For more: signalbox project update coffee --pool-size 2");
  expect(lines.find((line) => line.startsWith("!"))).toMatch(/Tests fail\.$/);
});

test("an empty crew says how to create agents", () => {
  expect(crewLines({ crew: crew([]), runs: [] }, frame).join("\n")).toContain("signalbox crew spawn 3");
});

test("a screen never has more lines than rows, and no line is wider than the terminal", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", " ", "界"), maxLength: 60 });
  const slots = fc.array(fc.record({ reason: texts, ticket: fc.constantFrom("", "c-1", "c".repeat(100)) }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(slots, fc.integer({ min: 30, max: 160 }), fc.integer({ min: 3, max: 30 }), (given, columns, rows) => {
      const agents = given.map((each, i) => slot(`A${i}`, { ...busy, name: `A${i}`, ...each }));
      const lines = crewLines({ crew: crew(agents), runs: [run] }, { ...frame, columns, rows });
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    }),
  );
});

test("a table of agents is as narrow as the terminal, and says why one is stuck", () => {
  const stuck = slot("A".repeat(32), {
    ...busy,
    name: "A".repeat(32),
    state: "stuck",
    reason: "The agent ended with 3.",
  });
  for (const columns of [40, 60, 80]) {
    const why = { title: "WHY", says: ({ reason }: SlotView) => reason };
    const text = writeSlots({ paint: createPaint(false), columns }, [busy, stuck, slot("B")], now, why);
    for (const line of text.split("\n")) expect([columns, displayWidth(line) <= columns, line]).toContain(true);
    expect(text.replace(/\s+/g, " ")).toContain("The agent ended with 3.");
  }
});

test("where there is no screen, each agent is a line", () => {
  expect([...slotLines({ crew: crew([busy, slot("B")]), runs: [] }).values()]).toEqual([
    "A  working  c-12  coffee#3",
    "B  idle",
  ]);
});
