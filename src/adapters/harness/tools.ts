import { type ChosenTools, classOf, type Tool } from "../../engine/tools.ts";
import type { HarnessOrder } from "../../ports/harness.ts";

/** What each program calls a tool of a workflow. Codex is missing: it knows classes only. */
const names: Readonly<Record<Tool, Readonly<Record<"claude" | "gemini" | "opencode", readonly string[]>>>> = {
  Read: { claude: ["Read"], gemini: ["read_file", "read_many_files", "get_internal_docs"], opencode: ["read", "lsp"] },
  Glob: { claude: ["Glob"], gemini: ["glob", "list_directory"], opencode: ["glob", "list"] },
  Grep: { claude: ["Grep"], gemini: ["grep_search"], opencode: ["grep"] },
  // OpenCode has one rule for all tools that change files.
  Write: { claude: ["Write"], gemini: ["write_file"], opencode: ["edit"] },
  Edit: { claude: ["Edit", "NotebookEdit"], gemini: ["replace"], opencode: ["edit"] },
  Bash: { claude: ["Bash"], gemini: ["run_shell_command"], opencode: ["bash"] },
  WebSearch: { claude: ["WebSearch"], gemini: ["google_web_search"], opencode: ["websearch", "codesearch"] },
  WebFetch: { claude: ["WebFetch"], gemini: ["web_fetch"], opencode: ["webfetch"] },
};

/** The chosen tools in the words of a program. */
export function programTools(program: "claude" | "gemini" | "opencode", { tools }: Pick<ChosenTools, "tools">) {
  return [...new Set(tools.flatMap((tool) => names[tool][program]))];
}

/** Reduced permissions allow the web only to a run whose own list names it. */
export function isListedWeb(tool: Tool, { tools }: Pick<HarnessOrder, "tools">): boolean {
  return tools !== undefined && classOf(tool) === "web";
}

/** The tools that our MCP server can have. */
export const ownTools = ["task_update", "comment", "stage_message", "work_complete"] as const;
