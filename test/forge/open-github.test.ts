import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createOpenGithub } from "../../src/adapters/github/github.ts";
import { removeFolder } from "../remove-folder.ts";
import { startScriptedGithub } from "../scripted-github/server.ts";
import { placeGh } from "./place-gh.ts";

const token = "ghp_verysecretindeed0123456789";
const usual = { host: "", apiUrl: "", tokenEnv: "" };
const address = "git@github.com:acme/coffee.git";

async function startStage() {
  const github = await startScriptedGithub({ token });
  const folder = mkdtempSync(join(tmpdir(), "signalbox-open-"));
  onTestFinished(async () => {
    await github.close();
    removeFolder(folder);
  });
  github.state.branches.set("brew", "c1");
  return { github, folder, nowhere: { PATH: join(folder, "nowhere") } };
}

test("a remote is a forge only if it is on GitHub and a token gives access", async () => {
  const { github, folder, nowhere } = await startStage();
  const open = (env: Record<string, string | undefined>, where = address) =>
    createOpenGithub({ env, now: () => 0 })(where, usual);
  expect(await open(nowhere)).toBeUndefined();
  expect(await open({ ...nowhere, GH_TOKEN: token }, "/srv/coffee.git")).toBeUndefined();
  expect(await open({ ...nowhere, GH_TOKEN: token }, "git@gitlab.com:acme/coffee.git")).toBeUndefined();
  expect(await open({ ...nowhere, GH_TOKEN: token })).toBeDefined();
  expect(await open(placeGh(folder, token).env)).toBeDefined();
  expect(await open(placeGh(folder, "").env)).toBeUndefined();
  expect(github.requests).toEqual([]);
});

test("the token of gh's login is sent over HTTP, and gh is asked again only after GitHub refuses it", async () => {
  const { github, folder } = await startStage();
  const { env, calls } = placeGh(folder, "ghp_expired");
  const open = createOpenGithub({ env, now: () => 0 });
  const settings = { ...usual, apiUrl: github.url };
  const expired = await open(address, settings);
  await expect(expired?.findPullRequest("brew")).rejects.toMatchObject({
    ...{ code: "forge.unauthorized", hint: "Log in again: gh auth login --hostname github.com" },
  });
  placeGh(folder, token);
  for (let times = 0; times < 2; times += 1) {
    const forge = await open(address, settings);
    expect(await forge?.findPullRequest("brew")).toBeUndefined();
  }
  expect(github.requests.map(({ status }) => status)).toEqual([401, 200, 304]);
  expect(calls().length).toBe(2);
});

test("a token in the environment is used before gh is asked", async () => {
  const { folder } = await startStage();
  const { env, calls } = placeGh(folder, token);
  expect(await createOpenGithub({ env: { ...env, GITHUB_TOKEN: token }, now: () => 0 })(address, usual)).toBeDefined();
  expect(calls()).toEqual([]);
});

test("the configured token is sent to its configured host, and to no other", async () => {
  const { github, nowhere } = await startStage();
  const open = createOpenGithub({ env: { ...nowhere, BREW_TOKEN: token }, now: () => 0 });
  const settings = { host: "Git.Example.org", apiUrl: github.url, tokenEnv: "BREW_TOKEN" };
  const forge = await open("https://git.example.org/acme/coffee", settings);
  expect(await forge?.findPullRequest("brew")).toBeUndefined();
  expect(github.requests.length).toBe(1);
  expect(await open(address, settings)).toBeUndefined();
  expect(await open("https://evil.org/acme/coffee", settings)).toBeUndefined();
  expect(await open(address, { ...settings, host: "" })).toBeDefined();
});

test("a named token that is missing is a fault, and does not mean that there is no forge", async () => {
  const { github, nowhere } = await startStage();
  const open = createOpenGithub({ env: { ...nowhere, EMPTY: "" }, now: () => 0 });
  const settings = { host: "", apiUrl: github.url, tokenEnv: "BREW_TOKEN" };
  await expect(open(address, settings)).rejects.toMatchObject({
    ...{ code: "forge.no-token", retry: "later" },
    message: "The daemon's environment lacks BREW_TOKEN, the token for github.com.",
  });
  await expect(open(address, { ...settings, tokenEnv: "EMPTY" })).rejects.toMatchObject({ code: "forge.no-token" });
  expect(await open("https://git.example.org/acme/coffee", settings)).toBeUndefined();
  expect(await open("/srv/coffee.git", settings)).toBeUndefined();
  const known = createOpenGithub({ env: { ...nowhere, GH_TOKEN: token }, now: () => 0 });
  expect(await known(address, settings)).toBeDefined();
});
