import { expect, test } from "vitest";
import { reducedCommand } from "./launch.ts";

const allowed = reducedCommand({ cli: "signalbox", testCommand: ["npm", "run", "test:all"] });

test.each([
  "git status",
  "git log -1 --oneline",
  "git log --format='%h %s' -- src",
  'git log --grep="a fix" HEAD~3..HEAD',
  "git diff main...HEAD",
  "git branch --show-current",
  "npm run test:all",
  "npm run test:all -- src/a.test.ts 2>&1 | tail -50",
  "signalbox task update --status done",
  'signalbox task comment . "what I saw; and more"',
  "signalbox task show . --json",
  "signalbox task explain .",
  "signalbox task diff . --stat | head -20",
  "signalbox task history .",
  "signalbox task update --branch",
  "git status && git diff --stat",
  "cat TASK.md | head -20;",
])("a run with reduced permissions may run %j", (command) => expect(allowed.test(command)).toBe(true));

test.each([
  "",
  "rm -rf .",
  "git push",
  "git commit -am x",
  "git branch new",
  "git tag v1",
  "git -c core.pager=touch log",
  "git log > x",
  "git log>x",
  "(git log) > x",
  "{ git log; } > x",
  "> x",
  "git log | tee x",
  "git log $(touch x)",
  "git log `touch x`",
  "git log <(touch x)",
  "git status && touch x",
  "git status & touch x",
  "git status\ntouch x",
  'export GIT_EXTERNAL_DIFF="touch x"; git diff',
  "PATH=. git diff",
  "PATH=.; git diff",
  "git diff --output=x",
  "git diff '--output=x'",
  "git diff ''--output=x",
  'git diff --"output"=x',
  "git diff --ext-diff",
  "git diff \\--output=x",
  "git diff *",
  "npm run test:all > x",
  "npm run test:allx",
  "npm install",
  "signalboxx",
  "signalbox",
  "signalbox --help",
  "signalbox task",
  "signalbox task shell .",
  "signalbox task open .",
  "signalbox task create-pr .",
  "signalbox task updates",
  "signalbox task update-x --status done",
  "signalbox config set setup 'touch x'",
  "signalbox down --force",
  "signalbox mcp",
  "signalbox task diff; rm x",
  "signalbox task diff . && rm x",
  "signalbox task diff . | sh",
  "signalbox task update --status $(touch x)",
  "signalbox task update --status `touch x`",
  'signalbox task comment . "$(touch x)"',
  "signalbox task show . > x",
  "signalbox task show . & touch x",
  "signalbox task show .\ntouch x",
  "PAGER=touch signalbox task diff .",
  "env PAGER=touch signalbox task diff .",
  "find . -delete",
  "sort -o x a",
  "git log 2>&1 > x",
  "git log 2>/dev/nullx",
])("a run with reduced permissions may not run %j", (command) => expect(allowed.test(command)).toBe(false));

test("a test command with spaces and quotes matches as a shell would quote it", () => {
  const pattern = reducedCommand({ cli: "signalbox", testCommand: ["sh", "-c", "echo it's > here"] });
  expect(pattern.test("sh -c 'echo it'\\''s > here'")).toBe(true);
  expect(pattern.test("sh -c 'echo it'\\''s > there'")).toBe(false);
});

test("a hostile command is judged quickly", () => {
  const hostile = [
    `git log ${"'a' ".repeat(20_000)}>`,
    `git log ${"a".repeat(200_000)}'`,
    `${"git log ; ".repeat(20_000)}>`,
    `git log ${" ".repeat(100_000)}>`,
    `git log${" -a=".repeat(20_000)}"`,
  ];
  for (const command of hostile) expect(allowed.test(command)).toBe(false);
});
