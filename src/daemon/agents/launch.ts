import { readDuration } from "../../engine/duration.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import { readSize } from "../../home/workspace-fields.ts";
import type { Launch } from "../../ports/harness.ts";
import type { Processes, ProcessTable } from "../../ports/processes.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Terminal } from "../../ports/terminal.ts";
import { processName, sessionTitle, terminalSession } from "./run-order.ts";

export interface LaunchPorts {
  readonly store: Pick<Store, "getTask">;
  readonly terminal: Terminal;
  readonly processes: Processes;
  readonly table: ProcessTable;
  config(): AgentConfig;
  /** Starts a program unless the brake is on for its run, also if the brake comes on meanwhile: `Brake.unlessHeld`. */
  unlessHeld<T>(run: Run, open: (check: () => void) => Promise<T>): Promise<T>;
}

/**
 * Starts the program of a run, and returns the run with its process. A fault where the task no longer wants the run, or a
 * person is ending it: preparing a program may take long, and nothing else would end what is started too late.
 */
export function launchRun(ports: LaunchPorts, run: Run, launch: Launch, runFolder: string): Promise<Run> {
  return ports.unlessHeld(run, async (check) => {
    const task = (await ports.store.getTask(run.task))?.task;
    if (task === undefined || !isWanted(task, run.key)) throw superseded();
    check();
    return identified(ports, { ...run, pid: await openProgram(ports, task, run, launch, runFolder) });
  });
}

/** Why a run is not started that its task no longer wants, or that a person is ending. */
export function superseded(): Fault {
  return new Fault("agents.superseded", "The task no longer wants this run.", { retry: "later" });
}

export function isSuperseded(error: unknown): boolean {
  return error instanceof Fault && error.code === "agents.superseded";
}

export function isWanted(task: Task, run: string): boolean {
  return Object.values(task.runs).some(({ key }) => key === run);
}

/**
 * A pid can be reused. Together with its process identity the program is found again, whatever happens to its window.
 */
export async function identified({ table }: Pick<LaunchPorts, "table">, run: Run): Promise<Run> {
  const process = run.pid === 0 ? undefined : await table.identify(run.pid);
  return run.started === undefined || process === undefined ? run : { ...run, started: { ...run.started, process } };
}

async function openProgram(
  { terminal, processes, config }: LaunchPorts,
  task: Task,
  { started, folder }: Run,
  { argv, env, input }: Launch,
  runFolder: string,
): Promise<number> {
  if (started === undefined) return 0;
  if (started.mode !== "session") {
    const id = processName(started);
    await processes.start({
      id,
      argv,
      cwd: folder,
      env,
      input,
      timeLimit: (readDuration(config().agentsTimeLimit) ?? 7_200) * 1000,
      outputLimit: readSize(config().agentsOutputLimit) ?? 64 * 1024 ** 2,
    });
    const state = await processes.look(id);
    return state.kind === "running" ? state.identity.pid : 0;
  }
  const session = terminalSession(task.id);
  await closeDeadWindows(terminal, session, started.window);
  const pane = await terminal.open({
    ...{ run: started.name, session, window: started.window, argv, env, cwd: folder },
    title: sessionTitle(task),
    folder: runFolder,
  });
  return pane.pid;
}

/** A new window replaces the dead window of the same role. */
async function closeDeadWindows(terminal: Terminal, session: string, window: string): Promise<void> {
  for (const pane of await terminal.list()) {
    if (pane.session === session && pane.window === window && pane.dead !== undefined) await terminal.close(pane.run);
  }
}
