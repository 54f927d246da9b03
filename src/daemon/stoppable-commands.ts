import { Fault } from "../fault.ts";
import type { Commands } from "../ports/commands.ts";

/** Commands that can be stopped for one task, by the task that each is told of in its environment. */
export interface StoppableCommands extends Commands {
  /** Kills the commands of a task that are under way, and starts none for it until the result is called. */
  stop(task: string): () => void;
}

export function stoppableCommands(commands: Commands): StoppableCommands {
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
      try {
        return await commands.run({ ...command, signal });
      } finally {
        others.delete(own);
        if (others.size === 0 && underWay.get(task) === others) underWay.delete(task);
      }
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
