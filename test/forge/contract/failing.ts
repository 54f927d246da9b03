import { expect, test } from "vitest";
import { retryAtOf } from "../../../src/fault.ts";
import { askedOf, type Contract, opened } from "../stage.ts";

export function failing({ stage, token }: Contract): void {
  const ask = () => stage().forge.getPullRequest(1);
  const fault = () =>
    ask().then(
      () => expect.unreachable(),
      (error: Error) => error,
    );

  test.each([
    ["a time to wait", 429, { "retry-after": "30" }, 30_000],
    ["a time to wait, with 403", 403, { "retry-after": "120" }, 120_000],
    ["the end of the hour, by its own clock", 403, hour(1_800), 1_800_000],
    ["an end that has passed already", 429, hour(-5), 1_000],
    ["nothing", 429, {}, 60_000],
    ["something nobody can read", 429, { "retry-after": "soon" }, 60_000],
    ["more than a day", 429, { "retry-after": "99999999999999" }, 86_400_000],
  ])("a request that met a rate limit with %s is retried after its end", async (_, status, headers, wait) => {
    const { github, now } = stage();
    await opened(stage());
    github.failNext({ kind: "answer", status, headers, message: "API rate limit exceeded" });
    const error = await fault();
    const time = new Date(now + wait).toISOString();
    expect(error).toMatchObject({ code: "forge.limited", retry: "later", hint: `Signalbox retries after ${time}.` });
    expect(error.message).toContain(`accepts no more requests until ${time} (${status}: API rate limit exceeded).`);
    expect(retryAtOf(error)).toBe(now + wait);
  });

  test("a timeout is temporary", async () => {
    await opened(stage());
    stage().github.failNext({ kind: "slow" });
    await expect(stage().impatient.getPullRequest(1)).rejects.toMatchObject({
      ...{ code: "forge.unreachable", retry: "later", message: expect.stringMatching(/within 0\.2 s\.$/) },
    });
  });

  test.each([500, 502, 503, 408])("the status %i is temporary", async (status) => {
    await opened(stage());
    stage().github.failNext({ kind: "answer", status });
    const error = await fault();
    expect(error).toMatchObject({ code: "forge.unreachable", retry: "later" });
    expect(error.message).toMatch(new RegExp(`failed \\(${status}\\)\\.$`));
    expect(await ask()).toMatchObject({ number: 1 });
  });

  test.each(["hang-up", "truncated", "malformed"] as const)("an answer that is %s is temporary", async (kind) => {
    await opened(stage());
    stage().github.failNext({ kind });
    const error = await fault();
    expect(error).toMatchObject({ code: expect.stringMatching(/^forge\.(unreachable|garbled)$/), retry: "later" });
    expect(error.message).toMatch(/^.+[.]$|^"gh" brought no answer from github\.com: .+$/);
    expect(await ask()).toMatchObject({ number: 1 });
  });

  test.each([
    [
      "the scope",
      404,
      { "x-oauth-scopes": "gist", "x-accepted-oauth-scopes": "repo" },
      /needs the scope repo, but has the scope gist\.$/,
    ],
    [
      "the scope, where it has none",
      403,
      { "x-oauth-scopes": "", "x-accepted-oauth-scopes": "repo, public_repo" },
      /needs the scope repo or public_repo, but has no scope\.$/,
    ],
    [
      "the permission",
      403,
      { "x-accepted-github-permissions": "pull_requests=write; contents=write" },
      /needs the permission pull_requests=write or contents=write\.$/,
    ],
    [
      "single sign-on",
      403,
      { "x-github-sso": "required; url=https://github.com/orgs/acme/sso?x=1" },
      /single sign-on.* https:\/\/github\.com\/orgs\/acme\/sso\?x=1$/,
    ],
    ["nothing in particular", 403, { "x-oauth-scopes": "repo", "x-accepted-oauth-scopes": "repo" }, /not archived\.$/],
  ])("a request that is refused for want of %s says so", async (_, status, headers, hint) => {
    await opened(stage());
    stage().github.failNext({ kind: "answer", status, headers, message: "No." });
    const error = await fault();
    const code = status === 403 ? "forge.forbidden" : "forge.missing";
    expect(error).toMatchObject({ code, retry: "never", hint: expect.stringMatching(hint) });
    expect(error.message).toMatch(/repos\/acme\/coffee\/pulls\/1.* \(40[34]: No\.\)\.$/);
  });

  test("a refused token is reported, and no message contains a token, even if the server repeats it", async () => {
    await opened(stage());
    stage().github.failNext({ kind: "answer", status: 401, message: `Bad credentials: ${token}\u001b` });
    const error = await fault();
    expect(error).toMatchObject({
      code: "forge.unauthorized",
      retry: "never",
      hint: expect.stringMatching(/GH_TOKEN|gh auth/),
    });
    expect(error.message).toMatch(/does not accept the token \(401: Bad credentials: … ?\)\.$/);
    expect(JSON.stringify([error, error.cause])).not.toContain(token);
  });

  test("a renamed repository can still be read", async () => {
    await opened(stage());
    expect(await stage().renamed.getPullRequest(1)).toMatchObject({
      number: 1,
      url: expect.stringContaining("coffee"),
    });
    expect((await stage().renamed.statusOf(1)).review).toBe("none");
  });

  test("during a rate limit nothing is sent, and afterwards requests continue", async () => {
    const { github, pass } = stage();
    await opened(stage());
    const message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    github.failNext({ kind: "answer", status: 403, message });
    expect(await fault()).toMatchObject({ code: "forge.limited", retry: "later" });
    pass(59_000);
    expect(await fault()).toMatchObject({ code: "forge.limited" });
    expect(askedOf(stage())).toHaveLength(1);
    pass(1_000);
    expect(await ask()).toMatchObject({ number: 1 });
  });

  test("JSON of an unexpected shape is temporary", async () => {
    await opened(stage());
    stage().github.failNext({ kind: "answer", status: 200, message: "Welcome to our Wi-Fi" });
    expect(await fault()).toMatchObject({
      ...{ code: "forge.garbled", retry: "later", message: 'GitHub\'s answer has no "state".' },
    });
    stage().github.failNext({ kind: "answer", status: 200, message: "Welcome to our Wi-Fi" });
    await expect(stage().forge.findPullRequest("x")).rejects.toMatchObject({ code: "forge.garbled" });
  });
}

/** Headers of a rate limit that ends this many seconds after the server's time. */
function hour(seconds: number): Record<string, string> {
  const theirs = Date.UTC(2031, 0, 1);
  return {
    date: new Date(theirs).toUTCString(),
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(theirs / 1_000 + seconds),
  };
}
