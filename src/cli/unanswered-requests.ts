import { type BodyOf, type Call, pathOf } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { isGone } from "../api/socket-request.ts";
import type { ChangeView, EventView } from "../api/tasks.ts";
import { Fault } from "../fault.ts";
import { allEvents } from "./commands/events.ts";
import { lostAnswer } from "./connect.ts";
import { isNotRunning } from "./fast/ask-daemon.ts";
import type { NamedTask } from "./find.ts";

/** Asks for a state. `sentAt`: when the same request was sent before, if the daemon ended before it answered. */
export function moveTask(
  call: Call,
  named: NamedTask,
  body: BodyOf<typeof routes.moveTask>,
  sentAt?: number,
): Promise<ChangeView> {
  const began = sentAt ?? Date.now();
  return settle({
    path: pathOf(routes.moveTask, named),
    isSent: sentAt !== undefined,
    send: () => call(routes.moveTask, { ...named, body }),
    find: () => findMove(call, named, body.to, began),
  });
}

export function commentTask(
  call: Call,
  named: NamedTask,
  text: string,
): Promise<{ readonly task: string; readonly at: string }> {
  const began = Date.now();
  return settle({
    path: pathOf(routes.commentTask, named),
    isSent: false,
    send: () => call(routes.commentTask, { ...named, body: { text } }),
    find: async () => {
      const made = (await eventsOf(call, named)).findLast(
        ({ type, data, at }) => type === "task.commented" && data.text === text.trim() && Date.parse(at) >= began,
      );
      return made && { task: made.task, at: made.at };
    },
  });
}

interface Sending<T> {
  readonly path: string;
  /** The request was sent before, and its answer is lost. */
  readonly isSent: boolean;
  send(): Promise<T>;
  /** Looks in the task's history whether a request without an answer was granted. */
  find(): Promise<T | undefined>;
}

const maxSends = 2;

/**
 * Sends a request that must not be granted twice. If the daemon ends before it answers, the history that the next daemon
 * reads says whether the request was granted: a decision is saved before it is answered. Otherwise the request is sent again.
 */
async function settle<T>({ path, isSent, send, find }: Sending<T>): Promise<T> {
  for (let sent = isSent ? 1 : 0; ; sent++) {
    const granted = sent === 0 ? undefined : await find().catch((error) => Promise.reject(unsettled(path, error)));
    if (granted !== undefined) return granted;
    if (sent === maxSends) throw lostAnswer(path);
    try {
      return await send();
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

/** The error if history cannot be read: then it is not known whether the request was granted. */
function unsettled(path: string, error: unknown): unknown {
  if (isGone(error)) return lostAnswer(path, error);
  if (error instanceof Fault && error.code === "caller.unknown" && process.env.SIGNALBOX_TOKEN) {
    const { code, message } = lostAnswer(path, error, "This run is over.");
    return new Fault(code, message, { hint: "It can no longer ask for anything. Stop here.", cause: error });
  }
  if (!(error instanceof Fault) && !isNotRunning(error)) return error;
  const why = error instanceof Error ? error.message : String(error);
  return lostAnswer(path, error, `Whether it granted the request is not known: ${why}`);
}

/** A move that was granted since a moment, as the lost answer reported it; its task is in the present state. */
async function findMove(call: Call, named: NamedTask, to: string, since: number): Promise<ChangeView | undefined> {
  const moved = (await eventsOf(call, named)).findLast(
    ({ type, by, data, at }) =>
      type === "task.moved" && by !== "engine" && data.cause === "asked" && data.to === to && Date.parse(at) >= since,
  );
  if (moved === undefined) return undefined;
  const { task, entry, effects } = await call(routes.getTask, named);
  const added = effects.filter((effect) => effect.entry === entry).map(({ action }) => action);
  return { kind: "moved", from: String(moved.data.from), task, why: "", entry, effects: added };
}

function eventsOf(call: Call, { params, query }: NamedTask): Promise<readonly EventView[]> {
  return allEvents(call, { ...query, task: params.task }, 0);
}
