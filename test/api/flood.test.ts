import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, bearer } from "./http.ts";
import { removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
let sockets: Socket[];
beforeEach(async () => {
  stage = await startStage();
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await stage.close();
  removeHomes();
});

/** Opens a connection, over TCP unless it is to the socket, and sends a text. */
function open(text: string, to: "tcp" | "socket" = "tcp"): Promise<Socket & { said: string }> {
  const [host, port] = stage.tcp.address.split(":");
  return new Promise((resolve, reject) => {
    const opened = to === "tcp" ? connect(Number(port), host) : connect(stage.places.socket);
    const socket = Object.assign(opened, { said: "" });
    sockets.push(socket);
    socket.on("data", (bytes) => {
      socket.said += bytes.toString("utf8");
    });
    socket.on("error", reject);
    socket.on("connect", () => {
      // Later, the daemon may reset it.
      socket.off("error", reject).on("error", () => {});
      socket.write(text, () => resolve(socket));
    });
  });
}

const head = () => `GET /v1/status HTTP/1.1\r\nHost: ${stage.tcp.address}\r\n`;

test("half-sent requests of strangers over TCP take few connections, and end neither a person's nor the daemon's service", async () => {
  const stream = await open(
    `GET /v1/stream HTTP/1.1\r\nHost: ${stage.tcp.address}\r\nAuthorization: Bearer ${stage.human}\r\n\r\n`,
  );
  await expect.poll(() => stream.said).toContain("200 OK");
  const strangers = await Promise.all(Array.from({ length: 300 }, () => open(head())));
  await expect.poll(() => strangers.filter(({ closed }) => closed).length).toBe(44);
  expect(stream.closed).toBe(false);
  expect((await ask(stage.tcp, "/v1/status", { headers: bearer(stage.human) })).status).toBe(200);
  expect((await stage.ask("/v1/status")).status).toBe(200);
  // A stranger whose request is whole is still answered.
  expect((await ask(stage.tcp, "/v1/status")).status).toBe(401);
});

test.each(["tcp", "socket"] as const)(
  "a person whose request comes after 200 newer connections is answered, over %s",
  async (to) => {
    const person = await open("", to);
    const status = `GET /v1/status HTTP/1.1\r\nHost: ${to === "tcp" ? stage.tcp.address : "localhost"}\r\n`;
    const strangers = await Promise.all(Array.from({ length: 200 }, () => open(`${status}\r\n`, to)));
    // The daemon has accepted them.
    await expect.poll(() => strangers.every(({ said, closed }) => closed || said.includes("401"))).toBe(true);
    person.write(`${status}Authorization: Bearer ${stage.human}\r\n\r\n`);
    await expect.poll(() => person.said, { timeout: 5_000 }).toContain("200 OK");
  },
);

test("an agent that opens many connections to the socket keeps neither a person nor thirty other agents out", async () => {
  const stream = await open(
    `GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${stage.human}\r\n\r\n`,
    "socket",
  );
  await expect.poll(() => stream.said).toContain("200 OK");
  const many = await Promise.all(
    Array.from({ length: 300 }, () => open("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n", "socket")),
  );
  await expect.poll(() => many.filter(({ closed }) => closed).length).toBe(44);
  expect(stream.closed).toBe(false);
  const health = () => stage.ask("/v1/health", { token: "" });
  expect((await Promise.all(Array.from({ length: 30 }, health))).every(({ status }) => status === 200)).toBe(true);
  expect((await stage.ask("/v1/status")).status).toBe(200);
  expect(stream.closed).toBe(false);
});

test("a connection whose request is not whole within seconds is closed", async () => {
  const slow = await open(head());
  await expect.poll(() => slow.closed, { timeout: 10_000 }).toBe(true);
  expect(slow.said).toContain("408");
});
