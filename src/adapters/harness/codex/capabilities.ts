import type { Capabilities } from "../../../ports/harness.ts";

export const capabilities: Capabilities = {
  session: true,
  turn: true,
  resume: true,
  namesSession: false,
  model: true,
  effort: true,
  reduced: "enforced",
  // It reads with commands, so commands cannot be withheld.
  withholds: ["write", "web"],
  toolsByName: false,
  schema: true,
  system: true,
  mcp: true,
  acknowledges: "hook",
  tokens: true,
  cost: false,
};
