import type { ActionDeclaration } from "./declaration.ts";

export const pushBranch: ActionDeclaration = {
  name: "push_branch",
  summary: "Push the task's branch",
  params: {},
  words: {},
  holds: true,
  begins: "work",
};
