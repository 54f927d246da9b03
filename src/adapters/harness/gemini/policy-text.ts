import { relative } from "node:path";
import type { HarnessOrder, ToolClass } from "../../../ports/harness.ts";
import { chosenTools } from "../chosen-tools.ts";
import { reducedExactly, reducedPrefixes } from "../reduced-commands.ts";

const toolsOf: Readonly<Record<ToolClass, readonly string[]>> = {
  read: ["glob", "grep_search", "list_directory", "read_file", "read_many_files", "get_internal_docs"],
  write: ["write_file", "replace"],
  execute: ["run_shell_command"],
  web: ["google_web_search", "web_fetch"],
};
/** What only keeps the agent's own list of things to do. */
const harmless = ["write_todos", "update_topic", "complete_task", "tracker_*"];

/** No underscore: Gemini would take what comes before it for the whole name. */
export const mcpName = "signalbox";

/** The rules for a run from which something is withheld, as Gemini's policy files have them; else empty. */
export function policyText(order: HarnessOrder): string {
  const { classes, names, isLimited } = chosenTools(order);
  const isReduced = order.permissions === "reduced";
  if (!isReduced && !isLimited) return "";
  const chosen = [...classes].flatMap((each) => toolsOf[each]).concat(names);
  const free = isReduced ? chosen.filter((tool) => toolsOf.read.includes(tool)) : chosen;
  return [
    rule("deny", 1, { toolName: "*", denyMessage: "This tool is withheld from you." }),
    rule("allow", 100, { toolName: [...harmless, ...free], allowRedirection: true }),
    rule("allow", 100, { toolName: "*", mcpName }),
    ...(isReduced && chosen.includes("run_shell_command") ? shellRules(order) : []),
    ...(isReduced && order.taskFile !== "" ? [taskFileRule(order)] : []),
  ].join("\n");
}

/** Gemini takes a command apart and asks for each part; where it cannot, or a part is not allowed, the whole is refused. */
function shellRules(order: HarnessOrder): readonly string[] {
  const toolName = "run_shell_command";
  const exact = reducedExactly.map((command) => escaped(JSON.stringify(command).slice(1, -1))).join("|");
  const hidden = ["--ou", "--ext", "\\\\\\\\", "[$`{}*?[\\]]", `(?:\\\\"|')-`, ` -[^ =]*(?:\\\\"|')`].join("|");
  return [
    rule("allow", 100, { toolName, commandPrefix: reducedPrefixes(order) }),
    rule("allow", 100, { toolName, argsPattern: `\\x00"command":"(?:${exact})"\\x00` }),
    rule("deny", 200, {
      toolName,
      argsPattern: '\\x00"command":"[^\\x00]*[<>]',
      denyMessage: "Redirections are not allowed for you.",
    }),
    // `--output` writes a file and `--ext-diff` runs a program, also where the shell only makes them of something else.
    rule("deny", 200, {
      toolName,
      argsPattern: `\\x00"command":"git [^\\x00]*(?:${hidden})`,
      denyMessage: "Give git plain words only, and no --output.",
    }),
  ];
}

function taskFileRule({ folder, taskFile }: HarnessOrder): string {
  const names = [taskFile, relative(folder, taskFile)].map((name) => escaped(JSON.stringify(name)));
  return rule("allow", 100, {
    toolName: toolsOf.write,
    argsPattern: `\\x00"file_path":(?:${names.join("|")})\\x00`,
  });
}

function rule(decision: "allow" | "deny", priority: number, rest: Readonly<Record<string, unknown>>): string {
  // A JSON text or list of texts is one of TOML too.
  const lines = Object.entries({ ...rest, decision, priority }).map(
    ([key, value]) => `${key} = ${JSON.stringify(value)}`,
  );
  return `[[rule]]\n${lines.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
