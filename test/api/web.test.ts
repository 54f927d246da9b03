import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ask, bearer, portOf, type Received, type Sent } from "./http.ts";
import { folderBeside, newHome, newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
let page: string;
const hour = 3_600_000;

beforeAll(async () => {
  const home = newHome();
  page = folderBeside(home, "web");
  buildPage("one");
  writeFileSync(join(page, "..", "secret.txt"), "not for browsers");
  stage = await startStage({ home, page });
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home), poolSize: 9 } });
  await stage.ask("/v1/tasks", { json: { project: "coffee", workflow: "brew", branch: "mild", summary: "Brew" } });
  await stage.settled("mild");
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});
beforeEach(() => {
  stage.asked.length = 0;
});
afterEach(async () => {
  stage.usePublicOrigin("");
  await stage.ask("/v1/web/sessions", { method: "DELETE" });
});

/** Writes the folder that a build makes, in one step. */
function buildPage(version: string): void {
  const next = `${page}-next`;
  mkdirSync(join(next, "assets"), { recursive: true });
  writeFileSync(join(next, "index.html"), `<!doctype html><title>${version}</title>`);
  writeFileSync(join(next, "assets", `app-${version}.js`), `console.log("${"x".repeat(5_000)}")`);
  writeFileSync(join(next, "icon.svg"), "<svg/>");
  symlinkSync(join(page, "..", "secret.txt"), join(next, "assets", "link.txt"));
  rmSync(page, { recursive: true, force: true });
  renameSync(next, page);
}

const ours = () => `http://${stage.tcp.address}`;
const over = (path: string, sent: Sent = {}, at = stage) => ask(at.tcp, path, sent);

/** Makes a link as the command line does, and returns its secret. */
async function newSecret(at = stage): Promise<string> {
  const { status, json } = await at.ask("/v1/web/links", { json: {} });
  expect(status).toBe(200);
  return json.link.split("#sign-in=")[1];
}

interface Browser {
  readonly id: string;
  readonly cookie: string;
  readonly key: string;
}

const signIn = (secret: string, headers: Sent["headers"] = { origin: ours() }) =>
  over("/v1/web/sessions", { json: { secret }, headers: headers ?? {} });

async function signedIn(): Promise<Browser> {
  return browserOf(await signIn(await newSecret()));
}

function browserOf({ status, json, headers }: Received): Browser {
  expect(status).toBe(200);
  return { id: json.session.id, cookie: String(headers["set-cookie"]).split(";")[0] ?? "", key: json.key };
}

/** What a page of ours sends with fetch. */
const of = ({ cookie, key }: Browser) => ({ cookie, "signalbox-key": key, origin: ours() });
/** A change of the task, as a person. */
const comment = (headers: Sent["headers"] = {}, at = stage) =>
  over("/v1/tasks/mild/comments", { json: { text: "Hm." }, headers: headers ?? {} }, at);
const codeOf = ({ status, json }: Received) => [status, json?.error?.code];

