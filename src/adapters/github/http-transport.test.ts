import { afterEach, beforeEach, expect, test } from "vitest";
import { type ScriptedGithub, startScriptedGithub } from "../../../test/scripted-github/server.ts";
import { createGithubClient } from "./client.ts";
import { githubForge } from "./github.ts";
import { type HttpTransportOptions, httpTransport } from "./transport.ts";

const token = "ghp_verysecretindeed0123456789";
const wanted = { head: "agent/a-7", base: "main", title: "Brew", body: "", draft: false };

let github: ScriptedGithub;
let other: ScriptedGithub;
beforeEach(async () => {
  github = await startScriptedGithub({ token });
  other = await startScriptedGithub({ token });
  github.state.branches.set(wanted.head, "c1");
});
afterEach(async () => {
  await github.close();
  await other.close();
});

function forgeOf(name = "coffee", options: Partial<HttpTransportOptions> = {}) {
  const transport = httpTransport({ apiUrl: github.url, token, ...options });
  const client = createGithubClient(transport, () => 0);
  return githubForge({ repository: { host: "github.com", owner: "acme", name }, client });
}

test("every request names the version of the API, the accepted format, and its sender", async () => {
  await forgeOf("coffee", { token: ` ${token}\n` }).openPullRequest(wanted);
  const [get, post] = github.requests;
  const headers = {
    ...{ "x-github-api-version": "2022-11-28", accept: "application/vnd.github+json" },
    ...{ "user-agent": "signalbox", authorization: `Bearer ${token}` },
  };
  expect(get).toMatchObject({ method: "GET", headers, body: "" });
  expect(get?.path).toBe(
    "/repos/acme/coffee/pulls?state=open&head=acme%3Aagent%2Fa-7&sort=created&direction=desc&per_page=100",
  );
  expect(post).toMatchObject({ method: "POST", headers: { ...headers, "content-type": "application/json" } });
  expect(JSON.parse(post?.body ?? "")).toEqual(wanted);
});

test("without a token a private repository is refused, and the hint says how to get a token", async () => {
  await expect(forgeOf("coffee", { token: undefined }).getPullRequest(1)).rejects.toMatchObject({
    ...{ code: "forge.unauthorized", hint: "Log in with gh auth login, or set GH_TOKEN to a token." },
  });
  expect(github.requests[0]?.headers).not.toHaveProperty("authorization");
});

test("a renamed repository is not written to", async () => {
  await expect(forgeOf("old-name").openPullRequest(wanted)).rejects.toMatchObject({
    ...{ code: "forge.renamed", retry: "never", hint: expect.stringContaining("git remote set-url") },
  });
  expect(github.state.pulls).toEqual([]);
});

test("a redirect to another server is not followed", async () => {
  github.failNext({ kind: "answer", status: 301, headers: { location: `${other.url}/repos/acme/coffee/pulls/1` } });
  await expect(forgeOf().getPullRequest(1)).rejects.toMatchObject({ code: "forge.renamed" });
  expect(other.requests).toEqual([]);
});

test.each(["/repos/acme/coffee/pulls/1", "http://", ""])("redirects to %j do not loop for ever", async (location) => {
  github.failNext({ kind: "answer", status: 302, headers: { location }, times: 9 });
  await expect(forgeOf().getPullRequest(1)).rejects.toMatchObject({ code: "forge.renamed" });
  expect(github.requests.length).toBeLessThanOrEqual(2);
});

test("a next page on another server is not requested", async () => {
  const link = `<${other.url}/repos/acme/coffee/pulls?page=2>; rel="next"`;
  github.failNext({ kind: "answer", status: 200, headers: { link }, json: [] });
  await expect(forgeOf().findPullRequest("x")).rejects.toMatchObject({
    ...{ code: "forge.garbled", message: "The next page of GitHub's list is not below its API." },
  });
  expect(other.requests).toEqual([]);
});

test("pages that link in a circle are an error", async () => {
  const link = `<${github.url}/repos/acme/coffee/pulls?page=2>; rel="next"`;
  github.failNext({ kind: "answer", status: 200, headers: { link }, json: [], times: 9 });
  await expect(forgeOf().findPullRequest("x")).rejects.toMatchObject({
    ...{ code: "forge.garbled", message: expect.stringContaining("does not end") },
  });
  expect(github.requests).toHaveLength(2);
});

test.each([
  "http://github.example.org/api/v3",
  "https://me:hunter2@github.example.org/api/v3",
  "https://github.example.org/api/v3?key=hunter2",
  "ftp://hunter2",
  "hunter2",
])("%j is not a valid address of an API", (apiUrl) => {
  expect(() => httpTransport({ apiUrl, token })).toThrow(
    expect.objectContaining({ code: "forge.bad-url", message: expect.not.stringContaining("hunter2") }),
  );
});

test.each(["ghp_hunter2\r\nx-evil: 1", "ghp_hunter2 ghp_hunter2", "ghp_hunter2é"])(
  "%j is not a valid token",
  (wrong) => {
    expect(() => httpTransport({ apiUrl: github.url, token: wrong })).toThrow(
      expect.objectContaining({ code: "forge.bad-token", message: expect.not.stringContaining("hunter2") }),
    );
  },
);

test("an unreachable server is worth a retry", async () => {
  const { url } = github;
  await github.close();
  await expect(forgeOf().getPullRequest(1)).rejects.toMatchObject({
    ...{ code: "forge.unreachable", retry: "later" },
    // Another test of this process may have had the same port, and left a connection to it.
    message: expect.stringMatching(new RegExp(`^GitHub at ${url} could not be reached \\(\\w+\\)\\.$`)),
  });
});

test("the root of an API may be below a path", async () => {
  const transport = httpTransport({ apiUrl: `${github.url}/repos/`, token });
  expect(transport.apiUrl).toBe(`${github.url}/repos`);
  const response = await transport.send({ method: "GET", path: "acme/coffee", headers: {}, body: undefined });
  expect(response.status).toBe(200);
});
