export const toolClasses = ["read", "write", "execute", "web"] as const;
/** What a tool does: every harness knows these classes, whatever its tools are called. */
export type ToolClass = (typeof toolClasses)[number];

/** The tools that a workflow can name, with what each does and other names for it. All names are compared in lower case. */
const known = {
  Read: { class: "read", aliases: ["read_file", "view", "cat"] },
  Glob: { class: "read", aliases: ["ls", "list", "list_directory", "find"] },
  Grep: { class: "read", aliases: ["grep_search", "search"] },
  Write: { class: "write", aliases: ["write_file", "create"] },
  Edit: { class: "write", aliases: ["multiedit", "notebookedit", "replace", "patch", "apply_patch"] },
  Bash: { class: "execute", aliases: ["shell", "run_shell_command", "exec_command"] },
  WebSearch: { class: "web", aliases: ["web_search", "google_web_search"] },
  WebFetch: { class: "web", aliases: ["web_fetch", "fetch"] },
} as const satisfies Readonly<Record<string, { readonly class: ToolClass; readonly aliases: readonly string[] }>>;

/** A tool in the words of workflows. */
export type Tool = keyof typeof known;
export const tools = Object.keys(known) as readonly Tool[];

const byName: ReadonlyMap<string, readonly Tool[]> = new Map<string, readonly Tool[]>([
  ...tools.flatMap((tool) => [tool, ...known[tool].aliases].map((name) => [name.toLowerCase(), [tool]] as const)),
  // Last, so that `read` and `write` are the classes and not the tools of the same name.
  ...toolClasses.map((each) => [each, tools.filter((tool) => known[tool].class === each)] as const),
]);

export function classOf(tool: Tool): ToolClass {
  return known[tool].class;
}

export interface ChosenTools {
  /** The classes of which at least one tool is chosen. */
  readonly classes: ReadonlySet<ToolClass>;
  readonly tools: readonly Tool[];
  /** The tools of Signalbox's own MCP server; undefined for all that it has. */
  readonly own: readonly string[] | undefined;
  /** At least one tool is withheld. */
  readonly isLimited: boolean;
}

/**
 * The translation of a run's `tools`: classes (`read`) and tools (`Read`) in any case; every other name is that of a tool
 * of ours (`comment`). A list that names no tool of ours leaves the run all of them.
 */
export function chooseTools(names: readonly string[] | undefined): ChosenTools {
  if (names === undefined) return { classes: new Set(toolClasses), tools, own: undefined, isLimited: false };
  const chosen = new Set(names.flatMap(toolsNamed));
  const own = names
    .filter((name) => toolsNamed(name).length === 0)
    .map((name) => name.replace(/^mcp__signalbox__/, ""));
  return {
    classes: new Set([...chosen].map(classOf)),
    tools: tools.filter((tool) => chosen.has(tool)),
    own: own.length === 0 ? undefined : own,
    isLimited: chosen.size < tools.length || own.length > 0,
  };
}

/** `read` in small letters is the class, as `Read` is the tool: only then do they differ. */
function toolsNamed(name: string): readonly Tool[] {
  const exact = tools.find((tool) => tool === name);
  return exact === undefined ? (byName.get(name.toLowerCase()) ?? []) : [exact];
}
