import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseTransport, tokenFor } from "../../src/adapters/forge/github/choose-transport.ts";
import { ghTransport } from "../../src/adapters/forge/github/gh-transport.ts";
import { type ScriptedGithub, startScriptedGithub } from "../../src/testing/scripted-github.ts";
import { removeFolder } from "../remove-folder.ts";
import { placeGh } from "./place-gh.ts";

const token = "ghp_verysecretindeed0123456789";
const request = { method: "GET", path: "repos/acme/coffee", headers: { accept: "x" }, body: undefined } as const;

let folder = "";
let github: ScriptedGithub;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-gh-"));
  github = await startScriptedGithub({ token });
});
afterEach(async () => {
  await github.close();
  removeFolder(folder);
});

/** Puts a `gh` in place that prints this and ends. */
function placeScript(text: string) {
  writeFileSync(join(folder, "gh"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return ghTransport({ host: "github.com", env: { PATH: folder }, timeout: 30_000 });
}

test("gh gets arguments, the body on its input, and of our environment what it needs", async () => {
  const { env, calls } = placeGh(folder, github.url, token);
  const ours = { ...env, GH_TOKEN: token, SIGNALBOX_TOKEN: "sbh_1", GH_DEBUG: "api", GH_ENTERPRISE_TOKEN: "x" };
  const transport = ghTransport({ host: "github.com", env: ours });
  github.state.branches.set("a", "c1");
  const body = JSON.stringify({ head: "a", base: "main", title: "$(id) 'é'", body: "" });
  const post = { ...request, method: "POST", path: "repos/acme/coffee/pulls", body } as const;
  expect(await transport.send(post)).toMatchObject({ status: 201 });
  expect(github.state.pulls[0]?.title).toBe("$(id) 'é'");
  const [call] = calls();
  const argv = ["api", "--hostname", "github.com", "--method", "POST", "--include", "-H", "accept: x", "--input", "-"];
  expect(call?.argv).toEqual([...argv, "repos/acme/coffee/pulls"]);
  expect(call?.env).toMatchObject({ GH_TOKEN: token, GH_PROMPT_DISABLED: "1", NO_COLOR: "1" });
  for (const name of ["SIGNALBOX_TOKEN", "GH_DEBUG", "GH_ENTERPRISE_TOKEN"]) expect(call?.env).not.toHaveProperty(name);
});

test("a token for servers of one's own is shown to the one that the person named, and to no other", async () => {
  const { env, calls } = placeGh(folder, github.url, token, "git.example.org");
  const ours = { ...env, GH_HOST: "git.example.org", GH_ENTERPRISE_TOKEN: "x" };
  for (const host of ["git.example.org", "evil.example.org"])
    await ghTransport({ host, env: ours })
      .send(request)
      .catch(() => {});
  expect(calls().map((call) => call.env.GH_ENTERPRISE_TOKEN)).toEqual(["x", undefined]);
});

test("a gh that is not logged in says how to", async () => {
  const { env } = placeGh(folder, github.url, "");
  await expect(ghTransport({ host: "github.com", env }).send(request)).rejects.toMatchObject({
    ...{ code: "forge.unauthorized", retry: "never", hint: "Log in with gh auth login --hostname github.com" },
  });
});

test("a gh that is missing is named", async () => {
  const transport = ghTransport({ host: "github.com", env: { PATH: join(folder, "nowhere") } });
  await expect(transport.send(request)).rejects.toMatchObject({
    ...{
      code: "forge.gh-missing",
      message: '"gh" could not be started (ENOENT).',
      hint: expect.stringMatching(/^Install/),
    },
  });
});

test("what gh says instead of an answer is quoted without secrets and control characters", async () => {
  writeFileSync(join(folder, "gh"), `#!/bin/sh\necho first >&2\nprintf 'lookup \\033[1m${token}\\n' >&2\nexit 1\n`, {
    mode: 0o755,
  });
  const transport = ghTransport({ host: "github.com", env: { PATH: folder, GH_TOKEN: token } });
  await expect(transport.send(request)).rejects.toMatchObject({
    ...{ code: "forge.unreachable", retry: "later", message: '"gh" brought no answer from github.com: lookup  [1m…' },
  });
});

test("an answer that gh could not read to its end does not count", async () => {
  const transport = placeScript("printf 'HTTP/2.0 200 OK\\n\\r\\n[1]'; exit 1");
  await expect(transport.send(request)).rejects.toMatchObject({ code: "forge.unreachable", retry: "later" });
});

test("a gh that reads nothing, or prints without an end, does no harm", async () => {
  const body = "x".repeat(1_000_000);
  const deaf = placeScript("printf 'HTTP/2.0 204 No Content\\n\\r\\n'");
  expect(await deaf.send({ ...request, method: "POST", body })).toMatchObject({ status: 204 });
  const endless = placeScript("while :; do printf '%65536s' x; done");
  await expect(endless.send(request)).rejects.toMatchObject({ code: "forge.garbled", retry: "later" });
});

test("a token goes over HTTP; without one gh is used where it is logged in; else there is none", async () => {
  const { env, calls } = placeGh(folder, github.url, token);
  const chosen = async (ours: Record<string, string>, given?: string) =>
    (await chooseTransport({ host: "github.com", token: given, env: ours })).howToLogIn;
  expect(await chosen({ ...env, GITHUB_TOKEN: token })).toBe("Set GH_TOKEN to a token that is valid.");
  expect(await chosen(env, token)).toBe("Set GH_TOKEN to a token that is valid.");
  expect(calls()).toEqual([]);
  expect(await chosen(env)).toBe("Log in with gh auth login --hostname github.com");
  expect(calls().map(({ argv }) => argv.join(" "))).toEqual(["auth token --hostname github.com"]);
  placeGh(folder, github.url, "");
  expect(await chosen(env)).toMatch(/^Log in with gh auth login, or set GH_TOKEN/);
  expect(await chosen({ PATH: join(folder, "nowhere") })).toMatch(/^Log in with gh auth login, or set GH_TOKEN/);
});

test("an address of the API from the configuration is asked over HTTP", async () => {
  const { env } = placeGh(folder, github.url, token);
  const transport = await chooseTransport({ host: "git.example.org", apiUrl: `${github.url}/`, env });
  expect(transport.apiUrl).toBe(github.url);
});

test.each([
  ["github.com", "https://api.github.com"],
  ["acme.ghe.com", "https://api.acme.ghe.com"],
  ["git.example.org:8443", "https://git.example.org:8443/api/v3"],
])("the API of %s is at %s", (host, apiUrl) => {
  expect(ghTransport({ host, env: {} }).apiUrl).toBe(apiUrl);
});

test("tokens of the environment are for GitHub, or for the server that the person named", () => {
  const both = { GH_TOKEN: "a", GITHUB_TOKEN: "b", GH_ENTERPRISE_TOKEN: "c", GITHUB_ENTERPRISE_TOKEN: "d" };
  expect(tokenFor("github.com", both)).toBe("a");
  expect(tokenFor("github.com", { GH_TOKEN: "", GITHUB_TOKEN: "b" })).toBe("b");
  expect(tokenFor("acme.ghe.com", both)).toBe("a");
  for (const host of ["evil.org", "github.com.evil.org", "evilghe.com"]) expect(tokenFor(host, both)).toBeUndefined();
  expect(tokenFor("git.example.org", { ...both, GH_HOST: "Git.Example.org" })).toBe("c");
  expect(tokenFor("evil.org", { ...both, GH_HOST: "git.example.org" })).toBeUndefined();
});
