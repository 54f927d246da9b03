import { offerHarnesses, offerProjects, offerStates, offerTasks } from "./offers.ts";
import { flag, listFlag, numberFlag, offerWorkflows, textFlag } from "./parameters.ts";

/** Parameters that commands about tasks share. */

export const task = {
  parse: String,
  proposeCompletions: offerTasks,
  placeholder: "TASK",
  brief:
    "A task: its id, project#number, or its number or branch in this folder's project; . is the task of this folder",
} as const;

/** For what is done with each of several tasks. */
export const tasks = { kind: "array", parameter: task, minimum: 1 } as const;

export const oneTask = { kind: "tuple", parameters: [task] } as const;

export const taskFlag = (name: string, brief: string) =>
  ({ ...textFlag(name, brief), proposeCompletions: offerTasks }) as const;

export const project = {
  ...textFlag("P", "The project; otherwise that of this folder"),
  proposeCompletions: offerProjects,
} as const;

/** For commands that only show something. */
export const projectToShow = {
  ...textFlag("P", "The project; otherwise that of this folder, or outside of git the only one"),
  proposeCompletions: offerProjects,
} as const;

export const onlyProject = { ...textFlag("P", "Only of this project"), proposeCompletions: offerProjects } as const;

export const status = (brief: string) => ({ ...textFlag("S", brief), proposeCompletions: offerStates }) as const;

export const workflow = (brief: string) => ({ ...textFlag("W", brief), proposeCompletions: offerWorkflows }) as const;

/** How a task is made. */
export const makeFlags = {
  harness: { ...textFlag("H", "The harness that its agents run in"), proposeCompletions: offerHarnesses },
  "review-harness": { ...textFlag("H", "The harness of its reviewers"), proposeCompletions: offerHarnesses },
  model: textFlag("M", "The model that harnesses are asked for"),
  label: listFlag("L", "A label"),
  priority: numberFlag("N", "Tasks with a higher one start first; 0 where nothing is said", -1_000, 1_000),
  "depends-on": { ...listFlag("TASK", "A task that has to be done first"), proposeCompletions: offerTasks },
} as const;

/** How many tasks are listed where nothing is said. */
export const usualLimit = 50;

/** What a change of a task is on the wire. */
export const changeForm = "{ kind, from, task, why }";

/** A task on the wire. */
export const taskForm = `{ id, project, number, branch, base, summary, workflow, workflowHash, status, previousStatus, phase, outcome, needsPerson,
  needs: [{ reason, text, brief, command, since }], held: { reason, word, again }, session, waiting, harness, reviewHarness, model, workspace, prUrl, ticket, parent, dependsOn, labels,
  priority, autostart, counters, crashCount, runs: [{ role, key, mode }], revision, createdAt, updatedAt }`;

/** A pull request on the wire. */
export const pullRequestForm = "{ number, url, state, head, base, title, isDraft, review, checks, seenAt }";

export const eventForm = "{ position, task, project, revision, type, by, data, at }";

/** What comes of several tasks. */
export const severalForm = "With several tasks: { results: [{ reference, answer, error }] }";

/** The last line of a command's help. */
export const taskExitCodes = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such task`;

export const color = flag("Keep colours and styles, and nothing else that a terminal would obey");

export const raw = flag("Of an agent without a terminal: as its program printed it, and no other channel");
