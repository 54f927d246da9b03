import type { ActionDeclaration } from "./declaration.ts";

export const notify: ActionDeclaration = {
  name: "notify",
  summary: "Tell the person",
  params: { message: { type: "text" }, title: { type: "text" } },
  words: {},
  holds: false,
  failsSilently: true,
};
