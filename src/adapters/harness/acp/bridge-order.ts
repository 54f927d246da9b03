import type { ToolClass } from "../../../ports/harness.ts";

/** What the bridge reads from its input: one turn with an agent. */
export interface BridgeOrder {
  /** The agent. */
  readonly argv: readonly string[];
  readonly folder: string;
  readonly prompt: string;
  /** Empty for the agent's own choice. */
  readonly model: string;
  /** Empty for a new session. */
  readonly resume: string;
  readonly mcp: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined;
  readonly rules: PermissionRules;
}

/** What is answered when the agent asks whether it may. */
export interface PermissionRules {
  readonly classes: readonly ToolClass[];
  /** Undefined where everything of the classes is allowed. */
  readonly reduced: { readonly commands: string; readonly folder: string; readonly taskFile: string } | undefined;
}
