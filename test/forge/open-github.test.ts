import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createOpenGithub } from "../../src/adapters/forge/github/open-github.ts";
import { startScriptedGithub } from "../../src/testing/scripted-github.ts";
import { removeFolder } from "../remove-folder.ts";
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

test("a remote is a forge only where it is on GitHub and we are let in", async () => {
  const { github, folder, nowhere } = await startStage();
  const open = (env: Record<string, string | undefined>, where = address) =>
    createOpenGithub({ env, now: () => 0 })(where, usual);
  expect(await open(nowhere)).toBeUndefined();
  expect(await open({ ...nowhere, GH_TOKEN: token }, "/srv/coffee.git")).toBeUndefined();
  expect(await open({ ...nowhere, GH_TOKEN: token }, "git@gitlab.com:acme/coffee.git")).toBeUndefined();
  expect(await open({ ...nowhere, GH_TOKEN: token })).toBeDefined();
  const { env } = placeGh(folder, github.url, token);
  const throughGh = await open(env);
  expect(await throughGh?.findPullRequest("brew")).toBeUndefined();
  expect(github.requests.length).toBe(1);
});

test("the token that the configuration names goes to the host that it names, and to no other", async () => {
  const { github, nowhere } = await startStage();
  const open = createOpenGithub({ env: { ...nowhere, BREW_TOKEN: token }, now: () => 0 });
  const settings = { host: "Git.Example.org", apiUrl: github.url, tokenEnv: "BREW_TOKEN" };
  const forge = await open("https://git.example.org/acme/coffee", settings);
  expect(await forge?.findPullRequest("brew")).toBeUndefined();
  expect(github.requests.length).toBe(1);
  expect(await open(address, settings)).toBeUndefined();
  expect(await open("https://evil.org/acme/coffee", settings)).toBeUndefined();
  expect(await open(address, { ...settings, host: "" })).toBeDefined();
  expect(await open(address, { ...settings, host: "", tokenEnv: "OTHER" })).toBeUndefined();
});
