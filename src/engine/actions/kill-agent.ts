import type { ActionDeclaration } from "./declaration.ts";

export const killAgent: ActionDeclaration = {
  name: "kill_agent",
  summary: "End the live run of a role",
  params: { role: { type: "role", required: true } },
  words: {},
  holds: true,
};
