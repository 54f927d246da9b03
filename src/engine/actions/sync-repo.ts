import type { ActionDeclaration } from "./declaration.ts";

export const syncRepo: ActionDeclaration = {
  name: "sync_repo",
  summary: "Fetch the project's repository",
  params: {},
  words: {},
  holds: false,
};
