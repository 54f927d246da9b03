import { execFile, execFileSync, spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ask, bearer, portOf, type Sent } from "./http.ts";
import { newHome, newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
let port: number;
let before: string;

beforeAll(async () => {
  stage = await startStage();
  port = portOf(stage.tcp.address);
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home) } });
  await stage.ask("/v1/tasks", { json: { project: "coffee", workflow: "brew", branch: "mild", summary: "Brew" } });
  await stage.settled("mild");
});
afterAll(async () => {
  await stage.close();
  removeHomes();
});

async function everything(): Promise<string> {
  const { store } = stage.core;
  // The person may be called meanwhile, because the task waits.
  const events = (await store.listEvents({}, 0, 1_000)).filter(({ event }) => event.type !== "person.called");
  return JSON.stringify([await store.listProjects(), await store.listTasks({}, { limit: 9 }), events.length]);
}
beforeEach(async () => {
  before = await everything();
  stage.asked.length = 0;
});

/** Sends a request over TCP, as the person, that would change a task. */
function over({ headers = {}, ...rest }: Sent, path = "/v1/tasks/mild/continue") {
  const { tcp, human } = stage;
  return ask(tcp, path, {
    json: rest.body === undefined ? {} : undefined,
    ...rest,
    headers: { ...bearer(human), ...headers },
  });
}

