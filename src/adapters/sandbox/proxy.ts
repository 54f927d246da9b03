import { type LookupAddress, lookup } from "node:dns";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { BlockList, connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface ProxyOptions {
  /** `host`, `*.host` for its subdomains, or either with `:port`. Without a port, 80 and 443 are meant. */
  readonly hosts: readonly string[];
  /** Called for each request that is refused. */
  refused(host: string, port: number): void;
  /** Finds the addresses of a name; the system's, unless a test has another. */
  readonly addressesOf?: typeof lookup;
}

const maxConnections = 512;
const connectTimeout = 30_000;

/** An HTTP proxy that connects to the listed hosts, and refuses all others. It does not look into what is sent. */
export function createProxy({ hosts, refused, addressesOf = lookup }: ProxyOptions): Server {
  const find = lookupOther(addressesOf);
  const check = (target: Target | undefined): Target | undefined => {
    if (target !== undefined && isAllowed(hosts, target.host, target.port)) return target;
    if (target !== undefined) refused(target.host, target.port);
    return undefined;
  };
  const server = createServer((asked, answer) => {
    const url = URL.parse(asked.url ?? "");
    const isPlain = url?.protocol === "http:" && url.hostname !== "";
    const named = isPlain ? targetOf(`${url.hostname}:${url.port || 80}`) : undefined;
    const target = check(named);
    if (url === null || target === undefined) return refuse(answer, named);
    forward(find, asked, answer, url, target);
  });
  server.on("connect", (asked: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on("error", () => client.destroy());
    const named = targetOf(asked.url ?? "");
    const target = check(named);
    if (target === undefined) return endWith(client, 403, refusalText(named));
    tunnel(find, client, head, target);
  });
  server.maxConnections = maxConnections;
  // An answer of a model may take long.
  server.requestTimeout = 0;
  return server;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

function targetOf(text: string): Target | undefined {
  const found = /^(?:\[(?<six>[0-9a-f:.]+)\]|(?<name>[^:/@\s]+)):(?<port>\d{1,5})$/i.exec(text);
  const { six, name, port } = found?.groups ?? {};
  const host = (six ?? name ?? "").toLowerCase().replace(/\.$/, "");
  const number = Number(port);
  return host === "" || !(number > 0 && number < 65_536) ? undefined : { host, port: number };
}

const defaultPorts = [80, 443];

export function isAllowed(hosts: readonly string[], host: string, port: number): boolean {
  return hosts.some((entry) => {
    const { name, ports } = readEntry(entry);
    if (!ports.includes(port)) return false;
    return name.startsWith("*.") ? host.endsWith(name.slice(1)) && isIP(host) === 0 : host === name;
  });
}

function readEntry(entry: string): { readonly name: string; readonly ports: readonly number[] } {
  const target = targetOf(entry);
  return target === undefined
    ? { name: entry.toLowerCase().replace(/\.$/, ""), ports: defaultPorts }
    : { name: target.host, ports: [target.port] };
}

/** Addresses of this machine and its neighbours on the link, where cloud machines have their credentials. */
const local = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
] as const)
  local.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::", 127],
  ["::ffff:0:0", 96],
  ["fe80::", 10],
] as const)
  local.addSubnet(net, prefix, "ipv6");

/** The name of another host must not lead to this machine: whoever owns the name chooses its address. */
const lookupOther =
  (addressesOf: typeof lookup): LookupFunction =>
  (name, options, found) => {
    addressesOf(name, { ...options, all: true }, (error, all: readonly LookupAddress[]) => {
      const isLocal = ({ address, family }: LookupAddress) => local.check(address, family === 6 ? "ipv6" : "ipv4");
      const others = name === "localhost" ? all : all?.filter((each) => !isLocal(each));
      const [first] = others ?? [];
      if (error !== null || first === undefined)
        return found(error ?? new Error(`${name} has an address of this machine`), "", 0);
      if (options.all === true) return found(null, [...(others ?? [])]);
      found(null, first.address, first.family);
    });
  };

function tunnel(find: LookupFunction, client: Duplex, head: Buffer, { host, port }: Target): void {
  const server = connect({ host, port, allowHalfOpen: true, lookup: find });
  let isConnected = false;
  server.setTimeout(connectTimeout, () => server.destroy(new Error("it does not answer")));
  server.on("connect", () => {
    isConnected = true;
    server.setTimeout(0);
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) server.write(head);
    server.pipe(client);
    client.pipe(server);
  });
  server.on("error", (error) => {
    if (isConnected) client.destroy();
    else endWith(client, 502, unreachableText({ host, port }, error));
  });
  client.on("close", () => server.destroy());
  client.on("error", () => server.destroy());
}

/** Headers that are about one connection only, and not about what is asked. */
const ofConnection = ["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "upgrade"];

function forward(
  find: LookupFunction,
  asked: IncomingMessage,
  answer: ServerResponse,
  url: URL,
  { host, port }: Target,
): void {
  const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !ofConnection.includes(name)));
  const outgoing = request({
    ...{ host, port, method: asked.method, path: `${url.pathname}${url.search}`, agent: false, lookup: find },
    // The server must not be told of another host than the one that was checked.
    headers: { ...headers, host: url.host, connection: "close" },
    timeout: connectTimeout,
  });
  outgoing.on("socket", (socket: Socket) => socket.once("connect", () => outgoing.setTimeout(0)));
  outgoing.on("timeout", () => outgoing.destroy(new Error("it does not answer")));
  outgoing.on("response", (given) => {
    const kept = Object.entries(given.headers).filter(([name]) => !ofConnection.includes(name));
    answer.writeHead(given.statusCode ?? 502, Object.fromEntries(kept));
    given.pipe(answer);
    given.on("error", () => answer.destroy());
  });
  outgoing.on("error", (error) => {
    if (answer.headersSent) return answer.destroy();
    answer.writeHead(502, { "content-type": "text/plain" }).end(unreachableText({ host, port }, error));
  });
  answer.on("close", () => outgoing.destroy());
  asked.pipe(outgoing);
}

function refuse(answer: ServerResponse, target: Target | undefined): void {
  answer.writeHead(403, { "content-type": "text/plain", connection: "close" }).end(refusalText(target));
}

function endWith(client: Duplex, code: 403 | 502, text: string): void {
  const what = code === 403 ? "Forbidden" : "Bad Gateway";
  const head = `HTTP/1.1 ${code} ${what}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}`;
  client.end(`${head}\r\nconnection: close\r\n\r\n${text}`);
}

function refusalText(target: Target | undefined): string {
  const what = target === undefined ? "This address" : `${target.host}:${target.port}`;
  return `signalbox: ${what} is not on the list of hosts that this agent may reach. A person can add it to agents.network_allow.\n`;
}

function unreachableText({ host, port }: Target, error: Error): string {
  return `signalbox: ${host}:${port} cannot be reached: ${error.message}.\n`;
}
