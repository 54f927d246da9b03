import { resolve } from "node:path";
import type { ToolClass } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { textAt } from "../json-at.ts";
import type { PermissionRules } from "./bridge-order.ts";

export const mcpName = "signalbox";

/** The protocol's kinds of tools; whatever else there is belongs to no class. */
const classOf: Readonly<Record<string, ToolClass>> = {
  read: "read",
  search: "read",
  edit: "write",
  delete: "write",
  move: "write",
  execute: "execute",
  fetch: "web",
};

/** The answer to `session/request_permission`. */
export function answerPermission(params: unknown, rules: PermissionRules): Readonly<Record<string, unknown>> {
  const wanted = isAllowed(jsonAt(params, "toolCall"), rules)
    ? ["allow_once", "allow_always"]
    : ["reject_once", "reject_always"];
  const options = jsonAt(params, "options");
  const all: readonly unknown[] = Array.isArray(options) ? options : [];
  const chosen = wanted.map((kind) => all.find((option) => textAt(option, "kind") === kind)).find(Boolean);
  const optionId = textAt(chosen, "optionId");
  // Where there is nothing to choose, this is the only way to say no.
  return { outcome: optionId === "" ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
}

function isAllowed(call: unknown, { classes, reduced }: PermissionRules): boolean {
  const kind = textAt(call, "kind");
  const itsClass = Object.hasOwn(classOf, kind) ? classOf[kind] : undefined;
  if (reduced !== undefined && kind === "edit" && isTaskFile(call, reduced)) return true;
  if (itsClass === undefined) return reduced === undefined || isOurs(textAt(call, "title"));
  if (!classes.includes(itsClass)) return false;
  if (reduced === undefined || itsClass === "read") return true;
  return itsClass === "execute" && new RegExp(reduced.commands).test(commandIn(call));
}

/** A tool of our own server, as agents name them: `mcp__signalbox__comment`, `comment (signalbox MCP Server)`. */
function isOurs(title: string): boolean {
  return new RegExp(`^(?:(?:mcp_+)?${mcpName}[_.:/-]+\\w+|\\w+ \\(${mcpName} MCP Server\\))$`).test(title);
}

/** Some agents tell the command only as the title. One that was shortened cannot be judged. */
function commandIn(call: unknown): string {
  const command = textAt(call, "rawInput", "command");
  if (command !== "") return command;
  const title = textAt(call, "title");
  return /(?:…|\.\.\.)\s*$/.test(title) ? "" : title;
}

function isTaskFile(call: unknown, { folder, taskFile }: NonNullable<PermissionRules["reduced"]>): boolean {
  const paths = pathsIn(call);
  return taskFile !== "" && paths.length > 0 && paths.every((path) => resolve(folder, path) === resolve(taskFile));
}

function pathsIn(call: unknown): readonly string[] {
  const named = ["file_path", "filePath", "path", "filepath"].map((key) => textAt(call, "rawInput", key));
  const listed = ["locations", "content"].flatMap((key) => {
    const list = jsonAt(call, key);
    return Array.isArray(list) ? list.map((each: unknown) => textAt(each, "path")) : [];
  });
  return [...named, ...listed].filter((path) => path !== "");
}
