import { sha256 } from "../sha256.ts";
import type { Workflow } from "../workflow.ts";
import { compile } from "./compile.ts";
import { createReporter } from "./context.ts";
import type { Problem } from "./problem.ts";
import { workflowShape } from "./schema.ts";
import { readShape } from "./shape.ts";
import type { Source } from "./source.ts";
import { readTree } from "./tree.ts";

export interface Loaded {
  /** Undefined where there is an error among the problems. */
  readonly workflow: Workflow | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Loads a workflow from its text. `file` is what problems are reported against. `workflows` are the names that a fan-out may
 * give to its children; without them the name is not checked.
 */
export function loadWorkflow(text: string, file: string, workflows?: readonly string[]): Loaded {
  const { tree, problems } = readTree(text, file);
  if (tree === undefined) return { workflow: undefined, problems: inOrder(problems) };

  const reporter = createReporter(tree, text, file);
  const source = readShape(workflowShape, tree, [], (path, message, fix, atKey) =>
    reporter.error(path, message, fix, { key: atKey ?? false }),
  );
  if (reporter.problems.length > 0) return { workflow: undefined, problems: inOrder(reporter.problems) };

  const name = file.replace(/^.*\//, "").replace(/\.ya?ml$/, "");
  const workflow = compile(source as Source, sha256(text), name, reporter, workflows);
  const failed = reporter.problems.some((problem) => problem.level === "error");
  return { workflow: failed ? undefined : workflow, problems: inOrder(reporter.problems) };
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>();
  return [...problems]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .filter((problem) => {
      const key = `${problem.line}:${problem.column}:${problem.message}`;
      return !seen.has(key) && seen.add(key);
    });
}
