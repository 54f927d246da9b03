import type { Call } from "../../../api/client.ts";
import { type ProjectView, routes } from "../../../api/routes.ts";
import { didYouMean } from "../../../engine/language/nearest.ts";
import { Fault } from "../../../fault.ts";
import { listWorkflows } from "../../../home/workflows.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { projectNamed, projectOfFolder } from "../../find-project.ts";
import { loadSound } from "../../load-found.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { shellWord } from "../../shell-word.ts";
import { usualLimit } from "../../task-parameters.ts";
import { marksIn, writeTasks } from "../../task-table.ts";
import { watchWork } from "../../watch-work.ts";
import { writeJson } from "../../write-json.ts";
import { writeNeeds } from "../../write-needs.ts";

export interface ListFlags {
  readonly project?: string;
  readonly all: boolean;
  readonly status?: string;
  readonly open: boolean;
  readonly closed: boolean;
  readonly parent?: string;
  readonly limit: number;
  readonly before?: number;
  readonly "needs-me": boolean;
  readonly watch: boolean;
  readonly json: boolean;
}

export async function list(this: Context, flags: ListFlags) {
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const project = flags.project === undefined ? undefined : projectNamed(projects, flags.project);
  const shown = project ?? (flags.all ? undefined : await projectOfFolder(call, projects));
  const query = {
    ...(shown === undefined ? {} : { project: shown.name }),
    ...(flags.status === undefined ? {} : { status: flags.status }),
    ...(flags.parent === undefined ? {} : { parent: await idOf(call, flags.parent) }),
    ...(flags["needs-me"] ? { needs: "true" as const } : openness(flags)),
    limit: String(flags.limit),
  };
  if (flags.watch) return watchWork(this, query, flags.json);
  const before = flags.before === undefined ? {} : { before: String(flags.before) };
  const answer = await call(routes.listTasks, { query: { ...query, ...before } });
  if (flags.status !== undefined && answer.tasks.length === 0) mustBeState(this, flags.status, shown ?? projects);
  if (flags.json) return this.print(writeJson(answer));
  const { tasks, next } = answer;
  if (tasks.length === 0) return this.say(whyEmpty(flags, shown?.name, projects.length));
  if (flags["needs-me"]) this.print(writeNeeds(tasks, this, Date.now()));
  else this.print(writeTasks(tasks, { paint: this.paint, columns: this.tableWidth }, Date.now()));
  const marks = flags["needs-me"] ? "" : marksIn(tasks);
  if (marks !== "") this.say(`\n${marks}`);
  // A mark does not say that somebody has deleted something.
  for (const task of flags["needs-me"] ? [] : tasks)
    for (const { brief, command } of task.needs.filter(({ reason }) => reason === "workspace"))
      this.say(`\n${shownTask(task)}: ${brief}\n  ${command}`);
  if (next !== null)
    this.say(`\nThere are more: signalbox task list ${[...sameFlags(flags), `--before ${next}`].join(" ")}`);
}

/** Of a state that no workflow has, nobody would ever find a task. */
function mustBeState({ home }: Context, status: string, where: ProjectView | readonly ProjectView[]): void {
  const repositories = [where].flat().map(({ path }) => path);
  const found = (repositories.length === 0 ? [undefined] : repositories).flatMap((repository) =>
    listWorkflows({ home, repository }),
  );
  const files = [...new Map(found.map((each) => [each.file, each])).values()];
  const states = files.flatMap((each) => {
    try {
      return Object.keys(loadSound(each).states);
    } catch {
      return [];
    }
  });
  if (states.includes(status)) return;
  throw new Fault("usage", `No workflow here has a state "${status}".`, {
    hint: didYouMean(status, [...new Set(states)]),
  });
}

/** Whoever asks for a status means tasks in it, over or not. */
function openness({ open, closed, status }: ListFlags): { open?: "true" | "false" } {
  if (open === closed) return open || status !== undefined ? {} : { open: "true" };
  return { open: open ? "true" : "false" };
}

async function idOf(call: Call, reference: string): Promise<string> {
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  return task.id;
}

function whyEmpty(flags: ListFlags, project: string | undefined, projects: number): string {
  if (projects === 0) return "There are no tasks, and no project yet. To make a repository one, in it: signalbox init";
  const where = project === undefined ? "" : ` in ${project}`;
  if (flags["needs-me"]) return `No task${where} needs you now. To see what happens: signalbox status --watch`;
  const isPlain = flags.status === undefined && flags.parent === undefined && flags.before === undefined;
  if (!isPlain) return `There is no such task${where}. To see all: signalbox task list --open --closed`;
  if (flags.closed && !flags.open) return `No task${where} is over yet. To see the others: signalbox task list`;
  return `There are no ${flags.closed ? "" : "open "}tasks${where}. To create one: signalbox task create "What is to be done"`;
}

function sameFlags(flags: ListFlags): readonly string[] {
  const { project, status, parent, limit } = flags;
  const values = { project, status, parent, limit: limit === usualLimit ? undefined : limit };
  return [
    ...(["all", "open", "closed", "needs-me"] as const).flatMap((name) => (flags[name] ? [`--${name}`] : [])),
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name} ${shellWord(String(value))}`],
    ),
  ];
}