describe("a link", () => {
  test("signs a browser in: its page may read and change what the person may, and history has it", async () => {
    const made = await stage.ask("/v1/web/links", { json: {} });
    expect(made.json).toMatchObject({
      publicLink: "",
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#sign-in=\w{48}$/),
    });
    const answer = await signIn(made.json.link.split("=")[1], { origin: ours(), "user-agent": "Firefox\t150" });
    const browser = browserOf(answer);
    const { port } = new URL(ours());
    expect(String(answer.headers["set-cookie"])).toMatch(
      new RegExp(`^signalbox-${port}=\\w{48}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$`),
    );
    expect((await over("/v1/status", { headers: of(browser) })).status).toBe(200);
    expect((await comment(of(browser))).status).toBe(200);
    const { events } = (await stage.ask("/v1/events?limit=5000")).json;
    const noted = events.filter(({ data }: { data: { request?: string } }) => /Web/.test(data.request ?? "")).slice(-2);
    expect(noted).toMatchObject([
      { by: "human", data: { request: "makeWebLink" } },
      { by: "human", data: { request: "openWebSession", given: { session: browser.id, address: ours() } } },
    ]);
    // No secret is in history, nor in the answer that lists sessions.
    const { json, text } = await over("/v1/web/sessions", { headers: of(browser) });
    expect(json.sessions).toMatchObject([{ id: browser.id, isOwn: true, address: ours(), browser: "Firefox 150" }]);
    for (const secret of [browser.key, browser.cookie.split("=")[1] ?? "", made.json.link.split("=")[1]])
      expect([JSON.stringify(events).includes(secret), text.includes(secret)]).toEqual([false, false]);
  });

  test("works once, also for two browsers at the same time", async () => {
    const secret = await newSecret();
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(secret)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    const late = await signIn(secret);
    expect([late.json.error.message, late.json.error.hint]).toEqual([
      "This link cannot sign you in: it was used before, is older than a minute, or is of another daemon.",
      "Get a new one: signalbox web",
    ]);
    expect(late.headers["set-cookie"]).toBeUndefined();
  });

  test("works for 60 seconds", async () => {
    const [soon, late] = [await newSecret(), await newSecret()];
    stage.pass(59_000);
    expect((await signIn(soon)).status).toBe(200);
    stage.pass(1_001);
    expect(codeOf(await signIn(late))).toEqual([401, "caller.unknown"]);
  });

  test("of another daemon, a made-up one, a session's secret and a person's token sign nobody in", async () => {
    const { cookie, key } = await signedIn();
    for (const secret of ["", "0".repeat(48), cookie.split("=")[1] ?? "", key, stage.human])
      expect([secret, ...codeOf(await signIn(secret))]).toEqual([secret, 401, "caller.unknown"]);
  });

  test("signs in only from a page of ours: not without an origin, from another, or over the socket", async () => {
    const secret = await newSecret();
    for (const headers of [{}, { origin: "http://evil.example" }, { origin: "null" }, { origin: "http://127.0.0.1:1" }])
      expect(codeOf(await signIn(secret, headers))).toEqual([403, "request.origin"]);
    for (const headers of [{}, { origin: ours() }, { origin: "http://localhost" }]) {
      const { status, json } = await stage.ask("/v1/web/sessions", { json: { secret }, headers });
      expect([status, json.error.code]).toEqual([403, "request.origin"]);
    }
    expect(codeOf(await signIn(secret, { origin: ours(), host: "evil.example" }))).toEqual([403, "request.host"]);
    expect(stage.asked.filter((name) => name === "openWebSession")).toEqual([]);
    expect((await signIn(secret)).status).toBe(200);
  });

  test("cannot be made or used by a run, nor made without a credential", async () => {
    const json = { project: "coffee", workflow: "default", summary: "Brew", branch: "strong" };
    const { id } = (await stage.ask("/v1/tasks", { json })).json.task;
    await expect.poll(async () => (await stage.core.store.getTask(id))?.task.runs.worker?.key).toBe("worker#1");
    const { token } = (await stage.ask(`/v1/tasks/${id}/runs`, { json: { role: "worker" } })).json;
    const secret = await newSecret();
    stage.asked.length = 0;
    for (const [path, method, body] of [
      ["/v1/web/links", "POST", {}],
      ["/v1/web/sessions", "POST", { secret }],
      ["/v1/web/sessions", "GET", undefined],
      ["/v1/web/sessions", "DELETE", undefined],
      ["/v1/web/sessions/own", "DELETE", undefined],
      ["/v1/web", "DELETE", undefined],
    ] as const) {
      const sent = { method, json: body };
      const run = await over(path, { ...sent, headers: { ...bearer(token), origin: ours() } });
      expect([path, method, ...codeOf(run)]).toEqual([path, method, 403, "caller.denied"]);
      if (path === "/v1/web/sessions" && method === "POST") continue;
      const nobody = await over(path, { ...sent, headers: { origin: ours() } });
      expect([path, method, ...codeOf(nobody)]).toEqual([path, method, 401, "caller.unknown"]);
    }
    expect(stage.asked).toEqual([]);
    expect((await signIn(secret)).status).toBe(200);
  });
});

