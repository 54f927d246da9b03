import type { ActionDeclaration } from "./declaration.ts";

export const mergePr: ActionDeclaration = {
  name: "merge_pr",
  summary: "Merge the pull request on the forge",
  params: {},
  words: { unapproved: "temporary", unmergeable: "temporary" },
  holds: true,
  begins: "work",
};
