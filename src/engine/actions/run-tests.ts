import type { ActionDeclaration } from "./declaration.ts";

export const runTests: ActionDeclaration = {
  name: "run_tests",
  summary: "Run the project's tests",
  params: { command: { type: "list" }, timeout: { type: "duration" } },
  words: { tests: "answer", untested: "answer" },
  holds: true,
  inWorkspace: "always",
  begins: "work",
};
