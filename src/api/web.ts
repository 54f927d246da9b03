import { route } from "./client.ts";
import { boolean, integer, list, record, shortText, text } from "./wire.ts";

/** The header in which a page sends its key; where a browser sets no headers, the query has it under `pageKeyQuery`. */
export const pageKeyHeader = "signalbox-key";
/** For the event stream and WebSockets. */
export const pageKeyQuery = "key";

const nothing = record({});

const webSessionWire = record({
  id: text,
  at: text,
  expiresAt: text,
  /** The address at which it was opened, such as `http://127.0.0.1:4711`. */
  address: text,
  /** What the browser calls itself. */
  browser: text,
  /** The request was made with it. */
  isOwn: boolean,
});

/** The routes with which browsers are signed in and out. */
export const webRoutes = {
  makeWebLink: route({
    name: "makeWebLink",
    method: "POST",
    path: "/v1/web/links",
    summary: "Make a link that signs a browser in, once, within 60 seconds; opens a port on 127.0.0.1 if none is open",
    access: "person",
    isNoted: true,
    body: nothing,
    /** `publicLink`: the same secret at `web.address`; empty if that is not set. */
    answer: record({ link: text, publicLink: text, expiresAt: text }),
  }),
  openWebSession: route({
    name: "openWebSession",
    method: "POST",
    path: "/v1/web/sessions",
    summary:
      "Sign a browser in with the secret of a link; the answer sets a cookie, and has the key that the page sends with it",
    access: "page",
    maxBody: 4_096,
    body: record({ secret: shortText(200) }),
    answer: record({ session: webSessionWire, key: text }),
  }),
  listWebSessions: route({
    name: "listWebSessions",
    method: "GET",
    path: "/v1/web/sessions",
    summary: "List the browsers that are signed in",
    access: "person",
    answer: record({ sessions: list(webSessionWire) }),
  }),
  endWebSession: route({
    name: "endWebSession",
    method: "DELETE",
    path: "/v1/web/sessions/:session",
    summary: "Sign a browser out, and end its event streams; `own` is the session of the request",
    access: "person",
    isNoted: true,
    answer: record({ ended: integer(0) }),
  }),
  endWebSessions: route({
    name: "endWebSessions",
    method: "DELETE",
    path: "/v1/web/sessions",
    summary: "Sign all browsers out, and invalidate links that are not used yet",
    access: "person",
    isNoted: true,
    answer: record({ ended: integer(0) }),
  }),
  closeWeb: route({
    name: "closeWeb",
    method: "DELETE",
    path: "/v1/web",
    summary: "Sign all browsers out, and close the port that a link has opened",
    access: "person",
    isNoted: true,
    answer: record({ ended: integer(0), address: text }),
  }),
} as const;
