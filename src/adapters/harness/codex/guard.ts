import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chooseTools } from "../../../engine/tools.ts";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { reducedCommand } from "../launch.ts";

interface Rules {
  /** Why files may not be changed with Codex's own tool; empty if they may. */
  readonly patches: string;
  /** The commands that may run; empty for all. */
  readonly commands: string;
  /** Why other commands may not. */
  readonly refusal: string;
}

/**
 * What a sandbox cannot tell apart: it lets commands write what Codex's own tool may write, and the other way round.
 * Undefined for a run in which both or neither may write.
 */
function rulesOf(order: HarnessOrder): Rules | undefined {
  const { classes } = chooseTools(order.tools);
  if (order.permissions === "reduced" || classes.has("write") === classes.has("execute")) return undefined;
  if (classes.has("execute"))
    return { patches: "You may not use this tool: files are not yours to edit here.", commands: "", refusal: "" };
  return {
    patches: "",
    commands: reducedCommand({ cli: order.cli, testCommand: [] }).source,
    refusal:
      "You may run only commands that read, without redirections: cat, head, tail, ls, grep, git log, git diff. Write files with apply_patch.",
  };
}

/** Writes the program that Codex asks before each tool, and returns its command; undefined where none is needed. */
export async function writeGuard(order: HarnessOrder): Promise<readonly string[] | undefined> {
  const rules = rulesOf(order);
  if (rules === undefined) return undefined;
  const file = join(order.runFolder, "codex-guard.mjs");
  await writeFile(file, guardText(rules), { mode: 0o600 });
  return [process.execPath, file];
}

/** An input that it does not understand ends it with 2, by which Codex refuses the tool. */
function guardText(rules: Rules): string {
  return `const rules = ${JSON.stringify(rules)};
process.on("uncaughtException", (error) => {
  console.error(String(error));
  process.exit(2);
});
let text = "";
for await (const piece of process.stdin) text += piece;
const { tool_name: tool, tool_input: input } = JSON.parse(text);
const isPatch = tool === "apply_patch";
const command = isPatch || typeof input !== "object" ? undefined : (input?.command ?? input?.cmd);
const isCommand = /^(bash|shell|exec_command|local_shell|unified_exec)$/i.test(tool) || command !== undefined;
const refused =
  isPatch ? rules.patches
  : rules.commands !== "" && isCommand && !new RegExp(rules.commands).test(String(command)) ? rules.refusal
  : "";
if (refused !== "") {
  console.error(refused);
  process.exit(2);
}
`;
}
