import { expect, test } from "vitest";
import { askedOf, type Contract, opened, wanted } from "../stage.ts";

export function opening({ stage }: Contract): void {
  test("a pull request is opened with the requested fields", async () => {
    const { github, forge } = stage();
    github.state.branches.set(wanted.head, "c1");
    expect(await forge.openPullRequest({ ...wanted, draft: true })).toEqual({
      ...{ number: 1, url: "https://github.com/acme/coffee/pull/1", state: "open" },
      ...{ head: wanted.head, headCommit: "c1", base: "main", isDraft: true, mergedCommit: undefined },
      title: "Brew better",
    });
    expect(github.state.pulls).toMatchObject([{ title: "Brew better", body: "It is schön.", draft: true }]);
  });

  test("a second request gets the same pull request, and nothing is sent twice", async () => {
    const pull = await opened(stage());
    const { forge } = stage();
    expect(await forge.openPullRequest({ ...wanted, title: "Another" })).toEqual(pull);
    expect(await forge.findPullRequest(wanted.head)).toEqual(pull);
    expect(await forge.getPullRequest(1)).toEqual(pull);
    expect(askedOf(stage())).toEqual(["GET pulls", "GET pulls", "GET pulls/1"]);
  });

  test("of two concurrent requests, the slower one finds the pull request of the faster one", async () => {
    const { github, forge } = stage();
    github.state.branches.set(wanted.head, "c1");
    const both = await Promise.all([forge.openPullRequest(wanted), forge.openPullRequest(wanted)]);
    expect(both.map(({ number }) => number)).toEqual([1, 1]);
    expect(github.requests.map(({ method, status }) => `${method} ${status}`).sort()).toEqual(
      expect.arrayContaining(["POST 201", "POST 422"]),
    );
  });

  test("a lost answer costs only one more read", async () => {
    const { github, forge } = stage();
    github.state.branches.set(wanted.head, "c1");
    github.failNext({ kind: "lost", on: /^POST/ });
    await expect(forge.openPullRequest(wanted)).rejects.toMatchObject({ code: "forge.unreachable", retry: "later" });
    expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 1 });
    expect(github.state.pulls).toHaveLength(1);
  });

  test("a missing pull request is a fault that names it", async () => {
    await expect(stage().forge.getPullRequest(7)).rejects.toMatchObject({
      ...{ code: "forge.missing", retry: "never", hint: expect.stringContaining("remote's address") },
      message: expect.stringMatching(
        /has no repos\/acme\/coffee\/pulls\/7, or hides it from this account \(404: Not Found\)/,
      ),
    });
  });

  test("a pull request that has not changed is not sent again", async () => {
    const pull = await opened(stage());
    const { github, forge } = stage();
    for (let times = 0; times < 2; times += 1) expect(await forge.getPullRequest(1)).toEqual(pull);
    expect(github.requests.map(({ status }) => status)).toEqual([200, 304]);
    github.state.branches.set(wanted.head, "c2");
    expect(await forge.getPullRequest(1)).toMatchObject({ headCommit: "c2" });
  });

  test("a pull request that exists but is not listed yet is retried later", async () => {
    const { github, forge } = stage();
    github.state.branches.set(wanted.head, "c1");
    github.failNext({ kind: "answer", on: /^POST/, status: 422, message: "A pull request already exists for x." });
    await expect(forge.openPullRequest(wanted)).rejects.toMatchObject({ code: "forge.unreachable", retry: "later" });
  });

  test("an open pull request is found before newer closed ones, and a merged one if none is open", async () => {
    const { github, forge } = stage();
    await opened(stage());
    github.state.branches.set("develop", "d0");
    await forge.openPullRequest(wanted);
    const [first] = github.state.pulls;
    if (first === undefined) throw new Error("There is no pull request.");
    github.state.pulls.push({ ...first, number: 2, state: "closed" });
    expect(await forge.findPullRequest(wanted.head)).toMatchObject({ number: 1, state: "open" });
    Object.assign(first, { state: "closed", mergeCommit: "m1" });
    github.state.pulls.pop();
    expect(await forge.findPullRequest(wanted.head)).toMatchObject({ number: 1, state: "merged", mergedCommit: "m1" });
    expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 2, state: "open", mergedCommit: undefined });
  });

  test("a branch of a fork with the same name, and other branches, do not match", async () => {
    const { github, forge } = stage();
    await opened(stage());
    const [first] = github.state.pulls;
    if (first !== undefined) first.isFromFork = true;
    expect(await forge.findPullRequest(wanted.head)).toBeUndefined();
    expect(await forge.findPullRequest("agent/a")).toBeUndefined();
  });

  test("the pull request with the requested base is preferred, and an existing one with another base is reused", async () => {
    const { github, forge } = stage();
    await opened(stage());
    const [first] = github.state.pulls;
    if (first === undefined) throw new Error("There is no pull request.");
    github.state.pulls.push({ ...first, number: 2, base: "develop" });
    expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 1, base: "main" });
    expect(await forge.openPullRequest({ ...wanted, base: "next" })).toMatchObject({ number: 2, base: "develop" });
  });

  test("a pull request that cannot be opened is refused with the reason and a fix", async () => {
    const { github, forge } = stage();
    await expect(forge.openPullRequest(wanted)).rejects.toMatchObject({
      ...{ code: "forge.invalid", retry: "never", hint: expect.stringContaining("is pushed") },
      message: 'GitHub refused to open a pull request from "agent/a-7" to "main": Validation Failed "head" is invalid.',
    });
    github.state.branches.set(wanted.head, "c0");
    await expect(forge.openPullRequest(wanted)).rejects.toMatchObject({
      ...{ code: "forge.invalid", hint: expect.stringContaining("Commit something") },
      message: expect.stringContaining("No commits between main and agent/a-7"),
    });
  });

  test("texts that are too long are cut between whole characters, and titles are one line", async () => {
    const { github, forge } = stage();
    github.state.branches.set(wanted.head, "c1");
    await forge.openPullRequest({ ...wanted, title: ` Brew\n${"😀".repeat(200)}`, body: "😀".repeat(50_000) });
    const [pull] = github.state.pulls;
    expect(pull?.title).toMatch(/^Brew (😀){125}…$/u);
    expect(pull?.body).toMatch(/^(😀)+…$/u);
    expect(pull?.body.length).toBeLessThanOrEqual(65_000);
  });
}
