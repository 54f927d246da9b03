import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { loadWorkflow } from "../../engine/language/load.ts";
import { formatProblem } from "../../engine/language/problem.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { isTrusted } from "../../home/trust.ts";
import { type Found, findWorkflow } from "../../home/workflows.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";

/** A workflow's file, as it is now. */
export interface FoundText {
  readonly found: Found;
  readonly text: string;
  readonly hash: string;
}

export interface Chosen extends FoundText {
  readonly workflow: Workflow;
}

/** The file of this name for a project: the repository's own, else the user's, else a built-in one. */
export async function findText({ home }: Core, { path }: Project, name: string): Promise<FoundText> {
  const found = findWorkflow({ home, repository: path }, name);
  const text = await readFile(found.file, "utf8");
  return { found, text, hash: createHash("sha256").update(text).digest("hex") };
}

/** The workflow of this name, where it may run. What is not trusted is not even read as YAML. */
export async function chooseWorkflow(core: Core, project: Project, name: string): Promise<Chosen> {
  const file = await findText(core, project, name);
  checkTrust(core, project.name, file);
  return { ...file, workflow: core.workflows.known(file.hash) ?? loadFound(file) };
}

export function loadFound({ found: { name, file }, text }: FoundText): Workflow {
  const { workflow, problems } = loadWorkflow(text, file);
  if (workflow !== undefined) return workflow;
  const shown = problems.map((problem) => `  ${formatProblem(problem)}`).join("\n");
  throw new Fault("workflow.invalid", `The workflow "${name}" has errors:\n${shown}`, {
    hint: `Mend ${file}, then check it: signalbox workflow validate ${file}`,
  });
}

/** A file that comes with a repository can run commands: only what its user has read and trusted may. */
function checkTrust({ places }: Core, project: string, { found, hash }: FoundText): void {
  if (found.from === "built-in" || found.from === "user" || isTrusted(places, hash)) return;
  throw new Fault("workflow.untrusted", `The workflow "${found.name}" in ${found.file} has not been trusted.`, {
    hint: `It can run commands on this machine. Read it, then: signalbox trust ${found.from === "file" ? found.file : found.name} --project ${project}`,
  });
}
