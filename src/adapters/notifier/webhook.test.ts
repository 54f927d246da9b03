import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type WebhookOptions, webhook } from "./webhook.ts";

const note = { title: "coffee#12 Brew", text: "It is schön.", task: "t1", project: "coffee", key: "t1:7" };
const noon = Date.UTC(2026, 6, 1, 12);

let closeServer = () => {};
afterEach(() => closeServer());

interface Received {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** A server that records requests and then answers. */
async function stage(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const received: Received[] = [];
  const listen: RequestListener = async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    received.push({ request, body });
    answer(response, request);
  };
  const server = createServer(listen);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeServer = () => {
    server.close();
    server.closeAllConnections();
  };
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = (options: Partial<WebhookOptions> = {}) =>
    webhook({ url: `http://${host}/hook`, now: () => noon, ...options });
  return { received, host, open };
}

const answering = (status: number, text = "", headers = {}) =>
  stage((response) => void response.writeHead(status, headers).end(text));

test("a note is posted as JSON with its key", async () => {
  const { received, open } = await answering(204);
  await open().notify(note);
  const [{ request, body } = {} as Received] = received;
  expect(request).toMatchObject({ method: "POST", url: "/hook" });
  expect(request.headers).toMatchObject({ "content-type": "application/json", "idempotency-key": "t1:7" });
  expect(request.headers).not.toHaveProperty("signalbox-signature");
  expect(JSON.parse(body)).toEqual({ ...note, at: "2026-07-01T12:00:00.000Z" });
});

test("with a secret the body is signed", async () => {
  const { received, open } = await answering(200, "thanks");
  await open({ secret: "hush" }).notify(note);
  const [{ request, body } = {} as Received] = received;
  const expected = createHmac("sha256", "hush").update(body, "utf8").digest("hex");
  expect(request.headers["signalbox-signature"]).toBe(`sha256=${expected}`);
});

test("the address's name and password become a header", async () => {
  const { received, host, open } = await answering(200);
  await open({ url: `http://me:p%40ss@${host}/hook?page=2` }).notify(note);
  expect(received[0]?.request.headers.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  expect(received[0]?.request.url).toBe("/hook?page=2");
});

test.each([
  [408, "later"],
  [425, "later"],
  [429, "later"],
  [500, "later"],
  [503, "later"],
  [400, "never"],
  [401, "never"],
  [404, "never"],
  [410, "never"],
])("after an answer of %i a retry may work %s", async (status, retry) => {
  const { open, host } = await answering(status, "so\u001b[2J sorry\n");
  await expect(open().notify(note)).rejects.toMatchObject({
    code: "notifier.refused",
    retry,
    message: `The webhook at http://${host} answered ${status}: so sorry`,
  });
});

test("a redirect is not followed", async () => {
  const { received, open } = await answering(307, "", { location: "/elsewhere" });
  await expect(open().notify(note)).rejects.toMatchObject({
    retry: "never",
    message: expect.stringContaining("answered 307; redirects are not followed"),
  });
  expect(received).toHaveLength(1);
});

test("a dropped connection is worth a retry", async () => {
  const { open } = await stage((response) => void response.destroy());
  await expect(open().notify(note)).rejects.toMatchObject({ code: "notifier.unreachable", retry: "later" });
});

test("an unreachable server is worth a retry", async () => {
  const { host, open } = await answering(200);
  closeServer();
  await expect(open().notify(note)).rejects.toMatchObject({
    retry: "later",
    // Another test of this process may have had the same port, and left a connection to it.
    message: expect.stringMatching(new RegExp(`^The webhook at http://${host} could not be reached \\(\\w+\\)\\.$`)),
  });
});

test("a timeout is worth a retry", async () => {
  const { open, host } = await stage(() => {});
  await expect(open({ timeout: 50 }).notify(note)).rejects.toMatchObject({
    code: "notifier.unreachable",
    retry: "later",
    message: `The webhook at http://${host} did not answer within 0.05 s.`,
  });
});

test("only the start of an endless answer is read", async () => {
  let sent = 0;
  const forever = (response: ServerResponse) => {
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(1_000))) sent += 1_000;
    };
    response.on("drain", more);
    more();
  };
  const { open } = await stage((response) => forever(response.writeHead(500)));
  const error = await open({ timeout: 5_000 })
    .notify(note)
    .catch((error: Error) => error);
  expect(error?.message).toMatch(/answered 500: x{499}…$/);
  const before = sent;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(sent - before).toBeLessThan(1_000_000);
  const slow = await stage((response) => void response.writeHead(500).write("half"));
  await expect(slow.open({ timeout: 1_000 }).notify(note)).rejects.toMatchObject({
    message: expect.stringMatching(/: half$/),
  });
});

test("the body of a successful answer is not read", async () => {
  const { open } = await stage((response) => void response.writeHead(200).write("and on"));
  await open({ timeout: 5_000 }).notify(note);
});

test("no message contains the secret parts of the address, even if the server repeats them", async () => {
  const { host, open } = await stage((response, { url, headers }) => {
    response.writeHead(404).end(`No ${url} for ${headers.authorization} or hush!`);
  });
  const url = `http://someone:hunter2@${host}/T00/B00?key=abc123&other=d%20ef`;
  const error = await open({ url, secret: "hush!" })
    .notify(note)
    .catch((error: Error) => error);
  expect(error?.message).toBe(`The webhook at http://${host} answered 404: No …?… for Basic … or …`);
  closeServer();
  const gone = await open({ url })
    .notify(note)
    .catch((error: Error) => error);
  for (const part of ["someone", "hunter2", "abc123", "T00", "key"]) expect(gone?.message).not.toContain(part);
});

test.each(["file:///etc/passwd", "ftp://me:hunter2@example.org", "hunter2", ""])("%j is not a valid address", (url) => {
  expect(() => webhook({ url, now: () => noon })).toThrow(
    expect.objectContaining({ code: "notifier.bad-url", message: expect.not.stringContaining("hunter2") }),
  );
});
