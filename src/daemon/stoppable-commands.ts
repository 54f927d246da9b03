import { Fault } from "../fault.ts";
import type { CommandResult, Commands } from "../ports/commands.ts";

/** Commands that can be stopped for one task, by the task that each is told of in its environment. */
export interface StoppableCommands extends Commands {
  /** Kills the commands of a task that are under way, and starts none for it until the result is called. */
  stop(task: string): () => void;
  /** Ends everything that lives of the commands of a task, whether or not they have ended themselves. */
  endLeftBehind(task: string): Promise<void>;
}

export interface SweepPorts {
  /** Makes the marks of this daemon's commands differ from those of others: ids of tasks may be the same there. */
  readonly home: string;
  /** Ends everybody who was started with this entry, `NAME=value`, in the environment. */
  sweep(entry: string): Promise<void>;
  onError(error: unknown): void;
}

/**
 * Each command is marked in its environment, by its effect and by its task, and so is everything that it starts, also what
 * leaves its process group. A person's shell in the workspace has neither mark.
 */
export function stoppableCommands(commands: Commands, { home, sweep, onError }: SweepPorts): StoppableCommands {
  const markOf = (id: string) => `${home}:${id}`;
  const underWay = new Map<string, Set<AbortController>>();
  const stopped = new Map<string, number>();
  return {
    async run(command) {
      const task = command.env.SIGNALBOX_TASK;
      if (task === undefined) return commands.run(command);
      if (stopped.has(task))
        throw new Fault("command.stopped", `${command.argv.join(" ")} was not started: a person stops the task.`, {
          retry: "later",
        });
      const own = new AbortController();
      const others = underWay.get(task) ?? new Set();
      underWay.set(task, others.add(own));
      const signal = command.signal === undefined ? own.signal : AbortSignal.any([command.signal, own.signal]);
      const mark = markOf(command.env.SIGNALBOX_EFFECT ?? task);
      const marks = { SIGNALBOX_COMMAND: mark, SIGNALBOX_COMMANDS_OF: markOf(task) };
      let result: CommandResult | undefined;
      try {
        result = await commands.run({ ...command, env: { ...command.env, ...marks }, signal });
        return result;
      } finally {
        // What one that ended by itself has left behind may be wanted until the workspace is given back.
        if (signal.aborted || result?.timedOut) await sweep(`SIGNALBOX_COMMAND=${mark}`).catch(onError);
        others.delete(own);
        if (others.size === 0 && underWay.get(task) === others) underWay.delete(task);
      }
    },
    endLeftBehind: (task) => sweep(`SIGNALBOX_COMMANDS_OF=${markOf(task)}`),
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
