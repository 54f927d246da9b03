import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Route } from "../../api/client.ts";
import { Fault } from "../../fault.ts";
import { parseJson } from "../../json.ts";

/** The largest body of a request, unless its route takes more: a task file of a thousand pages is a mistake. */
const maxBytes = 1024 * 1024;

/** How a request arrived. */
export interface Door {
  /** `127.0.0.1:4711`; undefined for the socket, which only the user can reach. */
  readonly address: string | undefined;
  /** The configured origin of a tunnel or proxy that leads here, such as `https://box.example.ts.net`; empty for none. */
  publicOrigin?(): string;
}

/**
 * Checks the headers before the request is read. A page in the user's browser can send requests to 127.0.0.1, but it
 * cannot forge host and origin, and it cannot send JSON without a preflight request.
 */
export function checkRequest({ headers, method = "" }: IncomingMessage, door: Door): void {
  const { host = "", origin } = headers;
  const { address } = door;
  const origins = originsOf(door);
  if (address !== undefined && !origins.some((each) => each.slice(each.indexOf("//") + 2) === host)) {
    const hint = `Use http://${address}. If a tunnel or a proxy leads here, name its address: signalbox config set web.address https://HOST`;
    throw new Fault("request.host", `The host "${host}" is not this daemon's.`, { hint });
  }
  if (origin !== undefined && !origins.includes(origin))
    throw new Fault("request.origin", `The origin "${origin}" may not send requests to this daemon.`);
  const length = Number(headers["content-length"] ?? 0);
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined;
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (hasBody && type !== "application/json") {
    throw new Fault("request.type", `A request's body must be application/json, but is "${type}".`);
  }
  if (hasBody && (method === "GET" || method === "DELETE")) {
    throw new Fault("request.body", `${method} takes no body.`);
  }
}

/** Refuses a body that is too large for its route, before anything is read of it. */
export function checkSize({ headers }: IncomingMessage, { maxBody = maxBytes }: Pick<Route, "maxBody">): void {
  if (Number(headers["content-length"] ?? 0) > maxBody) throw tooLarge(maxBody);
}

function tooLarge(most: number): Fault {
  return new Fault("request.large", `A request may have at most ${most / 1024} KB.`, { hint: "Send less." });
}

/** The origins of our own pages, byte for byte as browsers write them. No browser reaches the socket. */
function originsOf({ address, publicOrigin }: Door): readonly string[] {
  if (address === undefined) return [];
  const named = publicOrigin?.() ?? "";
  return [`http://${address}`, `http://localhost${portOf(address)}`, ...(named === "" ? [] : [named])];
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":"));
}

/** The secret in `Authorization: Bearer …`. */
export function tokenOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

interface Match<R extends Route> {
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a request. */
export function createMatcher<R extends Route>(routes: readonly R[]): (method: string, path: string) => Match<R> {
  const bySize = Map.groupBy(
    routes.map((route) => ({ route, segments: route.path.split("/") })),
    ({ segments }) => segments.length,
  );
  return (method, path) => {
    const given = path.split("/");
    const fitting = (bySize.get(given.length) ?? []).filter(({ segments }) =>
      segments.every((segment, i) => segment.startsWith(":") || segment === given[i]),
    );
    const found = fitting.find(({ route }) => route.method === method);
    if (found === undefined) {
      if (fitting.length === 0)
        throw new Fault("request.path", `There is nothing at ${path}.`, { hint: "GET /v1/openapi.json lists all." });
      const methods = fitting.map(({ route }) => route.method).join(", ");
      throw new Fault("request.method", `${path} takes ${methods}, not ${method}.`);
    }
    const params: Record<string, string> = Object.create(null);
    for (const [i, segment] of found.segments.entries()) {
      if (segment.startsWith(":")) params[segment.slice(1)] = decode(given[i] ?? "");
    }
    return { route: found.route, params };
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Fault("request.path", `"${segment}" is not a correctly encoded part of a path.`);
  }
}

/** The JSON of a request; undefined where there is none. */
export function readBody(
  request: IncomingMessage,
  { maxBody = maxBytes }: Pick<Route, "maxBody"> = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBody) return void chunks.push(chunk);
      reject(tooLarge(maxBody));
      request.resume();
    });
    request.on("end", () => {
      if (size === 0) return resolve(undefined);
      const bytes = Buffer.concat(chunks);
      // Decoded leniently, wrong bytes would silently become other text.
      if (!isUtf8(bytes)) return reject(new Fault("request.body", "The body is not UTF-8."));
      try {
        resolve(parseJson(bytes.toString("utf8")));
      } catch (error) {
        const why = error instanceof Error ? ` ${error.message}` : "";
        reject(new Fault("request.body", `The body is not valid JSON.${why}`, { cause: error }));
      }
    });
    request.on("error", reject);
  });
}
