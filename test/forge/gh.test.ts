import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { apiUrlOf } from "../../src/adapters/github/client.ts";
import { ghToken, tokenFor } from "../../src/adapters/github/transport.ts";
import { removeFolder } from "../remove-folder.ts";
import { placeGh } from "./place-gh.ts";

const token = "ghp_verysecretindeed0123456789";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-gh-"));
});
afterEach(() => removeFolder(folder));

/** Installs a `gh` that runs this. */
function placeScript(text: string): Readonly<Record<string, string>> {
  writeFileSync(join(folder, "gh"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return { PATH: `${folder}:/usr/bin:/bin` };
}

test("gh prints the token of a host's login, and gets only the environment variables that it needs for that", async () => {
  const { env, calls } = placeGh(folder, token);
  const secrets = { GH_TOKEN: "a", GITHUB_TOKEN: "b", GH_ENTERPRISE_TOKEN: "c", SIGNALBOX_TOKEN: "d" };
  expect(await ghToken("github.com", { ...env, ...secrets, GH_DEBUG: "api", GH_CONFIG_DIR: "/x" })).toBe(token);
  const [call] = calls();
  expect(call?.argv).toEqual(["auth", "token", "--hostname", "github.com"]);
  expect(call?.env).toMatchObject({ HOME: folder, GH_CONFIG_DIR: "/x", GH_PROMPT_DISABLED: "1", NO_COLOR: "1" });
  for (const name of [...Object.keys(secrets), "GH_DEBUG"]) expect(call?.env).not.toHaveProperty(name);
});

test("there is no token if gh is missing, is not logged in to the host, or prints none", async () => {
  expect(await ghToken("github.com", { PATH: join(folder, "nowhere") })).toBeUndefined();
  const { env } = placeGh(folder, token);
  expect(await ghToken("evil.example.org", env)).toBeUndefined();
  placeGh(folder, "");
  expect(await ghToken("github.com", env)).toBeUndefined();
  expect(await ghToken("github.com", placeScript("echo"))).toBeUndefined();
});

test("a gh that prints endlessly, or never ends, is killed", async () => {
  expect(await ghToken("github.com", placeScript("while :; do printf '%65536s' x; done"))).toBeUndefined();
  // Its child keeps the pipe open.
  expect(await ghToken("github.com", placeScript("sleep 5 & exec sleep 600"), 200)).toBeUndefined();
  expect(await ghToken("github.com", placeScript("exec sleep 600"), 200)).toBeUndefined();
});

test.each([
  ["github.com", "https://api.github.com"],
  ["acme.ghe.com", "https://api.acme.ghe.com"],
  ["git.example.org:8443", "https://git.example.org:8443/api/v3"],
])("the API of %s is at %s", (host, apiUrl) => {
  expect(apiUrlOf(host)).toBe(apiUrl);
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
