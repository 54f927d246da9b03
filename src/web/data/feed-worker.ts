import { createBrowserPorts, type FeedNews, followFeed } from "./event-feed.ts";

// One event stream for all tabs: a browser opens only six connections to the daemon.

interface Port {
  postMessage(news: readonly FeedNews[]): void;
  onmessage: ((message: { readonly data: unknown }) => void) | null;
}
const scope = globalThis as unknown as { onconnect: (event: { readonly ports: readonly Port[] }) => void };

/** A frame, in milliseconds: a message costs a tab more than the events in it. */
const gatherTime = 16;

const ports = new Set<Port>();
/** What a tab that comes later must know. */
let last: FeedNews | undefined;
let following = false;

/** The page's key, as the newest tab has it. */
let credentials: Record<string, string> = {};

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  port.onmessage = ({ data }) => {
    // A tab says so when it is closed.
    if (data === "leave") return void ports.delete(port);
    credentials = data as Record<string, string>;
    join(port);
  };
};

function join(port: Port): void {
  ports.add(port);
  if (!following) last = undefined;
  // Its own data may be older than the stream.
  if (last?.kind === "live") port.postMessage([{ ...last, isFresh: true }]);
  else if (last !== undefined) port.postMessage([last]);
  if (!following) void follow();
}

async function follow(): Promise<void> {
  following = true;
  let gathered: FeedNews[] = [];
  const send = () => {
    const due = gathered;
    gathered = [];
    for (const port of ports) port.postMessage(due);
  };
  const tell = (news: FeedNews) => {
    if (news.kind !== "event" && news.kind !== "run") last = news;
    if (gathered.push(news) === 1) setTimeout(send, gatherTime);
  };
  await followFeed(
    createBrowserPorts(() => credentials),
    tell,
    new AbortController().signal,
  );
  // Signed out: the next tab that connects tries again.
  following = false;
}
