import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { loadWorkflow } from "../../engine/language/load.ts";
import { formatProblem } from "../../engine/language/problem.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { isTrusted } from "../../home/trust.ts";
import { type Found, findWorkflow } from "../../home/workflows.ts";
import type { Core } from "../core.ts";

export interface Chosen {
  readonly found: Found;
  readonly text: string;
  readonly workflow: Workflow;
}

/** The workflow of this name for a project: the repository's own, else the user's, else a built-in one. */
export async function chooseWorkflow(core: Core, repository: string, name: string): Promise<Chosen> {
  const found = findWorkflow({ home: core.home, repository }, name);
  const text = await readFile(found.file, "utf8");
  const known = core.workflows.known(createHash("sha256").update(text).digest("hex"));
  if (known !== undefined) return { found, text, workflow: known };
  const { workflow, problems } = loadWorkflow(text, found.file);
  if (workflow === undefined) {
    const shown = problems.map((problem) => `  ${formatProblem(problem)}`).join("\n");
    throw new Fault("workflow.invalid", `The workflow "${name}" has errors:\n${shown}`, {
      hint: `Mend ${found.file}, then check it: signalbox workflow validate ${found.file}`,
    });
  }
  return { found, text, workflow };
}

/** A file that comes with a repository can run commands: only what its user has read and trusted may. */
export function checkTrust({ places }: Core, project: string, { found, workflow }: Chosen): void {
  if (found.from === "built-in" || found.from === "user" || isTrusted(places, workflow.hash)) return;
  throw new Fault("workflow.untrusted", `The workflow "${found.name}" in ${found.file} has not been trusted.`, {
    hint: `It can run commands on this machine. Read it, then: signalbox trust ${found.from === "file" ? found.file : found.name} --project ${project}`,
  });
}
