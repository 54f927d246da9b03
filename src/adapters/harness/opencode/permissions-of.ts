import { relative } from "node:path";
import type { HarnessOrder, ToolClass } from "../../../ports/harness.ts";
import { chosenTools } from "../chosen-tools.ts";
import { reducedExactly, reducedPrefixes } from "../reduced-commands.ts";

type Action = "allow" | "deny";
/** What OpenCode calls permissions: the last rule that fits is obeyed. */
export type Permissions = Readonly<Record<string, Action | Readonly<Record<string, Action>>>>;

const keysOf: Readonly<Record<ToolClass, readonly string[]>> = {
  read: ["read", "glob", "grep", "list", "lsp"],
  write: ["edit"],
  execute: ["bash"],
  web: ["webfetch", "websearch", "codesearch"],
};

/** The server's name is the beginning of its tools' names. */
export const mcpName = "signalbox";

export function permissionsOf(order: HarnessOrder): Permissions {
  const { classes, names, isLimited } = chosenTools(order);
  if (order.permissions === "full" && !isLimited) return { "*": "allow" };
  const keys = [...classes].flatMap((each) => keysOf[each]).concat(names);
  const isReduced = order.permissions === "reduced";
  const allowed = isReduced ? keys.filter((key) => mayReduced(key)) : keys;
  return {
    // Agents below this one have permissions of their own, so that tool is withheld with all others.
    "*": "deny",
    todowrite: "allow",
    [`${mcpName}_*`]: "allow",
    ...Object.fromEntries(allowed.map((key) => [key, "allow" as const])),
    ...(isReduced ? {} : { external_directory: "allow" as const }),
    ...(isReduced && allowed.includes("bash") ? { bash: reducedShell(order) } : {}),
    // The task file may be written even where no class says so: it is how the run answers.
    ...(isReduced && order.taskFile !== "" ? { edit: taskFileOnly(order) } : {}),
  };
}

function mayReduced(key: string): boolean {
  return [...keysOf.read, "bash"].includes(key);
}

function taskFileOnly({ folder, taskFile }: HarnessOrder): Readonly<Record<string, Action>> {
  return { "*": "deny", [relative(folder, taskFile)]: "allow" };
}

/** The coarse half; the plugin looks at whole commands. */
function reducedShell(order: HarnessOrder): Readonly<Record<string, Action>> {
  const open = reducedPrefixes(order).flatMap((prefix) => [prefix, `${prefix} *`]);
  return {
    "*": "deny",
    ...Object.fromEntries([...reducedExactly, ...open].map((pattern) => [pattern, "allow" as const])),
  };
}
