import type { ActionDeclaration } from "./declaration.ts";

export const spawnNext: ActionDeclaration = {
  name: "spawn_next",
  summary: "Start the next waiting task of the project",
  params: {},
  words: {},
  holds: false,
};
