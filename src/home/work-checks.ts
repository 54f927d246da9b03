import { readFileSync, statSync } from "node:fs";
import { choiceProblem } from "../engine/create.ts";
import { loadWorkflow } from "../engine/language/load.ts";
import { formatProblem, type Problem } from "../engine/language/problem.ts";
import { shellWord } from "../shell-quote.ts";
import { count, firstStatement } from "../text.ts";
import { error, type Finding, ok, warning } from "./checks.ts";
import { loadConfig } from "./config.ts";
import { findRepository, homePlaces } from "./places.ts";
import { childNames, type Found, listWorkflows } from "./workflows.ts";

export interface BranchProblem {
  readonly project: string;
  readonly reason: string;
  readonly fix: string;
  readonly isNote?: boolean;
}

/** What the checks of tasks and projects need to know. */
export interface Work {
  /** Tasks that do not continue, and why. */
  readonly troubled: readonly { readonly task: string; readonly why: string }[];
  /** `workflow`: the recorded one for new tasks; empty or missing if there is none. */
  readonly projects: readonly {
    readonly name: string;
    readonly path: string;
    readonly workspaces: string;
    readonly workflow?: string;
  }[];
  /** Problems of default branches. Only a running daemon knows them. */
  readonly branches?: readonly BranchProblem[];
  /** Workspaces that were set aside, because they could not be saved. Only a running daemon knows them. */
  readonly unsaved?: readonly { readonly project: string; readonly reason: string; readonly fix: string }[];
}

/** Why a held task does not continue. */
export function whyHeld(status: string, reason: string): string {
  return `is held in "${status}": ${reason}`;
}

const maxShown = 5;

/** The tasks that do not continue by themselves. */
export function lookAtTasks(stored: Pick<Work, "troubled"> | undefined): readonly Finding[] {
  const { troubled = [] } = stored ?? {};
  if (troubled.length === 0) return ok("none is held");
  const shown = troubled.slice(0, maxShown).flatMap(({ task, why }) => {
    const line = firstStatement(why).replace(/\s+/g, " ");
    return warning(`${task} ${line}`, `signalbox task explain ${task}`);
  });
  const rest = troubled.length - maxShown;
  return rest > 0 ? [...shown, ...warning(`and ${count(rest, "other")}`, "signalbox task list --all")] : shown;
}

/** Repositories that are gone, troubles of branches, and workspaces that could not be saved. */
export function lookAtProjects(stored: Omit<Work, "troubled"> | undefined): readonly Finding[] {
  const { projects = [], branches = [], unsaved = [] } = stored ?? {};
  const gone = projects.flatMap(({ name, path }) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder && findRepository(path) !== undefined) return [];
    const what = isFolder ? "is not a git repository" : "is gone";
    return error(
      `${path}, the repository of ${name}, ${what}`,
      `signalbox project update ${name} --path PATH\nor, to remove it with its tasks and their history: signalbox project remove ${name}`,
    );
  });
  const wrong = [
    ...gone,
    ...branches
      .filter(({ isNote }) => isNote !== true)
      .flatMap(({ project, reason, fix }) => error(`${project}: ${reason}`, fix)),
    ...unsaved.flatMap(({ project, reason, fix }) => warning(`${project}: ${reason}`, fix)),
  ];
  if (projects.length === 0) return ok("none yet; in a repository: signalbox init");
  const well = ok(projects.map(({ name }) => name).join(", "));
  const notes = branches.filter(({ isNote }) => isNote === true).map(noteBranch);
  return [...(wrong.length > 0 ? wrong : well), ...notes, ...projects.flatMap(offerClones)];
}

/** A note, not a problem: the person may have moved the branch. */
function noteBranch({ project, reason, fix }: BranchProblem): Finding {
  return { level: "ok", found: `${project}: ${reason}`, fix };
}

/** A note, not a problem: a person may have chosen worktrees. */
function offerClones({ name, workspaces }: Work["projects"][number]): readonly Finding[] {
  if (workspaces !== "worktree") return [];
  const found = `the workspaces of ${name} are worktrees. ${worktreeLimits}. Clones share nothing with it; to change to them:`;
  return [{ level: "ok", found, fix: `signalbox project update ${name} --workspaces clone` }];
}

/** Whether the user's own workflows load, and the configured ones exist. */
export function lookAtWorkflows(home: string, projects: Work["projects"] = []): readonly Finding[] {
  const own = listWorkflows({ home }).filter(({ from }) => from === "user");
  const wrong = own.flatMap((found) => {
    const [problem] = problemsOf(found, home).filter(({ level }) => level === "error");
    if (problem === undefined) return [];
    return error(
      `${found.name} does not load: ${formatProblem(problem)}`,
      `signalbox workflow validate ${shellWord(found.name)}`,
    );
  });
  wrong.push(...wrongPresets(home), ...missingWorkflows(home, projects));
  if (wrong.length > 0) return wrong;
  return ok(own.length === 0 ? "the built-in workflows" : `yours load: ${own.map(({ name }) => name).join(", ")}`);
}

/** The workflows for new tasks that are configured, but are not there. */
function missingWorkflows(home: string, projects: Work["projects"]): readonly Finding[] {
  const file = homePlaces(home).config;
  const { workflow: own } = loadConfig(file, "user").config;
  const isThere = (name: string, repository?: string) =>
    listWorkflows({ home, repository }).some((found) => found.name === name);
  // It may be one that only repositories have.
  const isOurs = own === undefined || isThere(own) || projects.some(({ path }) => isThere(own, path));
  return [
    ...(isOurs
      ? []
      : error(`workflow in ${file}: there is no workflow "${own}"`, "signalbox config set workflow default")),
    ...projects.flatMap(({ name, path, workflow = "" }) =>
      workflow === "" || isThere(workflow, path)
        ? []
        : error(
            `the project ${name}: there is no workflow "${workflow}"`,
            `signalbox project update ${name} --workflow default`,
          ),
    ),
  ];
}

/** Presets of the user's configuration for workflows that are not there, or with values that their settings cannot have. */
function wrongPresets(home: string): readonly Finding[] {
  const file = homePlaces(home).config;
  // A wrong file is a finding of its own.
  const { presets = {} } = loadConfig(file, "user").config;
  return Object.entries(presets).flatMap(([name, all]) => {
    const found = listWorkflows({ home }).find((each) => each.name === name);
    const workflow =
      found && loadWorkflow(readFileSync(found.file, "utf8"), found.shown, childNames({ home }, found)).workflow;
    return Object.entries(all).flatMap(([preset, settings]) => {
      const key = `presets.${name}.${preset}`;
      if (found === undefined) return warning(`${key}: there is no workflow "${name}"`, `Correct the name in ${file}`);
      const problem = workflow && choiceProblem(workflow, "", settings);
      return problem === undefined ? [] : warning(`${key}: ${problem.text}`, `${problem.fix} Correct it in ${file}`);
    });
  });
}

function problemsOf(found: Found, home: string): readonly Problem[] {
  return loadWorkflow(readFileSync(found.file, "utf8"), found.shown, childNames({ home }, found)).problems;
}

/** What workspaces of kind `worktree` cannot promise, without a full stop. */
export const worktreeLimits =
  "Worktrees share .git with your repository: agents run there without a sandbox, and can move your branches and change hooks and settings";
