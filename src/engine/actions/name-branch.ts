import type { ActionDeclaration } from "./declaration.ts";

export const nameBranch: ActionDeclaration = {
  name: "name_branch",
  summary: "Give the branch a telling name",
  params: { model: { type: "text" }, prompt: { type: "prompt" } },
  words: {},
  holds: false,
  inWorkspace: "where-bound",
  begins: "work",
};
