import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { formatProblem, type Problem } from "../../src/engine/language/problem.ts";
import type { Finding } from "../../src/engine/verify/finding.ts";
import { type Verification, verify } from "../../src/engine/verify/verify.ts";
import type { Workflow } from "../../src/engine/workflow.ts";

const root = join(import.meta.dirname, "..", "..");

export const builtInNames = ["classic", "crew", "default", "minimal", "pipeline", "team", "team-subtask"] as const;
export type BuiltInName = (typeof builtInNames)[number];

export function builtIn(name: BuiltInName): string {
  return readFileSync(join(root, "workflows", `${name}.yml`), "utf8");
}

export function fixture(name: string): string {
  return readFileSync(join(root, "test", "fixtures", name), "utf8");
}

/** The YAML documents that seed 001 prints: its default.yml and its minimal.yml. */
export function seedDocuments(): readonly string[] {
  const blocks = [...fixture("seed-001.md").matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  return blocks.filter((block) => block.startsWith("name:"));
}

/** Replaces `from`, which must occur in the text exactly once. */
export function edit(text: string, from: string, to: string): string {
  const count = text.split(from).length - 1;
  if (count !== 1) throw new Error(`"${from}" stands in the text ${count} times.`);
  return text.replace(from, () => to);
}

/** Replaces `from` after the first occurrence of `behind`, which distinguishes equal lines. */
export function editAfter(text: string, behind: string, from: string, to: string): string {
  const at = text.indexOf(behind);
  const found = at < 0 ? -1 : text.indexOf(from, at);
  if (found < 0) throw new Error(`"${from}" does not stand behind "${behind}".`);
  return text.slice(0, found) + to + text.slice(found + from.length);
}

/** A text in which `¦` marks the place where a problem is expected: the text without it, and that place. */
export function marked(text: string): { text: string; line: number; column: number } {
  const [before = "", after, more] = text.split("¦");
  if (after === undefined || more !== undefined) throw new Error("The text must have one mark.");
  const lines = before.split("\n");
  return { text: before + after, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

export function problemsOf(text: string, file = "b.yml"): readonly Problem[] {
  return loadWorkflow(text, file).problems;
}

export function load(text: string, file = "b.yml"): Workflow {
  const { workflow, problems } = loadWorkflow(text, file);
  if (workflow === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  return workflow;
}

/** Loads and verifies, as `signalbox workflow verify` does. */
export function check(text: string, file = "b.yml"): { workflow: Workflow; verification: Verification } {
  const { workflow, problems } = loadWorkflow(text, file);
  if (workflow === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  return { workflow, verification: verify(workflow, problems) };
}

/** A finding as three words: `error wedge stuck`. */
export function brief({ level, code, state }: Pick<Finding, "level" | "code" | "state">): string {
  return `${level} ${code} ${state}`.trim();
}

/** The errors and warnings of a verification, in brief. */
export function faults(verification: Verification): readonly string[] {
  return verification.findings.filter(({ level }) => level !== "note").map(brief);
}
