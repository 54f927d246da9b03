import type { ActionDeclaration } from "./declaration.ts";

export const deleteRemoteBranch: ActionDeclaration = {
  name: "delete_remote_branch",
  summary: "Delete the branch on the remote",
  params: {},
  words: {},
  holds: false,
};
