import { defaultNames } from "./default-names.ts";
import type { RunSpec } from "./workflow.ts";

/** The run of a role of which the file says nothing more. */
export function plainRun(role: string): RunSpec {
  return {
    role,
    mode: "session",
    harness: "task",
    prompt: undefined,
    model: undefined,
    permissions: "full",
    tools: undefined,
    result: undefined,
    window: undefined,
    keep: false,
    stepPrompt: undefined,
    marker: defaultNames.marker,
    until: undefined,
    confirm: false,
    limits: {},
  };
}
