import { expect, test } from "vitest";
import { addCheck, addReview, addStatus, askedOf, type Contract, opened, wanted } from "../stage.ts";

export function merging({ stage }: Contract): void {
  const merge = (expectedHead = "c1") => stage().forge.merge(1, { method: "squash", expectedHead });
  const pull = () => {
    const [first] = stage().github.state.pulls;
    if (first === undefined) throw new Error("There is no pull request.");
    return first;
  };

  test.each(["merge", "squash", "rebase"] as const)("a mergeable pull request is merged with %s", async (method) => {
    await opened(stage());
    addReview(stage(), {});
    addCheck(stage(), "unit", "success");
    const commit = `${method}-of-c1`;
    expect(await stage().forge.merge(1, { method, expectedHead: "c1" })).toEqual({ kind: "merged", commit });
    expect(await stage().forge.getPullRequest(1)).toMatchObject({ state: "merged", mergedCommit: commit });
  });

  test("a pull request that is already merged counts as merged, by any person, and also if the answer was lost", async () => {
    await opened(stage());
    stage().github.failNext({ kind: "lost", on: /^PUT/ });
    await expect(merge()).rejects.toMatchObject({ code: "forge.unreachable", retry: "later" });
    stage().github.forget();
    expect(await merge()).toEqual({ kind: "merged", commit: "squash-of-c1" });
    expect(await merge("c2")).toEqual({ kind: "merged", commit: "squash-of-c1" });
    expect(askedOf(stage()).filter((each) => each.startsWith("PUT"))).toEqual([]);
  });

  test("a head other than the reviewed one is not merged", async () => {
    await opened(stage());
    stage().github.state.branches.set(wanted.head, "c2");
    expect(await merge()).toEqual({ kind: "moved", reason: "Pull request 1 is at c2 now, not at c1." });
    expect(pull().mergeCommit).toBeUndefined();
  });

  test.each([
    [405, "At least 1 approving review is required by reviewers with write access.", "unapproved"],
    [405, "Repository rule violations found\n\nWaiting on code owner review from acme/baristas.\n\n", "unapproved"],
    [405, "Changes were requested by reviewers with write access.", "unapproved"],
    [405, 'Required status check "ci" is expected.', "checks-pending"],
    [405, "2 of 3 required status checks are pending.", "checks-pending"],
    [405, 'Required status check "ci" is failing.', "checks-failing"],
    [405, "Base branch was modified. Review and try the merge again.", "unmergeable"],
    [405, "Changes must be made through the merge queue", "unmergeable"],
    [409, "Head branch was modified. Review and try the merge again.", "moved"],
    [409, "Merge conflict", "unmergeable"],
  ])("GitHub's refusal decides: %i %s", async (status, message, kind) => {
    await opened(stage());
    stage().github.state.refuseMerge = { status, message };
    const reason = `GitHub refused to merge: ${message.replace(/\s+/g, " ").trim()}`;
    expect(await merge()).toEqual({ kind, reason });
  });

  test("a branch is deleted once, and only at the expected commit", async () => {
    const { forge, github } = stage();
    await opened(stage());
    expect(await forge.deleteBranch(wanted.head, "c0")).toEqual({
      ...{ kind: "moved", reason: 'The branch "agent/a-7" is at c1 now, not at c0.' },
    });
    expect(github.state.branches.has(wanted.head)).toBe(true);
    expect(await forge.deleteBranch(wanted.head, "c1")).toEqual({ kind: "deleted" });
    expect(await forge.deleteBranch(wanted.head, "c1")).toEqual({ kind: "gone" });
    expect([...github.state.branches.keys()]).toEqual(["main"]);
  });

  test("a branch that is deleted concurrently counts as deleted", async () => {
    const { forge, github } = stage();
    github.state.branches.set("odd#name%", "c1");
    github.failNext({ kind: "answer", on: /^DELETE/, status: 422, message: "Reference does not exist" });
    expect(await forge.deleteBranch("odd#name%", "c1")).toEqual({ kind: "gone" });
    expect(await forge.deleteBranch("odd#name%", "c1")).toEqual({ kind: "deleted" });
  });

  test("a request for changes, or a missing approval, prevents the merge", async () => {
    await opened(stage());
    addReview(stage(), { state: "CHANGES_REQUESTED" });
    expect(await merge()).toEqual({ kind: "unapproved", reason: "ann requested changes in pull request 1." });
    addReview(stage(), { state: "APPROVED", commit: "c0" });
    stage().github.state.protectedApprovals = 1;
    expect(await merge()).toEqual({
      kind: "unapproved",
      reason: 'Pull request 1 needs more approvals before it can be merged into "main". ann approved an older commit.',
    });
    expect(pull().mergeCommit).toBeUndefined();
  });

  test("drafts, conflicting and closed pull requests cannot be merged", async () => {
    await opened(stage());
    pull().draft = true;
    expect(await merge()).toEqual({ kind: "unmergeable", reason: "Pull request 1 is a draft." });
    Object.assign(pull(), { draft: false, mergeable: false });
    expect(await merge()).toEqual({ kind: "unmergeable", reason: 'Pull request 1 has conflicts with "main".' });
    pull().state = "closed";
    expect(await merge()).toEqual({ kind: "unmergeable", reason: "Pull request 1 is closed." });
  });

  test("if conflicts are unknown, GitHub decides when the merge is requested", async () => {
    await opened(stage());
    Object.assign(pull(), { unknownFor: 1, mergeable: false });
    expect(await merge()).toMatchObject({ kind: "unmergeable", reason: expect.stringContaining("is not mergeable") });
    Object.assign(pull(), { unknownFor: 1, mergeable: true });
    expect(await merge()).toMatchObject({ kind: "merged" });
  });

  test("checks that have not passed prevent the merge", async () => {
    await opened(stage());
    addStatus(stage(), "ci", "pending");
    expect(await merge()).toEqual({ kind: "checks-pending", reason: "The checks of c1 are still running." });
    addCheck(stage(), "unit", "failure");
    expect(await merge()).toEqual({ kind: "checks-failing", reason: "Checks failed: unit." });
  });

  test("a merge method that the repository does not allow is a permanent fault", async () => {
    await opened(stage());
    stage().github.state.refuseMerge = { status: 405, message: "Squash merges are not allowed on this repository." };
    await expect(merge()).rejects.toMatchObject({
      ...{ code: "forge.invalid", retry: "never", hint: 'Choose another merge method than "squash".' },
    });
  });

  test("a protected branch is reported, and a name that leads elsewhere is refused", async () => {
    const { forge, github } = stage();
    await expect(forge.deleteBranch("main", "c0")).rejects.toMatchObject({
      ...{ code: "forge.forbidden", message: expect.stringContaining("Cannot delete the default branch") },
    });
    github.forget();
    for (const name of ["../../pulls", "a/./b", ""])
      await expect(forge.deleteBranch(name, "c0")).rejects.toMatchObject({ code: "forge.invalid" });
    expect(github.requests).toEqual([]);
  });

  test("in a repository without access, a branch does not count as deleted", async () => {
    stage().github.state.name = "tea";
    await expect(stage().forge.deleteBranch(wanted.head, "c1")).rejects.toMatchObject({ code: "forge.missing" });
  });
}