describe("a refused request reaches no handler and changes nothing:", () => {
  afterEach(async () => {
    expect(stage.asked).toEqual([]);
    expect(await everything()).toBe(before);
    expect(stage.complaints).toEqual([]);
  });

  test.each([
    ["no token", {}],
    ["a wrong token", bearer(`sbh_${"0".repeat(48)}`)],
    ["a made-up token", bearer("x")],
    ["the token in another scheme", { authorization: "Basic c2JoXzpzYmhf" }],
  ])("%s, over TCP", async (_, headers) => {
    for (const [path, json] of [
      ["/v1/health"],
      ["/v1/status"],
      ["/v1/tasks"],
      ["/v1/stop", {}],
      ["/v1/tasks/mild/continue", {}],
    ] as const) {
      const answer = await ask(stage.tcp, path, { json, headers });
      expect([path, answer.status, answer.json.error.code]).toEqual([path, 401, "caller.unknown"]);
      expect(answer.json.error.hint).toContain("Authorization: Bearer");
    }
  });

  test("a foreign host, as sent by a page whose name resolves to 127.0.0.1", async () => {
    const hosts = [
      "evil.example",
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      "127.0.0.1:1",
      "localhost:1",
    ];
    for (const host of [
      ...hosts,
      `127.0.0.1:${port}.evil.example`,
      `[::1]:${port}`,
      `127.0.0.1:0${port}`,
      "127.0.0.1",
    ]) {
      const { status, json } = await over({ headers: { host } });
      expect([host, status, json.error.code]).toEqual([host, 403, "request.host"]);
    }
  });

  test("a foreign origin", async () => {
    const origins = ["http://evil.example", "null", `https://127.0.0.1:${port}`, "http://127.0.0.1:1", "file://", ""];
    for (const origin of [
      ...origins,
      `http://127.0.0.1:${port}.evil.example`,
      `http://evil.example@127.0.0.1:${port}`,
    ]) {
      const { status, json } = await over({ headers: { origin } });
      expect([origin, status, json.error.code]).toEqual([origin, 403, "request.origin"]);
    }
  });

  test("any origin at all over the socket, which no browser can reach", async () => {
    const { status, json } = await stage.ask("/v1/tasks/mild/continue", {
      json: {},
      headers: { origin: "http://localhost" },
    });
    expect([status, json.error.code]).toEqual([403, "request.origin"]);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
    "a body of the type %j, which a page may send without a preflight request",
    async (type) => {
      const { status, json } = await over({ method: "POST", body: "{}", headers: { "content-type": type } });
      expect([status, json.error.code]).toEqual([415, "request.type"]);
    },
  );

  test("a body without a type", async () => {
    const { status } = await over({ method: "POST", body: "{}" });
    expect(status).toBe(415);
    expect((await over({ method: "POST", body: ["{", "}"] })).status).toBe(415);
  });

  const type = { "content-type": "application/json" };
  test("a body of more than 1 MB, by its Content-Length", async () => {
    const body = JSON.stringify({ text: "x".repeat(1024 * 1024) });
    const { status, json } = await over({ method: "POST", body, headers: type });
    expect([status, json.error.code]).toEqual([413, "request.large"]);
  });

  test("a body of more than 1 MB, in chunks without a length", async () => {
    const body = Array.from({ length: 64 }, () => "x".repeat(64 * 1024));
    const { status, json } = await over({ method: "POST", body, headers: type });
    expect([status, json.error.code]).toEqual([413, "request.large"]);
  });

  test("a Content-Length without a body: the answer does not wait for the body", async () => {
    const { authorization } = bearer(stage.human);
    const head = [
      "POST /v1/tasks/mild/continue HTTP/1.1",
      `host: ${stage.tcp.address}`,
      `authorization: ${authorization}`,
    ];
    const answer = await raw(
      [...head, "content-type: application/json", "content-length: 99999999", "", ""].join("\r\n"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
  });

  test.each([
    ["{", 400, "request.body"],
    ["[1", 400, "request.body"],
    ["{}{}", 400, "request.body"],
    ["null", 400, "request.invalid"],
    ["[]", 400, "request.invalid"],
    ['"text"', 400, "request.invalid"],
  ])("the body %s", async (body, status, code) => {
    const answer = await over({ method: "POST", body, headers: type });
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
  });

  test("values of wrong types and unknown keys, all in one answer", async () => {
    const json = { project: 7, summary: ["x"], priority: "high", labels: "taste", autostart: "yes", flavour: "mild" };
    const { status, json: answer } = await over({ json }, "/v1/tasks");
    expect([status, answer.error.code]).toEqual([400, "request.invalid"]);
    expect(answer.error.message.split("\n")).toEqual([
      expect.stringMatching(/^The body has no "flavour"; it takes project, summary, .*\.$/),
      "The body.project must be text, but is 7.",
      "The body.summary must be text, but is a list.",
      'The body.labels must be a list, but is "taste".',
      'The body.priority must be a whole number, but is "high".',
      'The body.autostart must be true or false, but is "yes".',
    ]);
    const missing = await over({ json: {} }, "/v1/tasks");
    expect(missing.json.error.message).toBe('The body needs "project".');
    const polluting = await over(
      { body: '{"__proto__":{"project":"coffee"}}', method: "POST", headers: type },
      "/v1/tasks",
    );
    expect(polluting.json.error.message).toContain('The body has no "__proto__"');
  });

  test("a query with unknown keys", async () => {
    const { status, json } = await over({ json: undefined, method: "GET" }, "/v1/tasks?colour=red&open=maybe");
    expect([status, json.error.code]).toEqual([400, "request.invalid"]);
    expect(json.error.message).toContain('The query has no "colour"');
    expect(json.error.message).toContain("The query.open must be one of true, false.");
  });

  test.each([
    ["OPTIONS", "/v1/tasks", 405],
    ["OPTIONS", "*", 404],
    ["PUT", "/v1/tasks", 405],
    ["HEAD", "/v1/status", 405],
    ["DELETE", "/v1/stop", 405],
    ["GET", "/", 404],
    ["GET", "/v2/status", 404],
    ["GET", "/v1/status/", 404],
    ["GET", "/v1/tasks/mild/nothing", 404],
    ["GET", "//evil.example/v1/status", 404],
    ["GET", "http://evil.example/v1/nothing", 404],
    ["GET", "//", 404],
    ["GET", "/v1/tasks/%zz", 404],
    ["GET", "/v1/tasks/%E0%A4%A", 404],
    ["GET", "/v1/../v1/nothing", 404],
  ])("%s %s", async (method, path, status) => {
    const answer = await over({ json: undefined, method }, path);
    expect([method, path, answer.status]).toEqual([method, path, status]);
    // No answer ever allows another origin.
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test("a folder whose encoding is broken", async () => {
    const { status, json } = await over({ json: {}, headers: { "signalbox-folder": "%zz" } });
    expect([status, json.error.code]).toEqual([400, "request.invalid"]);
  });

  test.each(["GET", "DELETE"])("%s with a body", async (method) => {
    const { status, json } = await over({ method, json: {} }, "/v1/tasks/mild");
    expect([status, json.error.code]).toEqual([400, "request.body"]);
  });

  test("a client that is newer than the daemon", async () => {
    for (const version of ["1.2.4", "1.10.0", "2.0.0-rc.1"]) {
      const { status, json, headers } = await over({ headers: { "signalbox-version": version } });
      expect([version, status, json.error.code]).toEqual([version, 426, "daemon.older"]);
      expect(headers["signalbox-version"]).toBe("1.2.3");
    }
  });

  test("bytes that are not HTTP", async () => {
    expect(await raw("Hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  });

  const hasCurl = spawnSync("curl", ["--version"]).status === 0;
  test.skipIf(!hasCurl).each([
    ["no token", [], "401"],
    ["a foreign host", ["-H", "Authorization: Bearer TOKEN", "-H", "Host: evil.example"], "403"],
    ["a foreign origin", ["-H", "Authorization: Bearer TOKEN", "-H", "Origin: http://evil.example"], "403"],
  ])("curl with %s", async (_, flags, status) => {
    const given = flags.map((each) => each.replace("TOKEN", stage.human));
    const url = `http://${stage.tcp.address}/v1/tasks/mild/continue`;
    const body = ["-d", "{}", "-H", "Content-Type: application/json"];
    const args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "10", ...given, ...body, url];
    const code = await new Promise((resolve) => execFile("curl", args, (_error, stdout) => resolve(stdout)));
    expect(code).toBe(status);
  });
});

describe("accepted requests:", () => {
  test.each(["127.0.0.1", "localhost"])("the person's token over TCP, under the name %s", async (name) => {
    const host = `${name}:${port}`;
    for (const headers of [{ host }, { host, origin: `http://${host}` }]) {
      expect((await over({ method: "GET", json: undefined, headers }, "/v1/status")).status).toBe(200);
    }
  });

  test("the daemon's health over the socket without a token, and nothing else", async () => {
    const { status, json } = await stage.ask("/v1/health", { token: "" });
    expect([status, json]).toEqual([200, { version: stage.version, pid: process.pid }]);
    for (const path of ["/v1/tasks/mild", "/v1/status", "/v1/openapi.json"])
      expect([path, (await stage.ask(path, { token: "" })).status]).toEqual([path, 401]);
  });

  test("a client that is older than the daemon, or of the same version, or with an invalid version", async () => {
    for (const version of ["1.2.3", "1.2.3-rc.1", "0.9.9", "x", ""]) {
      const { status } = await over(
        { method: "GET", json: undefined, headers: { "signalbox-version": version } },
        "/v1/status",
      );
      expect([version, status]).toEqual([version, 200]);
    }
  });

  test("JSON with a charset in its content type", async () => {
    const headers = { "content-type": "Application/JSON; charset=utf-8" };
    expect((await over({ method: "PATCH", body: '{"summary":"Brew"}', headers }, "/v1/tasks/mild")).status).toBe(200);
  });
});

describe("the socket", () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  test("and its folder are accessible to the user only", () => {
    expect([modeOf(stage.places.socket), modeOf(dirname(stage.places.socket))]).toEqual([0o600, 0o700]);
  });

  test("of a home whose path is too long is elsewhere, and as private", async () => {
    const deep = await startStage({ home: join(newHome(), "x".repeat(120)) });
    try {
      expect(deep.places.socket).toMatch(/^\/tmp\/signalbox-\d+-[0-9a-f]{12}-api\/daemon\.sock$/);
      expect([modeOf(deep.places.socket), modeOf(dirname(deep.places.socket))]).toEqual([0o600, 0o700]);
      expect((await deep.ask("/v1/status")).json.home).toBe(deep.home);
    } finally {
      await deep.close();
      execFileSync("rm", ["-rf", dirname(deep.places.socket)]);
    }
  });
});

/** Sends these bytes and returns the answer until the server closes the connection, or is silent for a while. */
function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}
