import { Fault } from "../fault.ts";
import { createMemo } from "../keyed.ts";
import type { Command, CommandResult, Commands } from "../ports/system.ts";

/** Commands that can be stopped by task; the task is in each command's environment. Paused tasks start none. */
export interface StoppableCommands extends Commands {
  /**
   * Kills the commands of all paused tasks; each is run again when its task is resumed. Returns how many were killed.
   */
  killPaused(): Promise<number>;
  /** A project was resumed: starts the commands that waited for that. */
  resumed(): void;
  /** Kills the running commands of a task, and starts none for it until the returned function is called. */
  stop(task: string): () => void;
  /**
   * Ends every process of a task's commands, whether or not the commands have ended, and processes in the task's folders that
   * have dropped their marks.
   */
  endLeftBehind(task: string, folders: readonly string[]): Promise<void>;
  /**
   * Ends every process of commands that an earlier daemon has run in a folder in which only the daemon's commands run. Does
   * so once for each folder: what this daemon's own commands have left may be needed.
   */
  endFormer(folder: string): Promise<void>;
}

interface SweepPorts {
  /** Whether a person has paused the task, so that its commands wait. */
  isPaused(task: string): Promise<boolean>;
  /** Whether the task has ended without its work since it had this status: then a waiting command is not started. */
  hasEndedSince(task: string, status: string): Promise<boolean>;
  /** Makes the marks of this daemon's commands unique: other daemons may have tasks with the same ids. */
  readonly home: string;
  /** Ends every process that was started with this entry, `NAME=value`, in its environment. */
  sweep(entry: string): Promise<void>;
  /** Ends the processes in a folder that no mark identifies and that no person has started. */
  sweepFolder(folder: string): Promise<void>;
  onError(error: unknown): void;
}

/** The reason for killing a command that will be run again. */
const interrupted = Symbol("interrupted");

/**
 * Each command is marked in its environment, by its effect, its task and its folder. Everything that it starts inherits the
 * marks, even in another process group. A person's shell in the workspace has none of them.
 */
export function stoppableCommands(
  commands: Commands,
  { home, isPaused, hasEndedSince, sweep, sweepFolder, onError }: SweepPorts,
): StoppableCommands {
  const markOf = (id: string) => `${home}:${id}`;
  const underWay = new Map<string, Set<AbortController>>();
  const stopped = new Map<string, number>();
  /** The marks of the effects whose commands this daemon has started. */
  const ours = new Set<string>();
  /** Folders in which nothing of an earlier daemon is running. */
  const swept = createMemo<void>();
  const waiting = new Set<() => void>();
  const resumed = () => {
    for (const go of waiting) go();
  };
  const until = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const go = () => {
        waiting.delete(go);
        signal.removeEventListener("abort", go);
        resolve();
      };
      waiting.add(go);
      signal.addEventListener("abort", go);
      if (signal.aborted) go();
    });

  const runOnce = async (command: Command, task: string): Promise<CommandResult | typeof interrupted> => {
    const own = new AbortController();
    const others = underWay.get(task) ?? new Set();
    underWay.set(task, others.add(own));
    const signal = command.signal === undefined ? own.signal : AbortSignal.any([command.signal, own.signal]);
    const mark = markOf(command.env.SIGNALBOX_EFFECT ?? task);
    const marks = {
      SIGNALBOX_COMMAND: mark,
      SIGNALBOX_COMMANDS_OF: markOf(task),
      SIGNALBOX_COMMANDS_IN: command.cwd,
    };
    let result: CommandResult | undefined;
    try {
      while (!signal.aborted && (await isPaused(task))) await until(signal);
      const { SIGNALBOX_STATUS: status } = command.env;
      const isTooLate = status !== undefined && (await hasEndedSince(task, status));
      if (signal.aborted || isTooLate) throw notStarted(command);
      // The same command of a daemon that was killed may still be running in the same folder.
      if (command.env.SIGNALBOX_EFFECT !== undefined && !ours.has(mark)) await sweep(`SIGNALBOX_COMMAND=${mark}`);
      ours.add(mark);
      if (signal.aborted) throw notStarted(command);
      result = await commands.run({ ...command, env: { ...command.env, ...marks }, signal });
      return result;
    } catch (error) {
      if (own.signal.reason === interrupted && !command.signal?.aborted) return interrupted;
      throw error;
    } finally {
      // Processes that a finished command has left may be needed until the workspace is released.
      if (signal.aborted || result?.timedOut) await sweep(`SIGNALBOX_COMMAND=${mark}`).catch(onError);
      others.delete(own);
      if (others.size === 0 && underWay.get(task) === others) underWay.delete(task);
    }
  };

  return {
    async run(command) {
      const task = command.env.SIGNALBOX_TASK;
      if (task === undefined) return commands.run(command);
      for (;;) {
        if (stopped.has(task)) throw notStarted(command);
        const result = await runOnce(command, task);
        if (result !== interrupted) return result;
      }
    },
    async killPaused() {
      let killed = 0;
      for (const [task, all] of [...underWay]) {
        if (!(await isPaused(task))) continue;
        for (const each of all) each.abort(interrupted);
        killed += all.size;
      }
      return killed;
    },
    resumed,
    endFormer: (folder) => swept.get(folder, () => sweep(`SIGNALBOX_COMMANDS_IN=${folder}`)),
    async endLeftBehind(task, folders) {
      await sweep(`SIGNALBOX_COMMANDS_OF=${markOf(task)}`);
      await Promise.all(folders.map(sweepFolder));
    },
    stop(task) {
      stopped.set(task, (stopped.get(task) ?? 0) + 1);
      for (const each of underWay.get(task) ?? []) each.abort();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (stopped.get(task) ?? 1) - 1;
        if (left > 0) stopped.set(task, left);
        else stopped.delete(task);
      };
    },
  };
}

function notStarted({ argv }: Command): Fault {
  return new Fault("command.stopped", `${argv.join(" ")} was not started: its task is being stopped.`, {
    retry: "later",
  });
}
