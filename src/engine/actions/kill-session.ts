import type { ActionDeclaration } from "./declaration.ts";

export const killSession: ActionDeclaration = {
  name: "kill_session",
  summary: "End all runs of the task",
  params: {},
  words: {},
  holds: true,
};
