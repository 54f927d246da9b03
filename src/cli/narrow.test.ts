import { run } from "@stricli/core";
import { expect, test } from "vitest";
import { createApp } from "./app.ts";
import { createContext } from "./context.ts";
import { describeExplanation } from "./describe-explanation.ts";

/** A terminal with so many columns, and what was written to it. */
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
    // Examples are to be copied, and what has no spaces cannot be broken.
    const tooLong = lines().filter(
      (line) => line.length > columns && !/^ {2,}signalbox |^\S+$|SIGNALBOX_HOME/.test(line),
    );
    expect({ command, tooLong }).toEqual({ command, tooLong: [] });
    expect(lines().length).toBeGreaterThan(10);
  }
});

test("in an explanation lines are broken between words, and commands not at all", () => {
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
      blocked: [{ reason: "All workspaces of the project are taken.", fix: `Or let there be more: ${command}` }],
      moves: [],
      next: [],
      owed: [],
      warnings: [],
    },
    context,
  );
  const lines = text.split("\n");
  expect(lines).toContain(`    Or let there be more: ${command}`);
  expect(lines.filter((line) => line.length > 40)).toEqual([`    Or let there be more: ${command}`]);
  expect(lines[0]).toBe("coffee#1 pending  Make it much stronger…");
});
