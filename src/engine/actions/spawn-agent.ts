import type { ActionDeclaration } from "./declaration.ts";

export const spawnAgent: ActionDeclaration = {
  name: "spawn_agent",
  summary: "Start an agent, unless the role has a live one",
  params: {
    role: { type: "role" },
    prompt: { type: "prompt" },
    mode: { type: "text", oneOf: ["session", "turn", "steps", "dialogue"] },
    harness: { type: "text" },
    model: { type: "text" },
    permissions: { type: "text", oneOf: ["full", "reduced"] },
    tools: { type: "list" },
    result: { type: "result" },
    window: { type: "text" },
    keep: { type: "boolean" },
    increment: { type: "counter" },
  },
  words: {},
  holds: true,
  inWorkspace: "always",
  begins: "agent",
};