describe("a cookie", () => {
  test("changes nothing without our origin", async () => {
    const browser = await signedIn();
    const { origin: _, ...without } = of(browser);
    expect(codeOf(await comment(without))).toEqual([403, "request.origin"]);
    expect(codeOf(await comment({ ...without, origin: "http://evil.example" }))).toEqual([403, "request.origin"]);
    expect(stage.asked.filter((name) => name === "commentTask")).toEqual([]);
    // Reading needs none: browsers send no origin with it.
    expect((await over("/v1/status", { headers: without })).status).toBe(200);
  });

  test("is worth nothing without the key of its page, which a server on another port of the host does not get", async () => {
    const [browser, other] = [await signedIn(), await signedIn()];
    const { "signalbox-key": _, ...without } = of(browser);
    for (const headers of [without, { ...without, "signalbox-key": other.key }, { ...without, "signalbox-key": "" }]) {
      expect(codeOf(await comment(headers))).toEqual([401, "caller.unknown"]);
      expect(codeOf(await over("/v1/status", { headers }))).toEqual([401, "caller.unknown"]);
    }
    // In a query it counts only where a page can send no header.
    expect(codeOf(await over(`/v1/status?key=${browser.key}`, { headers: without }))).toEqual([401, "caller.unknown"]);
    const { cookie: __, ...noCookie } = of(browser);
    expect(codeOf(await comment(noCookie))).toEqual([401, "caller.unknown"]);
  });

  test("counts not at all on the socket", async () => {
    const browser = await signedIn();
    const headers = { cookie: browser.cookie, "signalbox-key": browser.key };
    const { status, json } = await stage.ask("/v1/status", { token: "", headers });
    expect([status, json.error.code]).toEqual([401, "caller.unknown"]);
  });

  test("of another port of the same host does not count", async () => {
    const browser = await signedIn();
    const cookie = browser.cookie.replace(/-\d+=/, "-1=");
    expect(codeOf(await over("/v1/status", { headers: { ...of(browser), cookie } }))).toEqual([401, "caller.unknown"]);
    const both = { ...of(browser), cookie: `theme=dark; ${cookie}; ${browser.cookie};` };
    expect((await over("/v1/status", { headers: both })).status).toBe(200);
  });

  test("counts also beside another one of the same name, which a server on another port has set; if it was replaced, nobody is signed in", async () => {
    const browser = await signedIn();
    const name = browser.cookie.split("=")[0];
    for (const cookie of [
      `${name}=other; ${browser.cookie}`,
      `${browser.cookie}; ${name}=other`,
      `${name}=; ${browser.cookie}`,
    ])
      expect((await over("/v1/status", { headers: { ...of(browser), cookie } })).status).toBe(200);
    const wrong = { ...of(browser), cookie: `${name}=other; ${name}=` };
    expect(codeOf(await over("/v1/status", { headers: wrong }))).toEqual([401, "caller.unknown"]);
  });

  test("opens the event stream only for a page of ours", async () => {
    const browser = await signedIn();
    const same = { cookie: browser.cookie, "sec-fetch-site": "same-origin" };
    for (const [headers, path, expected] of [
      [{ cookie: browser.cookie }, `/v1/stream?key=${browser.key}`, [403, "request.origin"]],
      [{ ...same, "sec-fetch-site": "same-site" }, `/v1/stream?key=${browser.key}`, [403, "request.origin"]],
      [{ ...same, "sec-fetch-site": "none" }, `/v1/stream?key=${browser.key}`, [403, "request.origin"]],
      [same, "/v1/stream", [401, "caller.unknown"]],
      [same, "/v1/stream?key=0", [401, "caller.unknown"]],
    ] as const)
      expect([path, headers, ...codeOf(await over(path, { headers }))]).toEqual([path, headers, ...expected]);
    expect(stage.asked.filter((name) => name === "streamEvents")).toEqual([]);
    const stream = await openStream(`/v1/stream?key=${browser.key}`, same);
    expect(stream.status).toBe(200);
    stream.stop();
    const withHeader = await openStream("/v1/stream", { ...same, "signalbox-key": browser.key });
    expect(withHeader.status).toBe(200);
    withHeader.stop();
  });

  test("opens a WebSocket only with our origin and the key of the page", async () => {
    const { cookie, key } = await signedIn();
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const handshake = { ...upgrade, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", cookie };
    for (const [headers, path, expected] of [
      [{}, `?key=${key}`, [403, "request.origin"]],
      [{ origin: "http://evil.example" }, `?key=${key}`, [403, "request.origin"]],
      [{ origin: ours() }, "", [401, "caller.unknown"]],
      [{ origin: ours() }, "?key=0", [401, "caller.unknown"]],
      // The handler was reached: this daemon starts no agents.
      [{ origin: ours() }, `?key=${key}`, [503, "agents.unavailable"]],
    ] as const) {
      const answer = await over(`/v1/tasks/nothing/terminal${path}`, { headers: { ...handshake, ...headers } });
      expect([path, headers, ...codeOf(answer)]).toEqual([path, headers, ...expected]);
    }
  });

  test("is over after 12 hours, and not before", async () => {
    const browser = await signedIn();
    stage.pass(12 * hour - 5_000);
    expect((await over("/v1/status", { headers: of(browser) })).status).toBe(200);
    stage.pass(5_001);
    expect(codeOf(await comment(of(browser)))).toEqual([401, "caller.unknown"]);
    expect((await stage.ask("/v1/web/sessions")).json.sessions).toEqual([]);
    // The next link removes it from the store.
    await newSecret();
    const stored = await stage.core.store.webKeys.list();
    expect(stored.map(({ kind }) => kind)).toEqual(["link"]);
  });

  test("is over when its browser signs out, when it is signed out, and with all others; its streams end with it", async () => {
    const browsers = [await signedIn(), await signedIn(), await signedIn(), await signedIn()] as const;
    const streams = await Promise.all(
      browsers.map(({ cookie, key }) =>
        openStream(`/v1/stream?key=${key}`, { cookie, "sec-fetch-site": "same-origin" }),
      ),
    );
    const areIn = () =>
      Promise.all(browsers.map(async (each) => (await over("/v1/status", { headers: of(each) })).status === 200));
    expect(await areIn()).toEqual([true, true, true, true]);
    const own = await over("/v1/web/sessions/own", { method: "DELETE", headers: of(browsers[0]) });
    expect([own.status, own.json]).toEqual([200, { ended: 1 }]);
    expect(String(own.headers["set-cookie"])).toMatch(/^signalbox-\d+=; .*Max-Age=0$/);
    await streams[0]?.closed;
    expect((await stage.ask(`/v1/web/sessions/${browsers[1].id}`, { method: "DELETE" })).json).toEqual({ ended: 1 });
    await streams[1]?.closed;
    expect(await areIn()).toEqual([false, false, true, true]);
    expect(streams.map(({ isClosed }) => isClosed())).toEqual([true, true, false, false]);
    const unused = await newSecret();
    expect((await stage.ask("/v1/web/sessions", { method: "DELETE" })).json).toEqual({ ended: 2 });
    await Promise.all(streams.map(({ closed }) => closed));
    expect(await areIn()).toEqual([false, false, false, false]);
    expect(codeOf(await signIn(unused))).toEqual([401, "caller.unknown"]);
    const { status, json } = await stage.ask(`/v1/web/sessions/${browsers[1].id}`, { method: "DELETE" });
    expect([status, json.error.hint]).toEqual([404, "To list those that are: signalbox web --sessions"]);
  });

  test("that ends while the body of a request is under way changes nothing; of one that is still signed in the body may take its time", async () => {
    const body = JSON.stringify({ text: "Too late." });
    const late = await startSlowly(of(await signedIn()), body);
    await stage.ask("/v1/web/sessions", { method: "DELETE" });
    expect(await late()).toContain("401 Unauthorized");
    expect(stage.asked.filter((name) => name === "commentTask")).toEqual([]);
    const patient = await startSlowly(of(await signedIn()), body);
    expect(await patient()).toContain("200 OK");
  });

  test("is over when the port for browsers is closed, also if a configured port stays open; so are its streams and links", async () => {
    const browser = await signedIn();
    const { cookie, key } = browser;
    const stream = await openStream(`/v1/stream?key=${key}`, { cookie, "sec-fetch-site": "same-origin" });
    const unused = await newSecret();
    expect((await stage.ask("/v1/web", { method: "DELETE" })).json).toMatchObject({ ended: 1 });
    await stream.closed;
    expect((await over("/v1/status", { headers: of(browser) })).status).toBe(401);
    expect(codeOf(await signIn(unused))).toEqual([401, "caller.unknown"]);
    expect(await stage.core.store.webKeys.list()).toEqual([]);
  });

  test("counts after a restart of the daemon; the store's files have no secret", async () => {
    const home = newHome();
    const before = await startStage({ home });
    const secret = await newSecret(before);
    const origin = `http://${before.tcp.address}`;
    const browser = browserOf(await over("/v1/web/sessions", { json: { secret }, headers: { origin } }, before));
    const late = await newSecret(before);
    await before.close();
    const after = await startStage({ home });
    try {
      const port = portOf(after.tcp.address);
      const cookie = browser.cookie.replace(/-\d+=/, `-${port}=`);
      const headers = { cookie, "signalbox-key": browser.key };
      expect((await over("/v1/status", { headers }, after)).status).toBe(200);
      const kept = [after.places.database, `${after.places.database}-wal`].map((file) => readFileSync(file, "latin1"));
      for (const text of [cookie.split("=")[1] ?? "", browser.key, secret, late])
        expect(kept.map((bytes) => bytes.includes(text))).toEqual([false, false]);
      // Nor do the hashes sign anybody in.
      for (const { id, pageKey = "" } of await after.core.store.webKeys.list()) {
        const forged = { cookie: `signalbox-${port}=${id}`, "signalbox-key": pageKey };
        expect(codeOf(await over("/v1/status", { headers: forged }, after))).toEqual([401, "caller.unknown"]);
      }
      const sent = { json: { secret: late }, headers: { origin: `http://${after.tcp.address}` } };
      expect((await over("/v1/web/sessions", sent, after)).status).toBe(200);
      await after.ask("/v1/web/sessions", { method: "DELETE" });
      expect((await over("/v1/status", { headers }, after)).status).toBe(401);
    } finally {
      await after.close();
    }
  });

  test("does not take the place of a bearer token, which counts as before", async () => {
    const { cookie } = await signedIn();
    expect((await comment({ ...bearer(stage.human), cookie })).status).toBe(200);
    expect(codeOf(await comment({ ...bearer(`sbh_${"0".repeat(48)}`), cookie }))).toEqual([401, "caller.unknown"]);
  });
});

describe("a tunnel's address", () => {
  const elsewhere = "https://box.example.ts.net";

  test("is accepted as host and origin once it is configured, and its cookie is secure", async () => {
    const away = { host: "box.example.ts.net", origin: elsewhere };
    expect(codeOf(await over("/v1/status", { headers: { ...bearer(stage.human), ...away } }))).toEqual([
      403,
      "request.host",
    ]);
    expect(codeOf(await signIn(await newSecret(), { origin: elsewhere }))).toEqual([403, "request.origin"]);
    stage.usePublicOrigin(elsewhere);
    const { json } = await stage.ask("/v1/web/links", { json: {} });
    expect(json.publicLink).toBe(`${elsewhere}/#sign-in=${json.link.split("=")[1]}`);
    const answer = await signIn(json.publicLink.split("=")[1], away);
    expect(String(answer.headers["set-cookie"])).toMatch(/; Secure$/);
    const browser = browserOf(answer);
    expect((await comment({ ...of(browser), ...away })).status).toBe(200);
    // A proxy may name us as the host instead.
    expect((await comment({ ...of(browser), origin: elsewhere })).status).toBe(200);
    for (const origin of ["http://box.example.ts.net", `${elsewhere}:444`, `${elsewhere}.evil.example`])
      expect(codeOf(await comment({ ...of(browser), ...away, origin }))).toEqual([403, "request.origin"]);
    for (const host of ["evil.example", "box.example.ts.net:444"])
      expect(codeOf(await comment({ ...of(browser), ...away, host }))).toEqual([403, "request.host"]);
  });
});

describe("the page", () => {
  const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test("is served at every path outside of the API, without a credential, and never kept", async () => {
    for (const path of [
      "/",
      "/?a=b",
      "/tasks/coffee%231",
      "/index.html",
      "/v1x",
      "/assets/gone.js",
      "/..%2fsecret.txt",
    ]) {
      const answer = await over(path, { headers: html });
      expect([path, answer.status, answer.text]).toEqual([path, 200, "<!doctype html><title>one</title>"]);
      expect(answer.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "signalbox-version": "1.2.3",
      });
    }
    for (const path of ["/v1", "/v1/", "/v1/nothing"]) {
      const answer = await over(path, { headers: html });
      expect([path, ...codeOf(answer)]).toEqual([path, 404, "request.path"]);
    }
    expect((await over("/", { headers: { ...html, host: "evil.example" } })).status).toBe(403);
    expect((await ask(stage.socket, "/", { headers: html })).status).toBe(404);
    expect((await over("/", { method: "POST", json: {}, headers: html })).status).toBe(404);
  });

  test("has assets that are kept for ever, with their types, compressed where the browser takes it", async () => {
    const path = "/assets/app-one.js";
    const plain = await over(path);
    const source = readFileSync(join(page, "assets", "app-one.js"), "utf8");
    expect([plain.status, plain.text]).toEqual([200, source]);
    expect(plain.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    const { bytes, headers } = await fetchBytes(path, { "accept-encoding": "br, gzip;q=0.5" });
    expect([headers["content-encoding"], gunzipSync(bytes).toString()]).toEqual(["gzip", source]);
    expect(bytes.length).toBeLessThan(source.length / 2);
    for (const refused of ["gzip;q=0", "identity", "xgzip", ""])
      expect((await fetchBytes(path, { "accept-encoding": refused })).headers["content-encoding"]).toBeUndefined();
    const head = await over(path, { method: "HEAD" });
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", String(source.length)]);
    const same = await over(path, { headers: { "if-none-match": `"x", ${String(plain.headers.etag)}` } });
    expect([same.status, same.text]).toEqual([304, ""]);
    expect((await over(path, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
    expect((await over("/icon.svg")).headers).toMatchObject({
      "content-type": "image/svg+xml",
      "cache-control": "no-cache",
    });
  });

  test("has no path that leads out of its folder, also not by a link in it", async () => {
    for (const path of [
      ...[
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/..%2f..%2fsecret.txt",
      ],
      ...[
        "//etc/passwd",
        "/assets/link.txt",
        "/assets",
        "/assets/",
        "/assets%2fapp-one.js",
        "/assets/app-one.js%00",
        "/\\..\\secret.txt",
      ],
    ]) {
      const answer = await over(path);
      expect([path, answer.status, answer.text.includes("not for browsers")]).toEqual([path, 404, false]);
    }
  });

  test("is the new one after a build, and says what to do where there is none", async () => {
    expect((await over("/assets/app-one.js")).status).toBe(200);
    buildPage("two");
    expect((await over("/", { headers: html })).text).toContain("two");
    expect([(await over("/assets/app-one.js")).status, (await over("/assets/app-two.js")).status]).toEqual([404, 200]);
    rmSync(page, { recursive: true });
    const answer = await over("/", { headers: html });
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, "text/plain; charset=utf-8"]);
    expect(answer.text).toBe(
      "The page of Signalbox is not built here: run npm run build in its repository, then reload.\n",
    );
    buildPage("one");
    expect((await over("/", { headers: html })).status).toBe(200);
  });
});

test("a run whose credential is revoked while the body of its request is under way changes nothing", async () => {
  const json = { project: "coffee", workflow: "default", summary: "Brew", branch: "slow" };
  const { id } = (await stage.ask("/v1/tasks", { json })).json.task;
  await expect.poll(async () => (await stage.core.store.getTask(id))?.task.runs.worker?.key).toBe("worker#1");
  const { token } = (await stage.ask(`/v1/tasks/${id}/runs`, { json: { role: "worker" } })).json;
  const late = await startSlowly(bearer(token), JSON.stringify({ text: "My run is over." }), id);
  await stage.core.callers.revoke(id, "worker#1");
  expect(await late()).toContain("401 Unauthorized");
  const { events } = (await stage.ask("/v1/events?limit=5000")).json;
  expect(JSON.stringify(events)).not.toContain("My run is over.");
});

test("large answers are compressed over TCP where the client takes it, small ones and those of the socket never", async () => {
  const headers = { ...bearer(stage.human), "accept-encoding": "gzip" };
  const plain = await over("/v1/openapi.json", { headers: bearer(stage.human) });
  const zipped = await fetchBytes("/v1/openapi.json", headers);
  expect([plain.headers["content-encoding"], zipped.headers["content-encoding"]]).toEqual([undefined, "gzip"]);
  expect(gunzipSync(zipped.bytes).toString()).toBe(plain.text);
  expect((await over("/v1/health", { headers })).headers["content-encoding"]).toBeUndefined();
  expect((await stage.ask("/v1/openapi.json", { headers })).headers["content-encoding"]).toBeUndefined();
});

function fetchBytes(path: string, headers: Record<string, string>) {
  return new Promise<{ bytes: Buffer; headers: Record<string, unknown> }>((resolve, reject) => {
    const [host, port] = stage.tcp.address.split(":");
    request({ host, port, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ bytes: Buffer.concat(chunks), headers: response.headers }));
    })
      .on("error", reject)
      .end();
  });
}

