import type { ActionDeclaration } from "./declaration.ts";

export const deleteBranch: ActionDeclaration = {
  name: "delete_branch",
  summary: "Delete the task's branch once its work is elsewhere",
  params: {},
  words: {},
  holds: false,
};
