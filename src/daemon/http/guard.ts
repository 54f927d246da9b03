import type { IncomingMessage } from "node:http";
import { Fault } from "../../fault.ts";

/** The largest request: a task file of a thousand pages is a mistake. */
export const mostBytes = 1024 * 1024;

/** How a request arrived. */
export interface Door {
  /** `127.0.0.1:4711`; undefined for the socket, which only the user can reach. */
  readonly address: string | undefined;
}

/**
 * What must be right about a request before anybody looks at what it asks for. A page in the user's browser can send
 * requests to 127.0.0.1: it cannot name our host and origin, and it cannot send JSON without asking first.
 */
export function checkRequest({ headers, method = "" }: IncomingMessage, { address }: Door): void {
  const { host = "", origin } = headers;
  if (address !== undefined && !isOurs(host, address)) {
    throw new Fault("request.host", `The host "${host}" is not ours.`, { hint: `Use http://${address}.` });
  }
  const isForeign =
    origin !== undefined &&
    (address === undefined || !origin.startsWith("http://") || !isOurs(origin.slice(7), address));
  if (isForeign) throw new Fault("request.origin", `The origin "${origin}" may not ask anything here.`);
  const length = Number(headers["content-length"] ?? 0);
  if (length > mostBytes) throw tooLarge();
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined;
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (hasBody && type !== "application/json") {
    throw new Fault("request.type", `A request's body must be application/json, but is "${type}".`);
  }
  if (hasBody && (method === "GET" || method === "DELETE")) {
    throw new Fault("request.body", `${method} takes no body.`);
  }
}

export function tooLarge(): Fault {
  return new Fault("request.large", `A request may have ${mostBytes / 1024} KB.`, { hint: "Send less." });
}

function isOurs(host: string, address: string): boolean {
  const port = address.slice(address.lastIndexOf(":"));
  return host === address || host === `localhost${port}`;
}

/** The secret of `Authorization: Bearer …`. */
export function tokenOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
}
