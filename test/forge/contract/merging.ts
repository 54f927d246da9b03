import { expect, test } from "vitest";
import { addCheck, addReview, addStatus, askedOf, type Contract, opened, wanted } from "../stage.ts";

export function merging({ stage, cases, isBrief }: Contract): void {
  const merge = (expectedHead = "c1") => stage().forge.merge(1, { method: "squash", expectedHead });
  const pull = () => {
    const [first] = stage().github.state.pulls;
    if (first === undefined) throw new Error("There is no pull request.");
    return first;
  };

  test.each(cases(["merge", "squash", "rebase"] as const))(
    "what nothing speaks against is merged with %s",
    async (method) => {
      await opened(stage());
      addReview(stage(), {});
      addCheck(stage(), "unit", "success");
      const commit = `${method}-of-c1`;
      expect(await stage().forge.merge(1, { method, expectedHead: "c1" })).toEqual({ kind: "merged", commit });
      expect(await stage().forge.getPullRequest(1)).toMatchObject({ state: "merged", mergedCommit: commit });
    },
  );

  test("what is merged already is merged, by whomever, and also when the answer was lost", async () => {
    await opened(stage());
    stage().github.failNext({ kind: "lost", on: /^PUT/ });
    await expect(merge()).rejects.toMatchObject({ code: "forge.unreachable", retry: "later" });
    stage().github.forget();
    expect(await merge()).toEqual({ kind: "merged", commit: "squash-of-c1" });
    expect(await merge("c2")).toEqual({ kind: "merged", commit: "squash-of-c1" });
    expect(askedOf(stage()).filter((each) => each.startsWith("PUT"))).toEqual([]);
  });

  test("another head than was looked at is not merged", async () => {
    await opened(stage());
    stage().github.state.branches.set(wanted.head, "c2");
    expect(await merge()).toEqual({ kind: "moved", reason: "Pull request 1 is at c2 now, not at c1." });
    expect(pull().mergeCommit).toBeUndefined();
  });

  test.each(
    cases([
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
    ]),
  )("GitHub has the last word: %i %s", async (status, message, kind) => {
    await opened(stage());
    stage().github.state.refuseMerge = { status, message };
    const reason = `GitHub refused to merge: ${message.replace(/\s+/g, " ").trim()}`;
    expect(await merge()).toEqual({ kind, reason });
  });

  test("a branch is deleted once, and only where it was left", async () => {
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

  test("a branch that somebody else deletes at the same moment is gone", async () => {
    const { forge, github } = stage();
    github.state.branches.set("odd#name%", "c1");
    github.failNext({ kind: "answer", on: /^DELETE/, status: 422, message: "Reference does not exist" });
    expect(await forge.deleteBranch("odd#name%", "c1")).toEqual({ kind: "gone" });
    expect(await forge.deleteBranch("odd#name%", "c1")).toEqual({ kind: "deleted" });
  });

  if (isBrief) return;

  test("a request for changes, and approvals that are missing, speak against it", async () => {
    await opened(stage());
    addReview(stage(), { state: "CHANGES_REQUESTED" });
    expect(await merge()).toEqual({ kind: "unapproved", reason: "ann asked for changes in pull request 1." });
    addReview(stage(), { state: "APPROVED", commit: "c0" });
    stage().github.state.protectedApprovals = 1;
    expect(await merge()).toEqual({
      kind: "unapproved",
      reason: 'Pull request 1 needs more approvals before "main" takes it. ann approved an older commit.',
    });
    expect(pull().mergeCommit).toBeUndefined();
  });

  test("drafts, conflicts and what is closed cannot be merged", async () => {
    await opened(stage());
    pull().draft = true;
    expect(await merge()).toEqual({ kind: "unmergeable", reason: "Pull request 1 is a draft." });
    Object.assign(pull(), { draft: false, mergeable: false });
    expect(await merge()).toEqual({ kind: "unmergeable", reason: 'Pull request 1 has conflicts with "main".' });
    pull().state = "closed";
    expect(await merge()).toEqual({ kind: "unmergeable", reason: "Pull request 1 is closed." });
  });

  test("where it is unknown whether there are conflicts, GitHub says when it is asked to merge", async () => {
    await opened(stage());
    Object.assign(pull(), { unknownFor: 1, mergeable: false });
    expect(await merge()).toMatchObject({ kind: "unmergeable", reason: expect.stringContaining("is not mergeable") });
    Object.assign(pull(), { unknownFor: 1, mergeable: true });
    expect(await merge()).toMatchObject({ kind: "merged" });
  });

  test("checks that are not green speak against it", async () => {
    await opened(stage());
    addStatus(stage(), "ci", "pending");
    expect(await merge()).toEqual({ kind: "checks-pending", reason: "The checks of c1 are not done." });
    addCheck(stage(), "unit", "failure");
    expect(await merge()).toEqual({ kind: "checks-failing", reason: "Checks failed: unit." });
  });

  test("a way to merge that the repository does not allow does not change by itself", async () => {
    await opened(stage());
    stage().github.state.refuseMerge = { status: 405, message: "Squash merges are not allowed on this repository." };
    await expect(merge()).rejects.toMatchObject({
      ...{ code: "forge.invalid", retry: "never", hint: 'Choose another way to merge than "squash".' },
    });
  });

  test("a branch that must stay says so, and a name that leads elsewhere is none", async () => {
    const { forge, github } = stage();
    await expect(forge.deleteBranch("main", "c0")).rejects.toMatchObject({
      ...{ code: "forge.forbidden", message: expect.stringContaining("Cannot delete the default branch") },
    });
    github.forget();
    for (const name of ["../../pulls", "a/./b", ""])
      await expect(forge.deleteBranch(name, "c0")).rejects.toMatchObject({ code: "forge.invalid" });
    expect(github.requests).toEqual([]);
  });

  test("a repository that we may not see has no branch that is gone", async () => {
    stage().github.state.name = "tea";
    await expect(stage().forge.deleteBranch(wanted.head, "c1")).rejects.toMatchObject({ code: "forge.missing" });
  });
}
