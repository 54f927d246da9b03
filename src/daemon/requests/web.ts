import type { ServerResponse } from "node:http";
import type { BodyOf } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { WebKey } from "../../ports/records.ts";
import { oneLine } from "../../text.ts";
import type { Caller } from "../callers.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { cookieFor } from "../http/identify.ts";
import { isoTime } from "../views.ts";
import { sessionId } from "../web-sessions.ts";

export function makeWebLink({ webDoor, sessions }: Core): Handler<Routes["makeWebLink"]> {
  return async () => {
    const address = await webDoor.open();
    const { secret, expiresAt } = await sessions.makeLink();
    // A fragment is sent to no server, so it is in no log of a proxy and in no Referer.
    const linkAt = (origin: string) => `${origin}/#sign-in=${secret}`;
    const named = webDoor.publicOrigin();
    return {
      link: linkAt(`http://${address}`),
      publicLink: named === "" ? "" : linkAt(named),
      expiresAt: isoTime(expiresAt),
    };
  };
}

const maxBrowser = 200;

/** The HTTP server has checked that the page's origin is ours. */
export function openWebSession(core: Core) {
  const { sessions, webDoor, refusals, store, clock, log } = core;
  return async ({ body }: Asked<unknown, BodyOf<Routes["openWebSession"]>>, response: ServerResponse) => {
    const { origin = "", "user-agent": agent = "" } = response.req.headers;
    const browser = oneLine(agent, maxBrowser);
    const opened = await sessions.open(body.secret, { address: origin, browser });
    if (opened === undefined) {
      refusals.stranger();
      const text = "This link cannot sign you in: it was used before, is older than a minute, or is of another daemon.";
      throw new Fault("caller.unknown", text, { hint: "Get a new one: signalbox web" });
    }
    const { session, secret, pageKey } = opened;
    const given = { session: sessionId(session), address: origin, browser };
    await store
      .addEvents(
        "",
        [{ type: "request.granted", by: "human", data: { request: "openWebSession", given }, set: {} }],
        clock.now(),
      )
      .catch((error) => log.error("A browser's session could not be recorded", { error }));
    response.setHeader("set-cookie", cookieFor(webDoor.address(), secret, origin.startsWith("https:")));
    return { session: sessionView(session, session), key: pageKey };
  };
}

export function listWebSessions({ sessions }: Core): Handler<Routes["listWebSessions"]> {
  return async ({ caller }) => ({
    sessions: (await sessions.list()).map((session) => sessionView(session, ownSession(caller))),
  });
}

export function endWebSession({ sessions, webDoor }: Core) {
  return async ({ params, caller }: Asked<unknown, unknown>, response: ServerResponse) => {
    const own = ownSession(caller);
    const id = params.session === "own" && own !== undefined ? sessionId(own) : (params.session ?? "");
    const ended = await sessions.end(id);
    if (ended === 0)
      throw new Fault("session.missing", `No browser is signed in as ${JSON.stringify(id)}.`, {
        hint: "To list those that are: signalbox web --sessions",
      });
    if (own !== undefined && sessionId(own) === id)
      response.setHeader("set-cookie", cookieFor(webDoor.address(), "", false));
    return { ended };
  };
}

export function endWebSessions({ sessions }: Core): Handler<Routes["endWebSessions"]> {
  return async () => ({ ended: await sessions.endAll() });
}

export function closeWeb({ sessions, webDoor }: Core): Handler<Routes["closeWeb"]> {
  return async () => {
    // The port is closed even if the store fails.
    const ended = await sessions.endAll().finally(() => webDoor.close());
    return { ended, address: webDoor.address() };
  };
}

function ownSession(caller: Caller): WebKey | undefined {
  return caller.kind === "human" ? caller.session : undefined;
}

function sessionView(session: WebKey, own: WebKey | undefined) {
  const { at, expiresAt, address = "", browser = "" } = session;
  return {
    ...{ id: sessionId(session), at: isoTime(at), expiresAt: isoTime(expiresAt), address, browser },
    isOwn: own?.id === session.id,
  };
}
