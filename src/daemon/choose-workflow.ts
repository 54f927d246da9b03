import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { childProblems } from "../engine/child-workflows.ts";
import { loadWorkflow } from "../engine/language/load.ts";
import { formatProblem } from "../engine/language/problem.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { ConfigSource } from "../home/config.ts";
import { repositoryPlaces, shownPath } from "../home/places.ts";
import { isTrusted, readRepositoryConfig } from "../home/trust.ts";
import { childNames, type Found, findWorkflow } from "../home/workflows.ts";
import type { Project } from "../ports/store.ts";
import { allowCommand } from "./agents/harnesses.ts";
import type { Core } from "./core.ts";
import { trustCommand } from "./workspaces/project-settings.ts";

/** The current content of a workflow's file. */
interface FoundText {
  readonly found: Found;
  readonly text: string;
  readonly hash: string;
}

export interface Chosen extends FoundText {
  readonly workflow: Workflow;
}

/** The workflow file of this name for a project: the repository's own, else the user's, else a built-in one. */
export async function findText({ home }: Core, { path }: Project, name: string): Promise<FoundText> {
  const found = findWorkflow({ home, repository: path }, name);
  const text = await readFile(found.file, "utf8");
  return { found, text, hash: createHash("sha256").update(text).digest("hex") };
}

/** The workflow of this name, if it may run. An untrusted file is not even parsed. `source`: where its name stands. */
export async function chooseWorkflow(
  core: Core,
  project: Project,
  name: string,
  source: ConfigSource = "flag",
): Promise<Chosen> {
  const file = await findText(core, project, name).catch((error) => {
    throw fromSource(core, project, error, source);
  });
  checkTrust(core, project.name, file);
  return { ...file, workflow: core.workflows.known(file.hash) ?? loadFound(core, project, file) };
}

/** The name of a missing workflow may stand where its reader does not look: in a configuration. */
function fromSource({ places, home }: Core, { name, path }: Project, error: unknown, source: ConfigSource): unknown {
  const names: Partial<Record<ConfigSource, readonly [where: string, fix: string]>> = {
    user: [`It stands in ${places.config}`, "signalbox config set workflow default"],
    repository: [
      `It stands in ${shownPath(repositoryPlaces(home, path)?.config ?? path)}`,
      "signalbox config set workflow default --repository",
    ],
    project: [`It is the workflow of the project ${name}`, `signalbox project update ${name} --workflow default`],
  };
  const found = names[source];
  if (found === undefined || !(error instanceof Fault) || error.code !== "not-found") return error;
  const [where, fix] = found;
  return new Fault(error.code, `${error.message} ${where}.`, {
    hint: `Name another one, such as: ${fix}\n${error.hint ?? ""}`,
    cause: error,
  });
}

export function loadFound({ home }: Pick<Core, "home">, { path }: Pick<Project, "path">, file: FoundText): Workflow {
  const { name, file: shown } = file.found;
  const { workflow, problems } = loadWorkflow(file.text, shown, childNames({ home, repository: path }, file.found));
  if (workflow !== undefined) return workflow;
  const told = problems.map((problem) => `  ${formatProblem(problem)}`).join("\n");
  throw new Fault("workflow.invalid", `The workflow "${name}" has errors:\n${told}`, {
    hint: `Correct ${shown}, then check it: signalbox workflow validate ${shown}`,
  });
}

/**
 * The workflows of a task's children, and of theirs. A task whose children could never be started or ended is refused
 * before it begins.
 */
export async function childWorkflows(core: Core, project: Project, chosen: Chosen): Promise<readonly Workflow[]> {
  const { name } = chosen.found;
  const family = new Map([[name, chosen.workflow]]);
  for (const workflow of family.values()) {
    for (const { wait } of Object.values(workflow.states)) {
      if (wait.kind !== "fan_out" || family.has(wait.workflow)) continue;
      family.set(wait.workflow, (await chooseWorkflow(core, project, wait.workflow)).workflow);
    }
  }
  const problems = [...family].flatMap(([each, workflow]) =>
    childProblems(workflow, each, (child) => family.get(child)),
  );
  const [problem] = problems;
  if (problem !== undefined) throw new Fault("workflow.invalid", problem.message, { hint: problem.fix });
  return [...family.values()].slice(1);
}

/** A file that comes with a repository can run commands, so its user must have read and trusted it. */
function checkTrust({ places }: Core, project: string, { found, hash }: FoundText): void {
  if (found.from === "built-in" || found.from === "user" || isTrusted(places, hash)) return;
  throw new Fault("workflow.untrusted", `The workflow "${found.name}" in ${found.file} has not been trusted.`, {
    hint: `It can run commands on this machine. Read it, then: signalbox trust ${found.from === "file" ? found.file : found.name} --project ${project}`,
  });
}

/**
 * Continues the tasks that are held until a person runs one of `commands`, which the reason of each names. The project's other
 * tasks are woken too, because their next step may have been refused as well.
 */
export async function continueHeld(core: Core, project: string, ...commands: readonly string[]): Promise<void> {
  for (let before: number | undefined; ; ) {
    const page = { limit, ...(before === undefined ? {} : { before }) };
    const tasks = await core.store.listTasks({ project, isOpen: true }, page);
    for (const { task } of tasks) {
      const { reason = "" } = task.held ?? {};
      if (commands.some((command) => reason.includes(command))) {
        await core
          .submit(task.id, { kind: "continue", actor: { role: "human" } })
          .catch((error) => core.log.warn("A held task could not continue", { task: task.id, error }));
      }
      core.performer.wake(task.id);
    }
    before = tasks.at(-1)?.order;
    if (before === undefined) return;
  }
}

const limit = 500;

/**
 * Records whether agents of a project may have full permissions, and continues the tasks that are held because of it.
 */
export async function setPermissions(core: Core, project: string, fullPermissions: "allow" | "ask"): Promise<void> {
  await core.store.updateProject(project, { fullPermissions });
  core.log.info("A person has set whether agents may have full permissions", { project, fullPermissions });
  if (fullPermissions === "allow") await continueHeld(core, project, allowCommand(project));
}

/** The choices of a repository's file that do not count, as a sentence for the creator of a task. */
export function untrustedChoices(core: Core, project: Project): readonly string[] {
  const repository = readRepositoryConfig(core.home, project.path);
  if (repository === undefined || repository.choices.length === 0) return [];
  const { file, choices, hash } = repository;
  if (isTrusted(core.places, hash)) return [];
  return [`${file} sets ${choices.join(", ")}, which has no effect until you trust it: ${trustCommand(project.name)}`];
}
