import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request as ask, createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";

export interface VendorRequest {
  /** With the host, and without the query. */
  readonly url: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** An answer, or where the request is sent instead. */
export type VendorAnswer =
  | { readonly json: unknown; readonly status?: number }
  /** Server-sent events, one for each value. */
  | { readonly events: readonly unknown[] }
  | { readonly forward: string };

export interface ScriptedVendor {
  /** For `HTTPS_PROXY`. */
  readonly proxy: string;
  readonly requests: readonly VendorRequest[];
  close(): void;
}

/**
 * A proxy on this machine that answers for these hosts and reaches no other, so that the programs' requests to their
 * vendors stay here. Writes the certificate that they must trust into `folder`, as `authority.pem`.
 */
export async function startVendor(
  folder: string,
  hosts: readonly string[],
  /** Without an answer, the request is not found. */
  answer: (request: VendorRequest) => VendorAnswer | undefined,
): Promise<ScriptedVendor> {
  const requests: VendorRequest[] = [];
  const secure = createSecureServer(certify(folder, hosts), (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const { headers, method = "GET", url: path = "/" } = request;
      const body = Buffer.concat(pieces);
      const told = { url: `${headers.host}${path.replace(/\?.*/, "")}`, body: body.toString("utf8"), headers };
      requests.push(told);
      const said = answer(told) ?? { status: 404, json: {} };
      if ("forward" in said) return forward(said.forward, { method, headers, body }, response);
      if ("events" in said) {
        const text = said.events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
        return void response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
      }
      response.writeHead(said.status ?? 200, { "content-type": "application/json" }).end(JSON.stringify(said.json));
    });
  });
  const proxy = createServer((_, response) => response.writeHead(502).end());
  proxy.on("connect", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    if (!hosts.includes(request.url?.replace(/:443$/, "") ?? "")) return socket.end("HTTP/1.1 502 Closed\r\n\r\n");
    const { port } = secure.address() as AddressInfo;
    const inner = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      inner.write(head);
      inner.pipe(socket).pipe(inner);
    });
    inner.on("error", () => socket.destroy());
    socket.on("close", () => inner.destroy());
  });
  for (const server of [secure, proxy])
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return {
    proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    close() {
      for (const server of [proxy, secure]) server.close();
      secure.closeAllConnections();
    },
  };
}

interface Forwarded {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function forward(url: string, { method, headers, body }: Forwarded, response: ServerResponse): void {
  const asked = ask(url, { method, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  asked.on("error", () => response.destroy());
  asked.end(body);
}

/** A key and a certificate for the hosts, signed by an authority of their own. */
function certify(folder: string, hosts: readonly string[]): { readonly key: Buffer; readonly cert: Buffer } {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) => {
    const { status, error, stderr } = spawnSync("openssl", [...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`openssl could not make a certificate: ${error?.message ?? stderr}`);
  };
  const fresh = ["-newkey", "rsa:2048", "-nodes"];
  const authority = ["-keyout", at("authority.key"), "-out", at("authority.pem"), "-subj", "/CN=Scripted authority"];
  openssl("req", "-x509", ...fresh, ...authority, "-addext", "basicConstraints=critical,CA:TRUE", "-days", "2");
  openssl("req", ...fresh, "-keyout", at("vendor.key"), "-out", at("vendor.csr"), "-subj", "/CN=Scripted vendor");
  const names = hosts.map((host) => `DNS:${host}`).join(",");
  writeFileSync(at("vendor.ext"), `subjectAltName=${names}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n`);
  const signed = ["-CA", at("authority.pem"), "-CAkey", at("authority.key"), "-CAcreateserial", "-days", "2"];
  openssl("x509", "-req", "-in", at("vendor.csr"), ...signed, "-extfile", at("vendor.ext"), "-out", at("vendor.pem"));
  return { key: readFileSync(at("vendor.key")), cert: readFileSync(at("vendor.pem")) };
}
