import type { ActionDeclaration } from "./declaration.ts";

export const syncIdleAgents: ActionDeclaration = {
  name: "sync_idle_agents",
  summary: "Bring idle workspaces up to date",
  params: {},
  words: {},
  holds: false,
};
