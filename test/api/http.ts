import { request as send } from "node:http";

/** Where a server listens: a socket's path, or `127.0.0.1:port`. */
export type Door = { readonly socket: string } | { readonly address: string };

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. A list is sent in chunks, without a length. */
  readonly body?: string | readonly string[];
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The answer as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: every test knows the answer's type, and a mistake fails immediately.
  readonly json: any;
}

/** One request, with exactly these headers. */
export function ask(door: Door, path: string, { method, headers = {}, json, body }: Sent = {}): Promise<Received> {
  const written = json === undefined ? body : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const where = "socket" in door ? { socketPath: door.socket } : { host: "127.0.0.1", port: portOf(door.address) };
    const request = send({
      ...where,
      agent: false,
      method: method ?? (written === undefined ? "GET" : "POST"),
      path,
      headers: {
        ...("socket" in door ? { host: "localhost" } : {}),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(typeof written === "string" ? { "content-length": String(Buffer.byteLength(written)) } : {}),
        ...headers,
      },
    });
    let isAnswered = false;
    request.on("response", (response) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
    // A server that refuses a body closes the connection while we still send it.
    request.on("error", (error) => isAnswered || reject(error));
    for (const chunk of Array.isArray(written) ? written : []) request.write(chunk);
    request.end(typeof written === "string" ? written : undefined);
  });
}

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
