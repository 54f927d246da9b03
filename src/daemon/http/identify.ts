import type { IncomingMessage } from "node:http";
import { pageKeyHeader, pageKeyQuery } from "../../api/web.ts";
import { Fault } from "../../fault.ts";
import type { Caller, Callers } from "../callers.ts";
import { sessionLifetime, type WebSessions } from "../web-sessions.ts";
import { type Door, tokenOf } from "./request.ts";

export interface IdentifyPorts {
  readonly callers: Pick<Callers, "of">;
  readonly sessions: Pick<WebSessions, "of">;
}

/**
 * Who makes a request, after `checkRequest`: by its bearer token, or over TCP by the cookie of a browser. What a cookie is
 * sent with shows that a page of ours asks. `kind` is `upgrade` for a WebSocket and `stream` for an event stream, for which
 * browsers let a page set no header. Throws `request.origin` for a cookie that another page could have sent.
 */
export async function identify(
  request: IncomingMessage,
  door: Door,
  { callers, sessions }: IdentifyPorts,
  kind: "plain" | "stream" | "upgrade" = "plain",
): Promise<Caller> {
  const { headers, method = "", url = "" } = request;
  const token = tokenOf(request);
  const cookies =
    token === undefined && door.address !== undefined ? cookiesOf(headers.cookie ?? "", door.address) : [];
  if (cookies.length === 0) return callers.of(token);
  const isSafe = kind !== "upgrade" && (method === "GET" || method === "HEAD");
  // A foreign origin is refused already; a request without one may come from a form, a link or another program.
  if (!isSafe && headers.origin === undefined)
    throw new Fault("request.origin", "A browser's session counts here only with the header Origin.", { hint });
  if (kind === "stream" && headers["sec-fetch-site"] !== "same-origin")
    throw new Fault("request.origin", "A browser's session counts here only with Sec-Fetch-Site: same-origin.", {
      hint,
    });
  const inQuery = kind === "plain" ? undefined : new URLSearchParams(url.split("?")[1]).get(pageKeyQuery);
  const pageKey = String(headers[pageKeyHeader] ?? inQuery ?? "");
  for (const cookie of cookies) {
    const session = await sessions.of(cookie, pageKey);
    if (session !== undefined) return { kind: "human", session };
  }
  return { kind: "nobody", why: "The browser's session is over, or the request lacks the key of its page." };
}

const hint = "Programs send Authorization: Bearer <token>, and no cookie.";

/** Cookies are sent to all ports of a host, so the name has the port. */
function cookieName(address: string): string {
  return `signalbox-${address.slice(address.lastIndexOf(":") + 1)}`;
}

/** There may be several: a server on another port of the host can set a cookie of the same name, with another path. */
function cookiesOf(cookies: string, address: string): readonly string[] {
  const start = `${cookieName(address)}=`;
  const found = cookies.split(";").map((each) => each.trim());
  return found.filter((each) => each.startsWith(start) && each !== start).map((each) => each.slice(start.length));
}

/** The header that gives a browser its cookie, or with an empty secret deletes it. */
export function cookieFor(address: string, secret: string, isSecure: boolean): string {
  const age = secret === "" ? 0 : sessionLifetime / 1_000;
  const flags = `HttpOnly; SameSite=Strict; Path=/; Max-Age=${age}${isSecure ? "; Secure" : ""}`;
  return `${cookieName(address)}=${secret}; ${flags}`;
}
