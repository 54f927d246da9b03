import type { ActionDeclaration } from "./declaration.ts";

export const acquireWorkspace: ActionDeclaration = {
  name: "acquire_workspace",
  summary: "Bind a workspace from the project's pool to the task",
  params: { base: { type: "text" } },
  words: {},
  holds: true,
  begins: "work",
};
