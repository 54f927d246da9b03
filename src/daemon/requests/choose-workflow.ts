import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { loadWorkflow } from "../../engine/language/load.ts";
import { formatProblem } from "../../engine/language/problem.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { isTrusted } from "../../home/trust.ts";
import { childNames, type Found, findWorkflow } from "../../home/workflows.ts";
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
  return { ...file, workflow: core.workflows.known(file.hash) ?? loadFound(core, project, file) };
}

export function loadFound({ home }: Pick<Core, "home">, { path }: Pick<Project, "path">, file: FoundText): Workflow {
  const { name, file: shown } = file.found;
  const { workflow, problems } = loadWorkflow(file.text, shown, childNames({ home, repository: path }, file.found));
  if (workflow !== undefined) return workflow;
  const told = problems.map((problem) => `  ${formatProblem(problem)}`).join("\n");
  throw new Fault("workflow.invalid", `The workflow "${name}" has errors:\n${told}`, {
    hint: `Mend ${shown}, then check it: signalbox workflow validate ${shown}`,
  });
}

/** A file that comes with a repository can run commands: only what its user has read and trusted may. */
function checkTrust({ places }: Core, project: string, { found, hash }: FoundText): void {
  if (found.from === "built-in" || found.from === "user" || isTrusted(places, hash)) return;
  throw new Fault("workflow.untrusted", `The workflow "${found.name}" in ${found.file} has not been trusted.`, {
    hint: `It can run commands on this machine. Read it, then: signalbox trust ${found.from === "file" ? found.file : found.name} --project ${project}`,
  });
}
