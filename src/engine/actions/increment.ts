import type { ActionDeclaration } from "./declaration.ts";

export const increment: ActionDeclaration = {
  name: "increment",
  summary: "Add one to a counter",
  params: { field: { type: "counter", required: true } },
  words: {},
  holds: true,
};
