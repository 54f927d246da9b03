import type { ActionDeclaration } from "./declaration.ts";

export const harvestUncommitted: ActionDeclaration = {
  name: "harvest_uncommitted",
  summary: "Commit what the agent left uncommitted",
  params: {},
  words: {},
  holds: true,
  inWorkspace: "where-bound",
};
