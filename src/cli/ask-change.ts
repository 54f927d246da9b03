import type { Route } from "../api/route.ts";
import type { ChangeView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { forEach } from "./for-each.ts";
import { nameTask } from "./name-task.ts";
import { tellChange } from "./tell-change.ts";

type AskRoute = Route<{ readonly project?: string }, Readonly<Record<never, never>>, ChangeView>;

/** Asks for something that needs no more than the names of tasks, and tells what came of it. */
export function askChange(
  context: Context,
  route: AskRoute,
  references: readonly string[],
  json: boolean,
  hint = (_change: ChangeView): string => "",
): Promise<void> {
  return forEach(context, references, json, {
    act: async (_, call, reference) => call(route, { ...(await nameTask(call, reference)), body: {} }),
    tell: (own, change) => {
      tellChange(own, change);
      const more = hint(change);
      if (more !== "") own.say(more);
    },
  });
}
