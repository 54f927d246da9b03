import type { ActionDeclaration } from "./declaration.ts";

export const createPr: ActionDeclaration = {
  name: "create_pr",
  summary: "Open the pull request, or bring it up to date",
  params: { title: { type: "text" }, body: { type: "text" } },
  words: {},
  holds: true,
  begins: "work",
};
