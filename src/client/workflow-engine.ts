import { Refusal } from "../api/client.ts";
import type { ChangeView, TaskView } from "../api/tasks.ts";
import { actions } from "../engine/actions.ts";
import { loadWorkflow } from "../engine/language/load.ts";
import { formatProblem } from "../engine/language/problem.ts";
import { buildPrompt } from "../engine/prompt.ts";
import { blankIdentity, noProgress, type Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Client } from "./client.ts";

/** A workflow engine in six functions, over the API of a daemon. */
export interface WorkflowEngine {
  /** The workflow of a project's new tasks. */
  loadWorkflow(projectName: string): Promise<Workflow>;
  /** Asks for a state, and resolves when the hooks of the way are done or have failed. */
  transition(task: TaskRef, to: string, deps?: Deps): Promise<TransitionResult>;
  /** Whether the workflow that was loaded last has this transition. */
  hasTransition(from: string, to: string): boolean;
  /** Restarts a dead agent without moving the task; throws if that is refused. */
  respawn(task: TaskRef, deps?: Deps): Promise<void>;
  /** Reports that the task's live runs ended without a word; the workflow's rules decide what follows. */
  handleDeadSession(task: TaskRef, deps?: Deps): Promise<void>;
  /**
   * Fills in a prompt of the workflow that was loaded last, for a task. Data that the API does not provide is empty:
   * agents' results, the messages of a dialogue, the reason of the last end. Settings have the workflow's defaults.
   */
  buildPrompt(task: TaskView, promptKey: string): string;
}

/** A task, or just its id. */
type TaskRef = Pick<TaskView, "id">;

interface Deps {
  /** The credential of a run, if the request is made for that run instead of the client. */
  readonly token?: string;
}

export interface TransitionResult {
  readonly success: boolean;
  readonly error?: string;
  readonly hooksExecuted: string[];
  readonly hookErrors: string[];
}

export function createWorkflowEngine(client: Client): WorkflowEngine {
  let loaded: Workflow | undefined;
  const asking = ({ token }: Deps = {}) => (token === undefined ? client : client.as(token));
  return {
    async loadWorkflow(projectName) {
      const { text, file } = await client.projectWorkflow({ params: { project: projectName } });
      const { workflow, problems } = loadWorkflow(text, file);
      if (workflow === undefined) throw new Fault("workflow.invalid", problems.map(formatProblem).join("\n"));
      loaded = workflow;
      return workflow;
    },
    async transition({ id }, to, deps) {
      try {
        const change = await asking(deps).moveTask({ params: { task: id }, body: { to } });
        if (change.kind === "ignored") return refused(change.why);
        return { success: true, ...(await hooksOf(client, change)) };
      } catch (error) {
        if (error instanceof Refusal) return refused(error.message);
        throw error;
      }
    },
    hasTransition(from, to) {
      const state = loaded !== undefined && Object.hasOwn(loaded.states, from) ? loaded.states[from] : undefined;
      return state !== undefined && Object.hasOwn(state.out, to);
    },
    async respawn({ id }, deps) {
      await asking(deps).respawnTask({ params: { task: id }, body: {} });
    },
    async handleDeadSession({ id }, deps) {
      const { task } = await client.getTask({ params: { task: id } });
      for (const { key } of task.runs)
        await asking(deps).endRun({ params: { task: id, run: key }, body: { word: "exit" } });
    },
    buildPrompt(task, promptKey) {
      if (loaded === undefined) throw new Fault("workflow.missing", "No workflow has been loaded yet.");
      const built = buildPrompt(loaded, taskOf(task), promptKey, { cli: "signalbox", task_file: "TASK.md" });
      if (built.ok) return built.text;
      throw new Fault("workflow.invalid", built.problem);
    },
  };
}

function refused(error: string): TransitionResult {
  return { success: false, error, hooksExecuted: [], hookErrors: [] };
}

const pollInterval = 50;

/** The results of a move's effects. A failed effect prevents those after it from being carried out. */
async function hooksOf(
  client: Client,
  { task: { id, revision }, entry, effects }: ChangeView,
): Promise<Pick<TransitionResult, "hooksExecuted" | "hookErrors">> {
  for (;;) {
    const known = (await client.getTask({ params: { task: id } })).effects;
    // Later effects of the same stay are actions of the state, and belong to no transition.
    const own = known.filter((each) => each.entry === entry).slice(0, effects.length);
    const end = own.findIndex(({ state }) => state !== "done");
    const last = own[end];
    if (last?.state === "owed") {
      await new Promise<void>((resolve) => void setTimeout(resolve, pollInterval));
      continue;
    }
    const done = end < 0 ? own : own.slice(0, end);
    const passedOver = await failedNotes(client, id, revision);
    return {
      hooksExecuted: done.filter(({ action }) => !passedOver.has(action)).map(({ action }) => action),
      hookErrors: [
        ...done.flatMap(({ action }) => passedOver.get(action) ?? []),
        ...(last === undefined
          ? []
          : [`${last.action}: ${last.state === "dropped" ? "The task has moved on." : (last.failure ?? "")}`]),
      ],
    };
  }
}

/** Failed hooks that nothing depends on are marked done; the history records the failure. */
async function failedNotes(client: Client, task: string, since: number): Promise<ReadonlyMap<string, string>> {
  const notes = new Map<string, string>();
  for (let after = 0; ; ) {
    const { events, last } = await client.listEvents({ query: { task, after: String(after), limit: "1000" } });
    for (const { type, data, revision } of events) {
      const action = String(data.action);
      if (revision >= since && type === "effect.failed" && actions[action]?.holds === false)
        notes.set(action, `${action}: ${data.reason}`);
    }
    if (events.length === 0) return notes;
    after = last;
  }
}

/** The fields of a task that prompts can use. */
function taskOf(view: TaskView): Task {
  const { needs: _, held, judged, tested, runs: __, outcome: ___, part: ____, children: _____, ...known } = view;
  return {
    ...blankIdentity,
    ...known,
    ...{ preset: "", settings: {}, entry: 0, visits: {}, runs: {}, sessions: {}, runCount: 0, results: {}, log: [] },
    ...{ spent: { sections: [], head: "" }, wait: noProgress, attended: false, held: held ?? undefined, reason: "" },
    judged: judged ?? undefined,
    tested: tested ?? undefined,
  };
}
