import type { Route } from "../api/route.ts";
import type { ChangeView } from "../api/task-wires.ts";
import { createCall } from "./connect.ts";
import type { Context } from "./context.ts";
import { nameTask } from "./name-task.ts";
import { tellChange } from "./tell-change.ts";
import { writeJson } from "./write-json.ts";

type AskRoute = Route<{ readonly project?: string }, Readonly<Record<never, never>>, ChangeView>;

/** Asks for something that needs no more than the task's name, and tells what came of it. */
export async function askChange(context: Context, route: AskRoute, reference: string, json: boolean): Promise<void> {
  const call = createCall(context);
  const change = await call(route, { ...(await nameTask(call, reference)), body: {} });
  if (json) context.print(writeJson(change));
  else tellChange(context, change);
}
