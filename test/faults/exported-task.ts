import { routes } from "../../src/api/routes.ts";
import { socketRequest } from "../../src/api/socket-request.ts";
import { apply, type TaskEvent } from "../../src/engine/decision.ts";
import type { Task } from "../../src/engine/task.ts";
import type { StoredEffect, StoredEvent } from "../../src/ports/store.ts";
import { personsHeaders } from "./daemon.ts";
import type { Home } from "./home.ts";

/** A task with its history, as `GET /v1/tasks/:task/export` returns it. */
export interface ExportedTask {
  readonly task: Task;
  readonly revision: number;
  readonly events: readonly StoredEvent[];
  readonly effects: readonly StoredEffect[];
  /** The task that replaying its history gives. */
  readonly replayed: Task;
}

/** Parses the text, one line of JSON for each entry. */
export async function exportText({ places }: Home, id: string): Promise<string> {
  const path = routes.exportTask.path.replace(":task", id);
  const { status, body } = await socketRequest({
    socket: places.socket,
    method: "GET",
    path,
    headers: personsHeaders({ places }),
  });
  if (status !== 200) throw new Error(body);
  return body;
}

export async function readExport(home: Home, id: string): Promise<ExportedTask> {
  const lines = (await exportText(home, id)).split("\n").filter((line) => line !== "");
  const parsed = lines.map((line) => JSON.parse(line) as { readonly kind: string });
  const of = <T>(kind: string) => parsed.filter((line) => line.kind === kind) as unknown as readonly T[];
  const [stored] = of<{ task: Task; revision: number }>("task");
  if (stored === undefined) throw new Error(`The export of ${id} has no task.`);
  const events = of<StoredEvent>("event").map((each) => ({ ...each, event: withTakenAway(each.event) }));
  const replayed = JSON.parse(JSON.stringify(events.map(({ event }) => event).reduce(apply, {} as Task)));
  return { ...stored, events, effects: of<StoredEffect>("effect"), replayed };
}

/** JSON has no `undefined`; in an export null means that a field was removed. */
function withTakenAway(event: TaskEvent): TaskEvent {
  const set = Object.fromEntries(Object.entries(event.set).map(([key, value]) => [key, value ?? undefined]));
  return { ...event, set };
}