/** Begins to comment on a task: the head and half of the body. The function that it returns sends the rest, and returns the answer. */
async function startSlowly(headers: Readonly<Record<string, string>>, body: string, task = "mild") {
  const { address } = stage.tcp;
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  let said = "";
  socket.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const length = { host: address, "content-type": "application/json", "content-length": String(body.length) };
  const lines = Object.entries({ ...headers, ...length, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write([`POST /v1/tasks/${task}/comments HTTP/1.1`, ...lines, "", body.slice(0, 5)].join("\r\n"));
  // The daemon has identified who asks once a later request is answered.
  await over("/v1/status", { headers: bearer(stage.human) });
  await over("/v1/status", { headers: bearer(stage.human) });
  return async () => {
    socket.write(body.slice(5));
    await once(socket, "close");
    return said;
  };
}

/** Opens an event stream, and waits for its first bytes. */
function openStream(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; closed: Promise<void>; isClosed: () => boolean; stop: () => void }>(
    (resolve, reject) => {
      const [host, port] = stage.tcp.address.split(":");
      const closed = Promise.withResolvers<void>();
      let isClosed = false;
      const asking = request({ host, port, path, headers, agent: false }, (response) => {
        response
          .on("error", () => {})
          .on("close", () => {
            isClosed = true;
            closed.resolve();
          });
        response.once("data", () =>
          resolve({
            status: response.statusCode ?? 0,
            closed: closed.promise,
            isClosed: () => isClosed,
            stop: () => asking.destroy(),
          }),
        );
      });
      asking.on("error", reject).end();
    },
  );
}
