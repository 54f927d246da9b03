import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { followEvents } from "../../follow-events.ts";
import { allEvents } from "../../list-events.ts";
import { nameTask } from "../../name-task.ts";
import { writeEvent } from "../../write-event.ts";
import { writeJson } from "../../write-json.ts";

export interface HistoryFlags {
  readonly follow: boolean;
  readonly limit?: number;
  readonly json: boolean;
}

export async function history(this: Context, { follow, limit, json }: HistoryFlags, reference: string) {
  const call = createCall(this);
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  const query = { task: task.id };
  const all = await allEvents(call, query, 0);
  const shown = limit === undefined ? all : all.slice(-limit);
  const last = all.at(-1)?.position ?? 0;
  if (json && !follow) return this.print(writeJson({ events: shown, last }));
  const tell = (event: (typeof all)[number]) => this.print(json ? writeJson(event, 0) : writeEvent(event, this));
  for (const event of shown) tell(event);
  if (follow) return followEvents(this, { ...query, after: String(last) }, tell);
  const hidden = all.length - shown.length;
  if (hidden > 0) this.say(`${hidden} more before these: signalbox task history ${task.id}`);
}
