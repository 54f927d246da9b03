import type { ActionDeclaration } from "./declaration.ts";

export const releaseWorkspace: ActionDeclaration = {
  name: "release_workspace",
  summary: "Save what is unsaved, then give the workspace back to the pool",
  params: {},
  words: {},
  holds: true,
};
