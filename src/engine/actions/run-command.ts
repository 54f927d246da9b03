import type { ActionDeclaration } from "./declaration.ts";

export const runCommand: ActionDeclaration = {
  name: "run_command",
  summary: "Run a command in the workspace",
  params: {
    command: { type: "list", required: true },
    timeout: { type: "duration" },
  },
  words: {},
  holds: true,
  inWorkspace: true,
};
