import { hash } from "node:crypto";
import type { WebKey } from "../ports/records.ts";
import type { Store } from "../ports/store.ts";
import type { Clock, Ids } from "../ports/system.ts";

export const linkLifetime = 60_000;
export const sessionLifetime = 12 * 60 * 60 * 1_000;

/** What a browser gets when it signs in. */
export interface OpenedSession {
  readonly session: WebKey;
  /** The value of the cookie. */
  readonly secret: string;
  /** Kept by the page, for its origin only: cookies are sent to every port of a host. */
  readonly pageKey: string;
}

/** The browsers that are signed in, and the links that sign them in. The store has only hashes of their secrets. */
export interface WebSessions {
  /** Makes a link's secret, which opens one session within a minute. */
  makeLink(): Promise<{ readonly secret: string; readonly expiresAt: number }>;
  /** Uses a link's secret up. Undefined if it was used, is too old or is none of this daemon's. */
  open(secret: string, browser: Pick<WebKey, "address" | "browser">): Promise<OpenedSession | undefined>;
  /** The session with this cookie and this page key; undefined if it is over, or if one of them is wrong. */
  of(secret: string, pageKey: string): Promise<WebKey | undefined>;
  /** The oldest first. */
  list(): Promise<readonly WebKey[]>;
  /** Ends a session by its id for people; 0 if there is none. */
  end(id: string): Promise<number>;
  /** Ends all sessions, and invalidates all links. Returns how many sessions there were. */
  endAll(): Promise<number>;
  /** Calls `run` once the session is over. Returns a function that cancels it. */
  whenOver(session: WebKey, run: () => void): () => void;
}

interface Ports {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The id of a session for people; the hash itself tells nothing about the secret, but is long. */
export function sessionId({ id }: WebKey): string {
  return id.slice(0, 12);
}

/** The daemon is the only writer of its store, so the sessions are read once. Expired keys are removed when another is made. */
export function createWebSessions({ store, clock, ids }: Ports): WebSessions {
  const { webKeys } = store;
  const listeners = new Map<string, Set<() => void>>();
  let loading: Promise<Map<string, WebKey>> | undefined;
  const load = async () => {
    const all = await webKeys.list();
    return new Map(all.filter(({ kind }) => kind === "session").map((key) => [key.id, key]));
  };
  const known = () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const isOver = ({ expiresAt }: WebKey) => expiresAt <= clock.now();
  /** The session counts no longer even if the store cannot be written; the caller then learns of that. */
  const remove = async (key: WebKey) => {
    forget(await known(), key);
    await webKeys.take(key.id);
  };
  const forget = (sessions: Map<string, WebKey>, { id }: WebKey) => {
    sessions.delete(id);
    for (const run of [...(listeners.get(id) ?? [])]) run();
  };
  const tidy = async () => {
    for (const key of (await webKeys.list()).filter(isOver)) await remove(key);
  };
  const live = async () => [...(await known()).values()].filter((key) => !isOver(key));

  return {
    async makeLink() {
      await tidy();
      const secret = ids.secret();
      const expiresAt = clock.now() + linkLifetime;
      await webKeys.put({ id: hashOf(secret), kind: "link", at: clock.now(), expiresAt });
      return { secret, expiresAt };
    },
    async open(secret, browser) {
      const link = (await webKeys.list()).find(({ id, kind }) => kind === "link" && id === hashOf(secret));
      // Taking it is what makes it work once; a session's secret opens no other session.
      if (link === undefined || (await webKeys.take(link.id)) === undefined || isOver(link)) return undefined;
      await tidy();
      const [cookie, pageKey] = [ids.secret(), ids.secret()];
      const at = clock.now();
      const session: WebKey = {
        ...{ id: hashOf(cookie), kind: "session", at, expiresAt: at + sessionLifetime },
        ...{ pageKey: hashOf(pageKey), ...browser },
      };
      await webKeys.put(session);
      (await known()).set(session.id, session);
      return { session, secret: cookie, pageKey };
    },
    async of(secret, pageKey) {
      // A hash reveals nothing about its secret, so the comparison needs no constant time.
      const session = (await known()).get(hashOf(secret));
      return session === undefined || isOver(session) || session.pageKey !== hashOf(pageKey) ? undefined : session;
    },
    list: live,
    async end(id) {
      const found = (await live()).find((session) => sessionId(session) === id);
      if (found === undefined) return 0;
      await remove(found);
      return 1;
    },
    async endAll() {
      const ended = await live();
      // All of them count no longer, even if the store fails at the first.
      for (const key of ended) forget(await known(), key);
      for (const key of await webKeys.list()) await remove(key);
      return ended.length;
    },
    whenOver(session, run) {
      const set = listeners.get(session.id) ?? new Set();
      listeners.set(session.id, set);
      const stop = () => {
        cancel();
        set.delete(over);
        if (set.size === 0 && listeners.get(session.id) === set) listeners.delete(session.id);
      };
      const over = () => {
        if (!set.has(over)) return;
        stop();
        run();
      };
      set.add(over);
      const cancel = clock.after(Math.max(0, session.expiresAt - clock.now()), over);
      // It may have ended since the request was identified.
      known().then(
        (sessions) => sessions.has(session.id) || over(),
        () => {},
      );
      return stop;
    },
  };
}

function hashOf(secret: string): string {
  return hash("sha256", secret);
}
