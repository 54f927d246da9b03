import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ask } from "../api/http.ts";
import { startBrew } from "./brew-stage.ts";

/** Signs a browser in as the page does, and returns what it sends from then on. */
async function signIn(link: string) {
  const { origin, host, hash } = new URL(link);
  const answer = await ask({ address: host }, "/v1/web/sessions", {
    json: { secret: hash.replace("#sign-in=", "") },
    headers: { origin, "user-agent": "Firefox 150" },
  });
  expect(answer.status).toBe(200);
  const cookie = String(answer.headers["set-cookie"]).split(";")[0] ?? "";
  return { address: host, id: String(answer.json.session.id), headers: { cookie, "signalbox-key": answer.json.key } };
}

type Browser = Awaited<ReturnType<typeof signIn>>;
const isIn = async ({ address, headers }: Browser) =>
  (await ask({ address }, "/v1/status", { headers })).status === 200;

function occupy(address: string): Promise<Server> {
  const [host = "", port = ""] = address.split(":");
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    onTestFinished(() => void server.close());
    server.listen({ host, port: Number(port) }, () => resolve(server));
  });
}

test("a browser is signed in at a port that stays the same after a restart, and is signed out", async () => {
  const { signalbox, home } = await startBrew([]);
  const web = (...args: string[]) => signalbox(["web", ...args]);
  expect((await signalbox(["status"])).stdout).not.toContain("http://");
  await signalbox(["up"]);
  expect((await signalbox(["status"])).stdout).toContain("on its socket only (signalbox web opens a page)");
  expect((await web("--sessions")).stderr).toBe("No browser is signed in. To sign one in: signalbox web\n");

  const made = await web();
  expect(made.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#sign-in=\w{48}\n$/);
  const browser = await signIn(made.stdout.trim());
  const [, port] = browser.address.split(":");
  expect(made.stderr).toContain("Open the link in your browser. It signs one browser in, once, within a minute.");
  expect(made.stderr).toMatch(new RegExp(`first run there: ssh -L ${port}:127\\.0\\.0\\.1:${port} \\S+@\\S+\n`));
  expect((await signalbox(["status"])).stdout).toContain(`http://${browser.address} (signalbox web)`);
  expect(statSync(join(home, "run", "web.json")).mode & 0o777).toBe(0o600);

  await signalbox(["down"]);
  await signalbox(["up"]);
  expect(await isIn(browser)).toBe(true);
  const other = await signIn(JSON.parse((await web("--json")).stdout).link);
  expect(other.address).toBe(browser.address);
  const { stdout } = await web("--sessions");
  expect(stdout).toMatch(new RegExp(`${browser.id} .* http://${browser.address} .*Firefox 150\n.*${other.id} `));

  expect((await web("--sign-out", browser.id)).stderr).toBe("1 browser signed out.\n");
  expect([await isIn(browser), await isIn(other)]).toEqual([false, true]);
  expect(await web("--sign-out", browser.id)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("To list those that are: signalbox web --sessions"),
  });
  expect((await web("--sign-out", "all", "--json")).stdout).toBe('{\n  "ended": 1\n}\n');
  expect(await isIn(other)).toBe(false);

  expect((await web("--close")).stderr).toBe("No browser was signed in. No port is open.\n");
  await expect(ask({ address: browser.address }, "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await signalbox(["down"]);
  await signalbox(["up"]);
  expect((await signalbox(["status"])).stdout).toContain("on its socket only");
  // It was chosen on purpose: no guard restores it.
  expect(JSON.parse(readFileSync(join(home, "run", "web.json"), "utf8"))).toEqual({ port: 0 });
});

test("sessions end if another program has taken the port while no daemon ran, because it may have got their cookies", async () => {
  const { signalbox } = await startBrew([]);
  const browser = await signIn((await signalbox(["web"])).stdout.trim());
  await signalbox(["down"]);
  const squatter = await occupy(browser.address);
  await signalbox(["up"]);
  expect((await signalbox(["status"])).stdout).toContain("on its socket only");
  expect((await signalbox(["web", "--sessions"])).stderr).toContain("No browser is signed in.");
  // A new link leads to another port, which is then the one that is kept.
  const moved = await signIn((await signalbox(["web"])).stdout.trim());
  expect(moved.address).not.toBe(browser.address);
  squatter.close();
  await signalbox(["down"]);
  await signalbox(["up"]);
  expect([await isIn(moved), (await signalbox(["status"])).stdout.includes(moved.address)]).toEqual([true, true]);
});

test("the configured port is used instead, and a person who deletes the token signs all browsers out", async () => {
  const { signalbox, home } = await startBrew([]);
  const chosen = await signIn((await signalbox(["web"])).stdout.trim());
  const free = await occupy("127.0.0.1:0");
  const place = free.address();
  const port = typeof place === "object" ? (place?.port ?? 0) : 0;
  await new Promise((done) => free.close(done));
  await signalbox(["config", "set", "port", String(port)]);
  await vi.waitFor(async () => expect((await signalbox(["status"])).stdout).toContain(`127.0.0.1:${port}`), 10_000);
  await expect(ask({ address: chosen.address }, "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  const browser = await signIn((await signalbox(["web"])).stdout.trim());
  expect(browser.address).toBe(`127.0.0.1:${port}`);
  expect((await signalbox(["web", "--close"])).stderr).toBe(
    `2 browsers signed out. The port stays open at http://127.0.0.1:${port}, because it is configured: signalbox config set port 0\n`,
  );
  const again = await signIn((await signalbox(["web"])).stdout.trim());
  rmSync(join(home, "human.token"));
  await vi.waitFor(async () => expect(await isIn(again)).toBe(false), 10_000);
});

test("the link is opened in the desktop's browser, as one argument, unless there is no desktop or you say so", async () => {
  const { signalbox, base, env } = await startBrew([]);
  const bin = join(base, "bin");
  const opened = join(base, "opened");
  mkdirSync(bin);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" >${opened}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  Object.assign(env, { PATH: `${bin}:${env.PATH}`, DISPLAY: ":7", SSH_CONNECTION: "" });
  const { stdout, stderr } = await signalbox(["web"]);
  expect(stderr).toBe("Opened in your browser. It signs one browser in, once, within a minute.\n");
  await vi.waitFor(() => expect(readFileSync(opened, "utf8")).toBe(`1\n${stdout}`), 10_000);
  rmSync(opened);
  expect(JSON.parse((await signalbox(["web", "--no-open", "--json"])).stdout)).toMatchObject({ opened: false });
  Object.assign(env, { SSH_CONNECTION: "192.0.2.7 50000 192.0.2.9 22" });
  expect((await signalbox(["web"])).stderr).toMatch(/ \S+@192\.0\.2\.9\n$/);
  Object.assign(env, { SSH_CONNECTION: "", DISPLAY: "" });
  await signalbox(["web"]);
  expect(() => statSync(opened)).toThrow("ENOENT");
});

test("with a tunnel's address both links are printed, and a wrong address is refused", async () => {
  const { signalbox } = await startBrew([]);
  for (const wrong of ["http://box.example", "https://box.example/app", "box.example", "https://me:word@box.example"]) {
    const { code, stderr } = await signalbox(["config", "set", "web.address", wrong]);
    expect([wrong, code]).toEqual([wrong, 2]);
    expect(stderr).toContain("must be https://HOST, or http://localhost:PORT for an ssh tunnel, without a path");
  }
  expect((await signalbox(["config", "set", "web.address", "https://Box.example.ts.net/"])).code).toBe(0);
  const { stdout, stderr } = await vi.waitFor(async () => {
    const made = await signalbox(["web"]);
    expect(made.stdout.split("\n")).toHaveLength(3);
    return made;
  }, 10_000);
  const [local = "", away = ""] = stdout.split("\n");
  expect(away).toBe(`https://box.example.ts.net/#sign-in=${local.split("=")[1]}`);
  expect(stderr).toContain("Either signs one browser in, once, within a minute.");
  const { code, stderr: refused } = await signalbox(["web", "--sessions", "--close"]);
  expect([code, refused]).toEqual([2, expect.stringContaining("--sessions and --close cannot be given together.")]);
});
