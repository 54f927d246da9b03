import type { ActionDeclaration } from "./declaration.ts";

export const notifyAgent: ActionDeclaration = {
  name: "notify_agent",
  summary: "Tell a live agent something, or start a dead one with it",
  params: {
    role: { type: "role", required: true },
    message: { type: "text" },
    prompt: { type: "prompt" },
    steps: { type: "integer" },
  },
  words: {},
  holds: false,
  begins: "agent",
};
