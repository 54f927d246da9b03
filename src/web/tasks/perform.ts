import { type Act, type ActionInput, acts } from "../../api/act.ts";
import type { Told } from "../../api/merge-answer.ts";
import type { ActionView } from "../../api/tasks.ts";
import { call } from "../data/client.ts";
import type { TaskPartName } from "../search.ts";

/** How the page takes an action. */
export type Way =
  /** It is done with one request. */
  | (Omit<Act, "send"> & {
      readonly kind: "ask-daemon";
      send(task: string, action: ActionView, input: ActionInput): Promise<string | Told>;
    })
  /** A part of the task's page shows it. */
  | { readonly kind: "show"; readonly part: TaskPartName }
  /** It needs a terminal or an editor: the page shows the command. */
  | { readonly kind: "terminal" };

/** Every action that a task can offer, by its name on the command line. */
export const ways: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, asked(act)])),
  /** The page's own terminal, in which the person takes control. */
  attach: { kind: "show", part: "agent" },
  diff: { kind: "show", part: "changes" },
  findings: { kind: "show", part: "findings" },
  plan: { kind: "show", part: "task-file" },
  peek: { kind: "show", part: "agent" },
  logs: { kind: "show", part: "agent" },
  explain: { kind: "show", part: "overview" },
  history: { kind: "show", part: "history" },
};

/** An action that this page does not know yet is one for the terminal. */
export function wayOf({ name }: Pick<ActionView, "name">): Way {
  return Object.hasOwn(ways, name) ? (ways[name] as Way) : { kind: "terminal" };
}

function asked({ send, ...rest }: Act): Way {
  return { ...rest, kind: "ask-daemon", send: (task, action, input) => send(call, task, action, input) };
}
