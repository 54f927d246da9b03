import type { ToolClass } from "../../ports/harness.ts";
import type { StepKind } from "./script.ts";

interface Rights {
  readonly permissions: "full" | "reduced";
  readonly tools: readonly string[] | undefined;
  readonly testCommand: readonly string[];
}

/** The steps that need a right. The others say something, or go wrong, which nobody can forbid. */
const classes: { readonly [Kind in StepKind]?: ToolClass } = {
  write: "write",
  append: "write",
  delete: "write",
  fill: "write",
  commit: "write",
  switch_branch: "write",
  delete_workspace: "write",
  run: "execute",
  fork: "execute",
};

const readingGit = ["diff", "grep", "log", "ls-files", "rev-parse", "show", "status"];

/** Why a step may not be played, as a sentence; undefined where it may. */
export function deniedStep(
  kind: StepKind,
  value: unknown,
  { permissions, tools, testCommand }: Rights,
): string | undefined {
  const needed = classes[kind];
  if (needed === undefined) return undefined;
  if (tools !== undefined && !tools.includes(needed) && !tools.includes(kind))
    return `The step "${kind}" was denied: the run is without the tools for it.`;
  if (permissions === "full") return undefined;
  if (kind === "run" && isHarmless(value as readonly string[], testCommand)) return undefined;
  return `The step "${kind}" was denied: the run has reduced permissions.`;
}

function isHarmless(argv: readonly string[], testCommand: readonly string[]): boolean {
  if (argv.length === testCommand.length && argv.every((each, index) => each === testCommand[index])) return true;
  const [program, command = ""] = argv;
  return program === "git" && readingGit.includes(command) && !argv.some((each) => each.startsWith("--output"));
}
