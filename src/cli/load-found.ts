import { type Loaded, loadWorkflow } from "../engine/language/load.ts";
import { formatProblem } from "../engine/language/problem.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import { childNames, type Found, type Lookup } from "../home/workflows.ts";
import { count } from "./count.ts";
import { readText } from "./read-text.ts";
import { shellWord } from "./shell-word.ts";

const mostShown = 5;

/** With a `lookup`, the workflows that its children are to have must exist too. */
export function loadFound(found: Found, lookup?: Lookup): Loaded {
  return loadWorkflow(readText(found), found.shown, lookup && childNames(lookup, found));
}

/** The workflow, or a Fault that shows what is wrong with its file. */
export function loadSound(found: Found): Workflow {
  const { workflow, problems } = loadFound(found);
  if (workflow !== undefined) return workflow;
  const errors = problems.filter(({ level }) => level === "error");
  const shown = errors.slice(0, mostShown).map((problem) => `  ${formatProblem(problem)}`);
  const more = errors.length > mostShown ? [`  and ${errors.length - mostShown} more`] : [];
  throw new Fault(
    "invalid-workflow",
    [`"${found.name}" has ${count(errors.length, "error")}:`, ...shown, ...more].join("\n"),
    {
      hint: `Mend the file, then: signalbox workflow validate ${referenceTo(found)}`,
    },
  );
}

/** What to write on the command line to mean this workflow. */
export function referenceTo({ name, from, shown }: Found): string {
  return from === "file" ? shellWord(shown) : name;
}
