import type { ActionDeclaration } from "./declaration.ts";

export const runCommand: ActionDeclaration = {
  name: "run_command",
  summary: "Run a command in the workspace, or in an empty folder where the task has none",
  params: {
    command: { type: "list", required: true },
    timeout: { type: "duration" },
  },
  words: {},
  holds: true,
  inWorkspace: "where-bound",
  begins: "work",
};
