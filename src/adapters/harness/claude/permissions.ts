import type { HarnessOrder, ToolClass } from "../../../ports/harness.ts";
import { shellQuote } from "../shell-quote.ts";

/** What the program calls the tools of each class. */
const classes: Readonly<Record<ToolClass, readonly string[]>> = {
  read: ["Read", "Grep", "Glob"],
  write: ["Edit", "Write", "NotebookEdit"],
  execute: ["Bash"],
  web: ["WebFetch", "WebSearch"],
};

/** The tools that a run has; undefined for all that the program has itself. */
export function toolsOf({ permissions, tools, taskFile }: HarnessOrder): readonly string[] | undefined {
  const asked = tools?.flatMap((tool) => (Object.hasOwn(classes, tool) ? classes[tool as ToolClass] : [tool]));
  const ownTools = asked?.filter((tool) => !tool.startsWith("mcp__"));
  if (permissions === "full") return ownTools;
  const reduced = ["Read", "Grep", "Glob", "Bash", ...(taskFile === "" ? [] : ["Edit", "Write"])];
  return ownTools === undefined ? reduced : reduced.filter((tool) => ownTools.includes(tool));
}

/**
 * What a run with reduced permissions may do without being asked; everything else is denied. There is no rule for git: the
 * program knows by itself which commands only read, with their options, while a rule `git log` would also allow
 * `git log --output=file`.
 */
export function allowed({ taskFile, testCommand, cli, mcp, tools = [] }: HarnessOrder): readonly string[] {
  const file = escapePattern(taskFile);
  const test = shellQuote(testCommand);
  return [
    ...["Read", "Grep", "Glob"],
    // Two slashes: an absolute path. One would be below the folder.
    ...(file === "" ? [] : [`Edit(/${file})`, `Write(/${file})`]),
    // An asterisk would stand for anything.
    ...(test === "" || test.includes("*") ? [] : [`Bash(${test})`]),
    ...(cli === "" ? [] : [`Bash(${cli})`, `Bash(${cli}:*)`]),
    ...(mcp === undefined ? [] : [`mcp__${serverName}`]),
    ...tools.filter((tool) => tool.startsWith("mcp__")),
  ];
}

/** What our MCP server is called; its tools are `mcp__signalbox__…`. */
export const serverName = "signalbox";

function escapePattern(path: string): string {
  return path.replace(/[*?[\]{}!\\]/g, "\\$&");
}
