import type { ActionDeclaration } from "./declaration.ts";

export const postComment: ActionDeclaration = {
  name: "post_comment",
  summary: "Comment on the pull request",
  params: { message: { type: "text" } },
  words: {},
  holds: false,
};
