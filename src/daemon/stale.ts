import { type Route, staleCode } from "../api/client.ts";
import { changesTask } from "../api/revisions.ts";
import { type EventDescription, eventTypes } from "../engine/event-types.ts";
import { Fault } from "../fault.ts";
import type { StoredTask } from "../ports/store.ts";
import { findTask } from "./authorise.ts";
import type { Core } from "./core.ts";
import type { Asked } from "./handlers.ts";
import type { Answering } from "./http/serve.ts";
import { eventsOf } from "./project.ts";
import { withSeen } from "./seen-revision.ts";
import { viewOf } from "./views.ts";
import { wholeNumber } from "./whole-number.ts";

/**
 * Refuses a change of a task that has changed since the caller saw it, if the caller says which revision that was. The task is
 * compared before the handler runs, and again with the first decision that the handler asks for: it may change in between.
 */
export function unlessStale(core: Core, route: Route, handler: Answering): Answering {
  if (!changesTask(route)) return handler;
  return async (given, response) => {
    const asked = given as Asked<{ readonly project?: string; readonly revision?: string }, unknown>;
    const revision = wholeNumber("revision", asked.query.revision, 1);
    const stored = revision === undefined ? undefined : await seenBy(core, asked);
    if (revision === undefined || stored === undefined) return handler(given, response);
    if (stored.revision !== revision) throw await staleFault(core, stored, revision);
    try {
      return await withSeen({ task: stored.task.id, revision }, () => handler(given, response));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== staleCode) throw error;
      throw await staleFault(core, (await core.store.getTask(stored.task.id)) ?? stored, revision);
    }
  };
}

/** The task of a request whose caller may see it. Others are refused by the handler, and learn nothing here. */
async function seenBy(core: Core, asked: Asked<{ readonly project?: string }, unknown>) {
  const { caller } = asked;
  if (caller.kind === "nobody" || (caller.kind === "run" && caller.isOver)) return undefined;
  const stored = await findTask(core, asked).catch(() => undefined);
  return caller.kind === "human" || caller.credential.task === stored?.task.id ? stored : undefined;
}

async function staleFault(core: Core, stored: StoredTask, seen: number): Promise<Fault> {
  const { task, revision } = stored;
  const since = seen < revision ? await changesSince(core, task.id, seen) : [];
  const what = since.length === 0 ? "" : ` Since then: ${since.join("; ")}.`;
  const text = `${task.project}#${task.number} is at revision ${revision}, and you have seen ${seen}.${what}`;
  const hint = `Look at it, and decide again: signalbox task show ${task.id}`;
  return new Fault(staleCode, text, { hint, cause: await viewOf(core, stored) });
}

const maxChanges = 4;

/** What has happened to a task after a revision, the moves as one. */
async function changesSince({ store }: Core, task: string, revision: number): Promise<readonly string[]> {
  const moves: { readonly from: unknown; readonly to: unknown }[] = [];
  const others = new Set<string>();
  for await (const { event, revision: at } of eventsOf(store, task)) {
    const { from, to } = event.data;
    if (at <= revision) continue;
    if (event.type === "task.moved") moves.push({ from, to });
    else if (!beside.has(event.type)) others.add(whenOf(event.type));
  }
  const first = moves[0];
  const last = moves.at(-1);
  const moved = first === undefined ? [] : [`it went from "${first.from}" to "${last?.to}"`];
  const all = [...moved, ...others];
  const left = all.length - maxChanges;
  return left > 0 ? [...all.slice(0, maxChanges), `and ${left} more`] : all;
}

/** Events that say nothing beside a move. */
const beside: ReadonlySet<string> = new Set(["task.settled", "task.working", "task.worked", "request.rejected"]);

function whenOf(type: string): string {
  return (eventTypes as Readonly<Record<string, EventDescription>>)[type]?.when ?? type;
}
