import { expect, test } from "vitest";
import { addCheck, addReview, addStatus, type Contract, opened, wanted } from "../stage.ts";

export function standing({ stage }: Contract): void {
  const look = () => stage().forge.statusOf(1);

  test("all pages are read, to the last one", async () => {
    const { github } = stage();
    await opened(stage());
    for (let count = 0; count < 210; count += 1) addCheck(stage(), `c${count}`, "success");
    addCheck(stage(), "e", "failure");
    for (let count = 0; count < 110; count += 1) addStatus(stage(), `s${count}`, "success");
    addStatus(stage(), "f", "failure");
    for (let count = 0; count < 98; count += 1) addReview(stage(), { author: "bob", state: "COMMENTED" });
    for (const author of ["ann", "bob", "cat", "dan"]) addReview(stage(), { author });
    addReview(stage(), { author: "ann", state: "CHANGES_REQUESTED" });
    const { review, reviews, checks } = await look();
    expect(reviews.map(({ author }) => author)).toEqual(["ann", "bob", "cat", "dan"]);
    expect([review, checks.failed.map(({ name }) => name)]).toEqual(["changes-requested", ["e", "f"]]);
    expect(github.requests.filter(({ path }) => path.includes("check-runs"))).toHaveLength(3);
  });

  test("unchanged data is not transferred again", async () => {
    const { github } = stage();
    await opened(stage());
    addReview(stage(), {});
    for (let count = 0; count < 110; count += 1) addCheck(stage(), `c${count}`, "success");
    const before = await look();
    github.forget();
    expect(await look()).toEqual(before);
    const answers = github.requests.filter(({ path }) => !/protection|rules/.test(path)).map(({ status }) => status);
    expect(answers).toEqual(answers.map(() => 304));
    addCheck(stage(), "c", "failure");
    expect((await look()).checks.state).toBe("failing");
  });

  test("a new pull request has neither reviews nor checks", async () => {
    const pullRequest = await opened(stage());
    expect(await look()).toEqual({
      ...{ pullRequest, review: "none", reviews: [], mergeable: "yes" },
      checks: { state: "none", failed: [] },
    });
  });

  test("mergeability that GitHub has not computed yet is not an error", async () => {
    const { github } = stage();
    await opened(stage());
    const [pull] = github.state.pulls;
    if (pull !== undefined) Object.assign(pull, { unknownFor: 2, mergeable: false });
    expect((await look()).mergeable).toBe("unknown");
    expect((await look()).mergeable).toBe("unknown");
    expect((await look()).mergeable).toBe("no");
    expect((await look()).mergeable).toBe("no");
    const asked = github.requests.filter(({ path }) => path.endsWith("/pulls/1"));
    expect(asked.map(({ headers }) => "if-none-match" in headers)).toEqual([false, false, false, true]);
  });

  test("the last verdict of each reviewer counts, and a comment is not a verdict", async () => {
    await opened(stage());
    addReview(stage(), { author: "ann", state: "CHANGES_REQUESTED" });
    addReview(stage(), { author: "bob", state: "APPROVED" });
    expect((await look()).review).toBe("changes-requested");
    addReview(stage(), { author: "ann", state: "APPROVED" });
    addReview(stage(), { author: "ann", state: "COMMENTED" });
    addReview(stage(), { author: "ann", state: "PENDING" });
    const { review, reviews } = await look();
    expect(review).toBe("approved");
    expect(reviews).toMatchObject([
      { author: "ann", word: "approved", commit: "c1", isStale: false, url: expect.stringContaining("#review-") },
      { author: "bob", word: "approved" },
    ]);
  });

  test("a dismissed review does not count, and does not restore an earlier one", async () => {
    await opened(stage());
    addReview(stage(), { state: "APPROVED" });
    const last = addReview(stage(), { state: "CHANGES_REQUESTED" });
    expect((await look()).review).toBe("changes-requested");
    last.state = "DISMISSED";
    expect(await look()).toMatchObject({ review: "none", reviews: [] });
  });

  test("an approval of an older commit is stale and does not count; a request for changes still counts", async () => {
    await opened(stage());
    addReview(stage(), { author: "ann", state: "APPROVED", commit: "c0" });
    expect(await look()).toMatchObject({ review: "none", reviews: [{ author: "ann", isStale: true }] });
    addReview(stage(), { author: "bob", state: "CHANGES_REQUESTED", commit: "c0" });
    expect(await look()).toMatchObject({
      review: "changes-requested",
      reviews: [{}, { author: "bob", isStale: true }],
    });
  });

  test.each(["NONE", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", ""])(
    "who is %j can neither approve nor block",
    async (who) => {
      await opened(stage());
      addReview(stage(), { author: "eve", association: who, state: "APPROVED" });
      addReview(stage(), { author: "mallory", association: who, state: "CHANGES_REQUESTED" });
      expect(await look()).toMatchObject({ review: "none", reviews: [] });
    },
  );

  test("approvals that the base branch requires are required until they are given", async () => {
    const { github } = stage();
    await opened(stage());
    github.state.protectedApprovals = 1;
    expect((await look()).review).toBe("required");
    addReview(stage(), { author: "ann" });
    expect((await look()).review).toBe("approved");
    github.state.ruleApprovals = 2;
    expect((await look()).review).toBe("required");
    addReview(stage(), { author: "bob" });
    expect((await look()).review).toBe("approved");
  });

  test("checks pass when all have ended and none has failed", async () => {
    await opened(stage());
    addCheck(stage(), "unit", "success");
    addCheck(stage(), "docs", "skipped");
    addCheck(stage(), "size", "neutral");
    addStatus(stage(), "ci/lint", "success");
    expect((await look()).checks).toEqual({ state: "passing", failed: [] });
    addStatus(stage(), "ci/slow", "pending");
    expect((await look()).checks).toEqual({ state: "unfinished", failed: [] });
  });

  test("one failed check fails all, and every failed check is named", async () => {
    await opened(stage());
    addCheck(stage(), "slow", null);
    addCheck(stage(), "unit", "failure", { title: "2 failed", summary: "cup.test.ts" });
    addCheck(stage(), "e2e", "timed_out");
    addCheck(stage(), "new", "something_new");
    addStatus(stage(), "ci/lint", "error", "It broke.");
    addStatus(stage(), "ci/old", "success");
    stage().github.state.checkRuns.push({ commit: "c0", name: "other", status: "completed", conclusion: "failure" });
    const { checks } = await look();
    expect(checks.state).toBe("failing");
    expect(checks.failed.map(({ name, summary }) => `${name}: ${summary}`)).toEqual([
      "unit: 2 failed\ncup.test.ts",
      "e2e: timed_out",
      "new: something_new",
      "ci/lint: It broke.",
    ]);
  });

  test("a merged or closed pull request is reported as such", async () => {
    const { github } = stage();
    await opened(stage());
    const [pull] = github.state.pulls;
    if (pull !== undefined) pull.state = "closed";
    expect((await look()).pullRequest.state).toBe("closed");
    if (pull !== undefined) pull.mergeCommit = "m1";
    github.state.branches.delete(wanted.head);
    expect((await look()).pullRequest).toMatchObject({ state: "merged", mergedCommit: "m1" });
  });
}
