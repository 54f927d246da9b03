import type { ActionDeclaration } from "./declaration.ts";

export const merge: ActionDeclaration = {
  name: "merge",
  summary: "Merge, and check that the work has arrived",
  params: {
    from: { type: "text", oneOf: ["task", "children", "needs"] },
    into: { type: "text", oneOf: ["default", "parent", "task"] },
    strategy: { type: "text", oneOf: ["ff", "no-ff"] },
    uncommitted: { type: "text", oneOf: ["refuse", "leave"] },
  },
  words: { conflict: "answer", tests: "answer" },
  holds: true,
  begins: "work",
};
