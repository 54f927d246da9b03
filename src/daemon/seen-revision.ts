import { AsyncLocalStorage } from "node:async_hooks";
import { staleCode } from "../api/client.ts";
import type { Request } from "../engine/request.ts";
import { Fault } from "../fault.ts";
import type { StoredTask } from "../ports/store.ts";

/** The revision of a task that the caller of a request has seen. */
interface Seen {
  readonly task: string;
  readonly revision: number;
}

const current = new AsyncLocalStorage<Seen & { isSpent: boolean }>();

/**
 * Runs the handler of a request. Its first decision about the task is refused if the task has another revision by then: the
 * task can change between the check of the request and that decision.
 */
export async function withSeen<T>(seen: Seen, handle: () => Promise<T>): Promise<T> {
  const own = { ...seen, isSpent: false };
  try {
    return await current.run(own, handle);
  } finally {
    // Work that the handler has started in the background goes on in the same context.
    own.isSpent = true;
  }
}

/** Throws if the caller of this request has seen another revision of the task. The daemon's own requests pass. */
export function mustBeAsSeen({ task, revision }: StoredTask, request: Request): void {
  const seen = current.getStore();
  if (seen === undefined || seen.isSpent || seen.task !== task.id || seen.revision === revision) return;
  if (!("actor" in request) || request.actor.role === "engine") return;
  throw new Fault(staleCode, "The task has changed.");
}

/** The handler has changed the task itself: its later decisions are about that. */
export function noteChange(task: string): void {
  const seen = current.getStore();
  if (seen?.task === task) seen.isSpent = true;
}
