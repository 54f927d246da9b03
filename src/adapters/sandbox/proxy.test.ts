import { lookup } from "node:dns";
import { once } from "node:events";
import { createServer, get, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { proxyVariables } from "./gate-order.ts";
import { createProxy, isAllowed } from "./proxy.ts";

test("a host is allowed by its name, a star means its subdomains, and a port means that port only", () => {
  const hosts = ["example.org", "*.example.net", "api.example.com:8443", "10.0.0.1"];
  const allowed = (host: string, port = 443) => isAllowed(hosts, host, port);
  expect([allowed("example.org"), allowed("example.org", 80), allowed("example.org", 22)]).toEqual([true, true, false]);
  expect([allowed("www.example.org"), allowed("evilexample.org"), allowed("example.org.evil.com")]).toEqual([
    ...[false, false, false],
  ]);
  expect([allowed("a.b.example.net"), allowed("example.net"), allowed("evil-example.net")]).toEqual([
    ...[true, false, false],
  ]);
  expect([allowed("api.example.com"), allowed("api.example.com", 8443)]).toEqual([false, true]);
  expect([allowed("10.0.0.1"), allowed("10.0.0.2")]).toEqual([true, false]);
});

test("loopback is the sandbox's own, unless the list has a service of the machine", () => {
  expect(proxyVariables(8080, ["example.org"])).toMatchObject({
    ...{ HTTPS_PROXY: "http://127.0.0.1:8080", NO_PROXY: "localhost,127.0.0.1,::1" },
  });
  expect(proxyVariables(8080, ["127.0.0.1:9000"]).no_proxy).toBe("localhost,::1");
});

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** A server on this machine, and a proxy that lets through what `hosts` says of its port. */
async function stage(hosts: (port: number) => readonly string[]) {
  const port = await listen(createServer((asked, answer) => answer.end(`${asked.headers.host} ${asked.url}`)));
  const refused: string[] = [];
  const proxy = await listen(
    createProxy({
      hosts: hosts(port),
      refused: (host, at) => void refused.push(`${host}:${at}`),
      addressesOf: ((name: string, options: object, found: never) =>
        lookup(name.endsWith(".test") ? "127.0.0.1" : name, options, found)) as typeof lookup,
    }),
  );
  const plain = async (url: string, headers = {}) => {
    const [answer] = await once(get({ host: "127.0.0.1", port: proxy, path: url, headers }), "response");
    return `${answer.statusCode} ${await text(answer)}`;
  };
  /** Opens a tunnel and asks through it. */
  const tunnel = async (target: string) => {
    const asked = request({ host: "127.0.0.1", port: proxy, method: "CONNECT", path: target });
    asked.end();
    const [answer, socket, head] = await once(asked, "connect");
    if (answer.statusCode !== 200) return `${answer.statusCode} ${head}${await text(socket)}`;
    socket.end("GET /deep HTTP/1.1\r\nhost: inner\r\nconnection: close\r\n\r\n");
    return (await text(socket)).split("\r\n").at(0) ?? "";
  };
  return { port, proxy, refused, plain, tunnel };
}

test("listed hosts are reached, plainly and through a tunnel, and servers are told the name that was checked", async () => {
  const { port, plain, tunnel, refused } = await stage((port) => [`127.0.0.1:${port}`, `localhost:${port}`]);
  expect(await plain(`http://127.0.0.1:${port}/a?b=1`, { host: "other.example" })).toBe(`200 127.0.0.1:${port} /a?b=1`);
  expect(await plain(`http://localhost:${port}/`)).toBe(`200 localhost:${port} /`);
  expect(await tunnel(`127.0.0.1:${port}`)).toBe("HTTP/1.1 200 OK");
  expect(refused).toEqual([]);
});

test("every other host is refused with a sentence, and noted", async () => {
  const { port, plain, tunnel, refused } = await stage(() => ["example.org"]);
  expect(await plain(`http://127.0.0.1:${port}/`)).toMatch(/^403 signalbox: 127\.0\.0\.1:\d+ is not on the list/);
  expect(await tunnel(`127.0.0.1:${port}`)).toMatch(/^403 signalbox: .*agents\.network_allow/);
  expect(await tunnel("example.org:22")).toMatch(/^403 /);
  expect(refused).toEqual([`127.0.0.1:${port}`, `127.0.0.1:${port}`, "example.org:22"]);
  // What names no host is refused too.
  for (const path of ["/", "ftp://example.org/", "file:///etc/passwd"]) expect(await plain(path)).toMatch(/^403 /);
  expect(await tunnel("nonsense")).toMatch(/^403 /);
});

test("a listed host that cannot be reached is told as such", async () => {
  const { plain, tunnel } = await stage(() => ["127.0.0.1:1", "nowhere.invalid"]);
  expect(await plain("http://127.0.0.1:1/")).toMatch(/^502 signalbox: 127\.0\.0\.1:1 cannot be reached/);
  expect(await tunnel("nowhere.invalid:443")).toMatch(/^502 signalbox: nowhere\.invalid:443 cannot be reached/);
});

test("a listed name that leads to this machine is not reached", async () => {
  const { port, plain, tunnel } = await stage((port) => [`rebound.test:${port}`]);
  expect(await plain(`http://rebound.test:${port}/`)).toMatch(/^502 .*has an address of this machine/);
  expect(await tunnel(`rebound.test:${port}`)).toMatch(/^502 .*has an address of this machine/);
});

test("a client that goes away, or talks nonsense, ends nothing else", async () => {
  const { port, proxy, plain } = await stage((port) => [`127.0.0.1:${port}`]);
  for (const words of ["CONNECT 127.0.0.1:", "\0\0\0\0\r\n\r\n", `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\nGET`]) {
    const client = connect(proxy, "127.0.0.1");
    client.on("error", () => {});
    client.write(words);
    await new Promise((resolve) => setTimeout(resolve, 20));
    client.destroy();
  }
  expect(await plain(`http://127.0.0.1:${port}/`)).toMatch(/^200 /);
});
