import type { ActionDeclaration } from "./declaration.ts";

export const createBranch: ActionDeclaration = {
  name: "create_branch",
  summary: "Create the task's branch",
  params: { name: { type: "text" }, from: { type: "text" } },
  words: {},
  holds: true,
  inWorkspace: "where-bound",
  begins: "work",
};
