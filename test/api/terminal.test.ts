import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { closeCodes } from "../../src/api/terminal.ts";
import { ask, bearer, portOf } from "./http.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home) } });
  await stage.ask("/v1/tasks", { json: { project: "coffee", workflow: "brew", branch: "mild", summary: "Brew" } });
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

/** Asks for a WebSocket over TCP, as the person. Returns the status and the code of the error. */
function upgrade(path: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${stage.tcp.address}${path}`, {
      headers: { ...bearer(stage.human), ...headers },
    });
    socket.on("error", reject);
    socket.on("open", () => resolve([101, ""]));
    socket.on("unexpected-response", (_, response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve([response.statusCode ?? 0, JSON.parse(text).error.code]));
    });
  });
}

const path = "/v1/tasks/mild/terminal";

test.each([
  ["no token", path, { authorization: "" }, 401, "caller.unknown"],
  ["a wrong token", path, bearer("sbh_0"), 401, "caller.unknown"],
  ["a foreign origin", path, { origin: "http://evil.example" }, 403, "request.origin"],
  ["the origin of another port", path, { origin: "http://127.0.0.1:1" }, 403, "request.origin"],
  ["an origin without a name", path, { origin: "null" }, 403, "request.origin"],
  ["a rebound host", path, { host: "evil.example" }, 403, "request.host"],
  ["a wrong query", `${path}?colour=red`, {}, 400, "request.invalid"],
  ["no such path", "/v1/terminal", {}, 404, "request.path"],
  ["a route that is no WebSocket", "/v1/status", {}, 426, "request.upgrade"],
  ["the event feed", "/v1/stream", {}, 426, "request.upgrade"],
  // This daemon starts no agents.
  ["our origin and the person's token", path, {}, 503, "agents.unavailable"],
] as const)("a WebSocket with %s is answered before it is opened", async (_, target, headers, status, code) => {
  const before = stage.asked.length;
  expect(await upgrade(target, headers)).toEqual([status, code]);
  expect(stage.asked.length).toBe(before);
});

test("a plain request, and an upgrade to something else, are told what is wrong", async () => {
  const { status, json } = await stage.ask(path);
  expect([status, json.error.code]).toEqual([426, "request.upgrade"]);
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(portOf(stage.tcp.address), "127.0.0.1", () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${stage.tcp.address}\r\nAuthorization: Bearer ${stage.human}\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n`,
      ),
    );
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 426 /);
});

test("an open WebSocket knows when its credential counts no longer, and a browser's is closed when it is signed out", async () => {
  const own = await startStage({
    upgradings: {
      watchTerminal: async () => (socket) =>
        socket.onMessage(async () => socket.send(String(await socket.isAllowed()), () => {})),
    },
  });
  const open = async (headers: Readonly<Record<string, string>>, query = "") => {
    const socket = new WebSocket(`ws://${own.tcp.address}${path}${query}`, { headers });
    await once(socket, "open");
    const isAllowed = async () => {
      socket.send("?");
      return String((await once(socket, "message"))[0]);
    };
    return { socket, isAllowed };
  };
  try {
    const { link } = (await own.ask("/v1/web/links", { json: {} })).json;
    const origin = `http://${own.tcp.address}`;
    const sent = { json: { secret: link.split("=")[1] }, headers: { origin } };
    const signedIn = await ask(own.tcp, "/v1/web/sessions", sent);
    const cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
    const browser = await open({ cookie, origin }, `?key=${signedIn.json.key}`);
    const program = await open(bearer(own.human));
    expect([await browser.isAllowed(), await program.isAllowed()]).toEqual(["true", "true"]);
    own.core.callers.useHuman("sbh_another");
    expect([await browser.isAllowed(), await program.isAllowed()]).toEqual(["true", "false"]);
    const closed = once(browser.socket, "close");
    await own.core.sessions.endAll();
    expect((await closed)[0]).toBe(closeCodes.denied);
    program.socket.close();
  } finally {
    await own.close();
  }
});
