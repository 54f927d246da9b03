import { run } from "@stricli/core";
import { expect, test } from "vitest";
import { createContext } from "./context.ts";
import { describeExplanation, evidenceOf } from "./describe-task.ts";
import { suggestCommand } from "./help.ts";
import { createApp } from "./start.ts";

const all = [
  ...["project list", "project remove", "task list", "task merge", "task cancel", "task delete", "crew stop"],
  ...["crew clean", "crew cleanup", "crew kill", "agent cleanup", "agent kill", "agent ps", "workspace list"],
  ...["workspace gc", "salvage drop", "up", "down", "demo", "usage"],
];

test.each([
  ["taks", "", ["task", "trust"], 'Did you mean "task"?'],
  ["merge", "", ["usage"], 'Did you mean "signalbox task merge"?'],
  [
    "list",
    "",
    ["trust"],
    'Did you mean "signalbox task list" or "signalbox project list" or "signalbox workspace list"?',
  ],
  ["stop", "", ["status"], 'Did you mean "signalbox down"?'],
  ["restart", "", ["rehearse"], 'Did you mean "signalbox down && signalbox up"?'],
  ["cancel", "", [], 'Did you mean "signalbox task cancel"?'],
  ["logz", "", ["down"], "To see all commands: signalbox --help"],
  ["-V", "", ["up"], "To see all commands: signalbox --help"],
  ["clean", "agent", ["cleanup"], 'Did you mean "cleanup"?'],
  ["clen", "crew", ["clean", "cleanup"], 'Did you mean "clean"?'],
  ["clean", "workspace", [], 'Did you mean "signalbox workspace gc"?'],
  ["list", "config", ["set"], 'Did you mean "signalbox config get"?'],
  ["merge", "crewe", [], 'Did you mean "signalbox task merge"?'],
])("an unknown command %s after %j is answered with the nearest commands", (input, noun, near, told) => {
  expect(suggestCommand(input, noun, near, all).replaceAll(", ", " or ")).toBe(told);
});

test("explain says which commits the last verdict and the last tests are for", () => {
  const commit = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d";
  const task = { judged: { commit, role: "reviewer" }, tested: { commit, word: "ok" } };
  expect(evidenceOf(task as never)).toEqual([
    "The last verdict, by reviewer, is for 1a2b3c4d5e.",
    "Tests passed on 1a2b3c4d5e.",
  ]);
  expect(evidenceOf({ judged: null, tested: null })).toEqual([]);
});

test("a typo never suggests a destructive command of another noun", () => {
  const verbs = ["cancel", "clean", "cleanup", "delete", "drop", "gc", "kill", "remove", "stop"];
  const nouns = ["workspace", "salvage", "project", "agent", "harness", "workflow", "ticket", "config", "crew"];
  for (const noun of ["", ...nouns])
    for (const verb of verbs) {
      const offers = [...suggestCommand(verb, noun, [], all).matchAll(/"signalbox (\w+) (\w+)/g)];
      const foreign = offers.filter(([, of = ""]) => of !== (noun || "task"));
      expect({ noun, verb, foreign: foreign.map(([offer]) => offer) }).toEqual({ noun, verb, foreign: [] });
    }
});

/** A terminal with this many columns, and its output. */
function terminal(columns: number) {
  const written: string[] = [];
  const stdout = { columns, isTTY: false, write: (text: string) => written.push(text) };
  const context = createContext({ ...process, stdout, stderr: stdout, env: {} } as unknown as NodeJS.Process);
  return { context, lines: () => written.join("").split("\n") };
}

test.each([40, 60, 100])("help fits into %i columns", async (columns) => {
  for (const command of [["--help"], ["task", "create", "--help"], ["project", "add", "--help"]]) {
    const { context, lines } = terminal(columns);
    await run(createApp(context), command, context);
    // Examples are not wrapped, so that they can be copied; text without spaces cannot be.
    const tooLong = lines().filter(
      (line) => line.length > columns && !/^ {2,}signalbox |^\S+$|SIGNALBOX_HOME/.test(line),
    );
    expect({ command, tooLong }).toEqual({ command, tooLong: [] });
    expect(lines().length).toBeGreaterThan(10);
  }
});

test("errors and the hints below them are wrapped between words, and commands are not wrapped", async () => {
  const written: string[] = [];
  const stderr = { columns: 50, isTTY: true, getColorDepth: () => 1, write: (text: string) => written.push(text) };
  const context = createContext({ ...process, stderr, env: {} } as unknown as NodeJS.Process);
  await run(createApp(context), ["config", "set", "harness", "clade"], context);
  const lines = written.join("").trimEnd().split("\n");
  expect(lines[0]).toBe('error: There is no harness "clade". Did you mean');
  expect(lines.filter((line) => line.length > 50 && !line.startsWith("signalbox "))).toEqual([]);
  expect(lines.join("\n")).toContain("signalbox harness list");
});

test("an explanation says why an effect failed once, with what to do; below, the first line of it stands", () => {
  const failure = "Claude Code is not installed.\nIf it is: signalbox down && signalbox up\nOr take another harness.";
  const owed = { id: 1, entry: 1, action: "start_agent", state: "failed", tries: 1, dueAt: null, failure } as const;
  const text = describeExplanation(
    {
      task: { id: "k2m4p", project: "coffee", number: 1, status: "build", summary: "Brew" } as never,
      ...{ where: "", moves: [], next: [], promises: [], warnings: [] },
      ...{ blocked: [{ reason: failure, fix: "" }], owed: [owed as never] },
    },
    terminal(80).context,
  );
  expect(text.split("signalbox down && signalbox up")).toHaveLength(2);
  expect(text).toContain("tried 1 time: Claude Code is not installed.");
});

test("in an explanation lines are wrapped between words, and commands are not wrapped", () => {
  const { context } = terminal(40);
  const command = "signalbox project update coffee --pool-size 8 --harness scripted";
  const task = {
    id: "k2m4p",
    project: "coffee",
    number: 1,
    status: "pending",
    summary: "Make it\nmuch stronger than before",
  };
  const text = describeExplanation(
    {
      task: task as never,
      where: 'The task is in "pending" and waits for a free slot.',
      blocked: [{ reason: "All workspaces of the project are in use.", fix: `Or let there be more: ${command}` }],
      moves: [],
      next: [],
      owed: [],
      promises: [],
      warnings: [],
    },
    context,
  );
  const lines = text.split("\n");
  expect(lines).toContain(`    Or let there be more: ${command}`);
  expect(lines.filter((line) => line.length > 40)).toEqual([`    Or let there be more: ${command}`]);
  expect(lines[0]).toBe("coffee#1 pending  Make it much stronger…");
});
