import { routes } from "../../api/routes.ts";
import type { EventView } from "../../api/task-wires.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { followEvents } from "../follow-events.ts";
import { given } from "../given.ts";
import { allEvents, listEvents } from "../list-events.ts";
import { nameTask } from "../name-task.ts";
import { writeEvent } from "../write-event.ts";
import { writeJson } from "../write-json.ts";

export interface EventsFlags {
  readonly project?: string;
  readonly task?: string;
  readonly agent?: string;
  readonly after?: number;
  readonly follow: boolean;
  readonly bell: boolean;
  readonly json: boolean;
}

export async function events(this: Context, flags: EventsFlags) {
  const call = createCall(this);
  const { project, agent, after, follow, json } = flags;
  const named = flags.task === undefined ? undefined : await nameTask(call, flags.task);
  const task = named && (await call(routes.getTask, named)).task.id;
  const query = given({ project, task, agent });
  const tell = (event: EventView) => this.print(json ? writeJson(event, 0) : writeEvent(event, this, true));
  let lastCall: unknown;
  const ring = ({ type, data }: EventView) => {
    // What is told together rings once.
    if (!flags.bell || type !== "person.called" || data.call === lastCall) return;
    lastCall = data.call;
    // Written past everything that keeps control characters from terminals: here it is meant.
    if (process.stderr.isTTY) process.stderr.write("\u0007");
  };
  if (follow) {
    return followEvents(this, { ...query, ...given({ after: after?.toString() }) }, (event) => {
      tell(event);
      ring(event);
    });
  }
  if (json) {
    const all = await allEvents(call, query, after ?? 0);
    return this.print(writeJson({ events: all, last: all.at(-1)?.position ?? after ?? 0 }));
  }
  let count = 0;
  for await (const page of listEvents(call, query, after ?? 0)) {
    count += page.length;
    for (const event of page) tell(event);
  }
  if (count === 0) this.say('Nothing has happened yet. To create a task: signalbox task create "What is to be done"');
}
