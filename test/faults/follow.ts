import { pathOf } from "../../src/api/client.ts";
import { routes } from "../../src/api/routes.ts";
import { openStream, readHead } from "../../src/api/socket-request.ts";
import type { EventView } from "../../src/api/tasks.ts";
import { personsHeaders } from "./daemon.ts";
import type { Home } from "./home.ts";

/** Follows the event feed after a position, until the daemon goes away or the returned function is called. */
export function follow(
  { places }: Home,
  query: Readonly<Record<string, string>>,
  onEvent: (event: EventView) => void,
  onEnd: () => void,
): () => void {
  let bytes: Buffer = Buffer.alloc(0);
  let isBody = false;
  const path = pathOf(routes.streamEvents, { query });
  const take = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!isBody) {
      const head = readHead(bytes);
      if (head === undefined) return;
      isBody = true;
      bytes = bytes.subarray(head.end);
    }
    for (let end = bytes.indexOf("\n\n"); end >= 0; end = bytes.indexOf("\n\n")) {
      const data = /^data: (.*)$/m.exec(bytes.toString("utf8", 0, end))?.[1];
      bytes = bytes.subarray(end + 2);
      if (data !== undefined) onEvent(JSON.parse(data) as EventView);
    }
  };
  return openStream(
    { socket: places.socket, method: "GET", path, headers: personsHeaders({ places }) },
    take,
    onEnd,
    onEnd,
  );
}

/** The first event of a task, from its beginning on, that matches. */
export function eventOf(home: Home, task: string, isIt: (event: EventView) => boolean): Promise<EventView> {
  return new Promise((resolve, reject) => {
    const hangUp = follow(
      home,
      { task, after: "0" },
      (event) => {
        if (!isIt(event)) return;
        resolve(event);
        hangUp();
      },
      () => reject(new Error("The daemon went away.")),
    );
  });
}
