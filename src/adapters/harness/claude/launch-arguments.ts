import type { HarnessOrder, Launch } from "../../../ports/harness.ts";
import { toolsOf } from "./permissions.ts";

/** Paths; empty where there is nothing to say. */
export interface RunFiles {
  readonly settings: string;
  readonly mcp: string;
  readonly system: string;
}

/** Systems take no argument that is longer than 128 KiB. */
const longestArgument = 100_000;

/** How the program is called, after its own name. */
export function launchArguments(order: HarnessOrder, files: RunFiles): Pick<Launch, "argv" | "input" | "message"> {
  const { mode, prompt, session, model, effort } = order;
  const isTurn = mode === "turn";
  const given = [
    ...(isTurn ? turnArguments(order) : []),
    ...(session.id === "" ? [] : [session.kind === "new" ? "--session-id" : "--resume", session.id]),
    ...(model === "" ? [] : ["--model", model]),
    ...(effort === "" ? [] : ["--effort", effort]),
    ...["--settings", files.settings],
    ...(files.system === "" ? [] : ["--append-system-prompt-file", files.system]),
    ...(files.mcp === "" ? [] : ["--mcp-config", files.mcp]),
    // Else it asks about servers that the workspace brings along.
    "--strict-mcp-config",
    ...permissionArguments(order),
  ];
  if (isTurn) return { argv: given, input: prompt, message: "" };
  if (prompt === "" || Buffer.byteLength(prompt) > longestArgument) return { argv: given, input: "", message: prompt };
  // A prompt may begin with a dash.
  return { argv: [...given, "--", prompt], input: "", message: "" };
}

function turnArguments({ schema, costLimit }: HarnessOrder): readonly string[] {
  return [
    ...["--print", "--output-format", "stream-json", "--verbose"],
    ...(schema === undefined ? [] : ["--json-schema", JSON.stringify(schema)]),
    ...(costLimit === undefined ? [] : ["--max-budget-usd", String(costLimit)]),
  ];
}

function permissionArguments(order: HarnessOrder): readonly string[] {
  const tools = toolsOf(order);
  const offered = tools === undefined ? [] : ["--tools", tools.join(",")];
  // The workspace is ours to choose.
  if (order.permissions === "full")
    return ["--dangerously-skip-permissions", ...offered, "--disallowedTools", "EnterWorktree,ExitWorktree"];
  // No settings but the run's own: those in the workspace are the agents', and a person's may allow to push.
  return ["--permission-mode", "dontAsk", ...offered, "--setting-sources", ""];
}
