import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type ActionInput, commandWith } from "../../api/act.ts";
import { staleTaskOf } from "../../api/client.ts";
import type { ActionView, TaskView } from "../../api/tasks.ts";
import { type Problem, problemsOf } from "../data/client.ts";
import { refreshTask } from "../data/queries.ts";
import { tellPerson } from "../ui/toasts.tsx";
import { wayOf } from "./perform.ts";

export interface Acting {
  readonly isBusy: boolean;
  /** Why the last try was refused; empty if it was not. */
  readonly problems: readonly Problem[];
  /** Set if it was refused because the task had changed since the person saw it. */
  readonly stale: StaleChange | undefined;
  forget(): void;
  /** Resolves with whether it was done. */
  act(action: ActionView, input: Omit<ActionInput, "revision">): Promise<boolean>;
}

/** A task that had changed when the person acted: what they had seen, and what it is. */
export interface StaleChange {
  readonly task: string;
  readonly seen: number;
  readonly from: string;
  readonly to: string;
}

/** What a change was refused for, if the task had changed since the person saw it. */
export function staleChangeOf(error: unknown, { id, revision, status }: TaskView): StaleChange | undefined {
  const now = staleTaskOf(error);
  return now === undefined ? undefined : { task: id, seen: revision, from: status, to: now.status };
}

/** Carries out a task's actions, each for the revision that is on the screen, and says what came of it. */
export function useAct(task: TaskView, onDone?: (action: ActionView) => void): Acting {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  /** Known at once, also to a second key that comes before the page is drawn again. */
  const isSending = useRef(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [stale, setStale] = useState<StaleChange>();
  return {
    isBusy,
    problems,
    stale,
    forget() {
      setProblems([]);
      setStale(undefined);
    },
    async act(action, input) {
      const way = wayOf(action);
      if (way.kind !== "ask-daemon" || isSending.current) return false;
      isSending.current = true;
      setBusy(true);
      setProblems([]);
      setStale(undefined);
      try {
        const said = await way.send(task.id, action, { revision: task.revision, ...input });
        const { text, tone } = typeof said === "string" ? { text: said, tone: "good" as const } : said;
        tellPerson(`${task.project}#${task.number}: ${text}`, commandWith(action, input.text), tone);
        onDone?.(action);
        return true;
      } catch (error) {
        setProblems(problemsOf(error));
        setStale(staleChangeOf(error, task));
        return false;
      } finally {
        isSending.current = false;
        setBusy(false);
        // Also after a refusal: the task may be another than the one on the screen.
        void refreshTask(client, task.id);
      }
    },
  };
}
