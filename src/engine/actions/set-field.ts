import type { ActionDeclaration } from "./declaration.ts";

export const setField: ActionDeclaration = {
  name: "set_field",
  summary: "Set a counter",
  params: { field: { type: "counter", required: true }, value: { type: "integer", required: true } },
  words: {},
  holds: true,
};
