import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { EventView } from "../../api/task-wires.ts";
import { loadConfig } from "../../home/config.ts";
import { callSettings } from "../../home/notify-fields.ts";
import { homePlaces } from "../../home/places.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { count } from "../count.ts";
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
  if (follow) {
    const ring = flags.bell ? await createBell(this, call, { project, task }) : () => {};
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

/** Rings for what needs the person already, and then whenever the person is called for something else. */
async function createBell(
  context: Context,
  call: Call,
  scope: { project?: string | undefined; task?: string | undefined },
) {
  const reasons = wantedReasons(context);
  const { project, task } = scope;
  const { tasks } = await call(routes.listTasks, { query: { ...given({ project }), needs: "true", limit: "500" } });
  const there = new Set<string>();
  for (const { id, needs } of task === undefined ? tasks : tasks.filter(({ id }) => id === task))
    for (const { reason } of needs) if (reasons.length === 0 || reasons.includes(reason)) there.add(`${id}:${reason}`);
  const began = Date.now();
  // Written past everything that keeps control characters from terminals: here it is meant.
  const ring = () => process.stderr.isTTY && process.stderr.write("\u0007");
  const many = new Set([...there].map((key) => key.split(":")[0])).size;
  if (many > 0) {
    context.say(`${count(many, "task")} ${many === 1 ? "needs" : "need"} you: signalbox task list --needs-me --all`);
    ring();
  }
  let lastCall: unknown;
  return ({ type, data, at, task }: EventView) => {
    // What is told together rings once; what was there in the beginning, or was called for before, has rung.
    if (type !== "person.called" || data.call === lastCall || Date.parse(at) < began) return;
    if (there.delete(`${task}:${data.reason}`) && Date.parse(String(data.since)) <= began) return;
    lastCall = data.call;
    ring();
  };
}

/** What the person wants to be called for; empty for everything, also where the configuration cannot be read. */
function wantedReasons({ home }: Context): readonly string[] {
  try {
    return callSettings(loadConfig(homePlaces(home).config, "user").config).reasons;
  } catch {
    return [];
  }
}
