import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ActionInput, commandWith } from "../../api/act.ts";
import type { ActionView, TaskView } from "../../api/tasks.ts";
import { type Problem, problemsOf } from "../data/client.ts";
import { refreshTask } from "../data/queries.ts";
import { tellPerson } from "../ui/toasts.tsx";
import { wayOf } from "./perform.ts";

export interface Acting {
  readonly isBusy: boolean;
  /** Why the last try was refused; empty if it was not. */
  readonly problems: readonly Problem[];
  forget(): void;
  /** Resolves with whether it was done. */
  act(action: ActionView, input: Omit<ActionInput, "revision">): Promise<boolean>;
}

/** Carries out a task's actions, each for the revision that is on the screen, and says what came of it. */
export function useAct(task: TaskView, onDone?: (action: ActionView) => void): Acting {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  return {
    isBusy,
    problems,
    forget: () => setProblems([]),
    async act(action, input) {
      const way = wayOf(action);
      if (way.kind !== "ask-daemon" || isBusy) return false;
      setBusy(true);
      setProblems([]);
      try {
        const said = await way.send(task.id, action, { revision: task.revision, ...input });
        tellPerson(`${task.project}#${task.number}: ${said}`, commandWith(action, input.text));
        onDone?.(action);
        return true;
      } catch (error) {
        setProblems(problemsOf(error));
        return false;
      } finally {
        setBusy(false);
        // Also after a refusal: the task may be another than the one on the screen.
        void refreshTask(client, task.id);
      }
    },
  };
}
