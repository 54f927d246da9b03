import type { EventView } from "../api/task-wires.ts";
import { createAbsence, followStream } from "./connect.ts";
import type { Context } from "./context.ts";
import type { EventQuery } from "./list-events.ts";

/** Hands events over as they happen, until the person has seen enough. */
export async function followEvents(
  context: Context,
  query: EventQuery & { readonly after?: string },
  onEvent: (event: EventView) => void,
): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  try {
    if (context.isTerminal) context.say("What happens from now on is shown here. Ctrl-C ends it.");
    const absence = createAbsence(context.say);
    await followStream(context, { ...query }, onEvent, ending.signal, {
      onConnected: absence.isOver,
      onLost: absence.goesOn,
    });
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  }
}
