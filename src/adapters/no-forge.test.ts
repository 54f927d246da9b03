import { expect, test } from "vitest";
import { type AskedPullRequest, noneForge } from "./no-forge.ts";

const wanted = { head: "agent/a-7", base: "main", title: "Brew better", body: "It is schön.", draft: false };

/** The adapter for projects without a forge, and its stored pull requests. */
function stage() {
  const written = new Map<number, AskedPullRequest>();
  const forge = noneForge({
    list: async () => [...written.values()],
    save: async (each) => void written.set(each.number, each),
  });
  return { written, forge };
}

test("requested pull requests are stored, one per branch, and numbered", async () => {
  const { written, forge } = stage();
  const [first, again, other] = await Promise.all([
    forge.openPullRequest(wanted),
    forge.openPullRequest({ ...wanted, title: "Again" }),
    forge.openPullRequest({ ...wanted, head: "agent/b-8", draft: true }),
  ]);
  expect(first).toEqual({
    ...{ number: 1, url: "", state: "open", head: "agent/a-7", headCommit: "", base: "main", isDraft: false },
    ...{ title: "Brew better", mergedCommit: undefined },
  });
  expect(again).toEqual(first);
  expect(other).toMatchObject({ number: 2, isDraft: true });
  expect([...written.values()]).toMatchObject([{ title: "Brew better", body: "It is schön." }, { number: 2 }]);
  expect(await forge.findPullRequest("agent/a-7")).toEqual(first);
  expect(await forge.getPullRequest(1)).toEqual(first);
  expect(await forge.findPullRequest("main")).toBeUndefined();
});

test("after a pull request has ended, its branch can get another", async () => {
  const { written, forge } = stage();
  await forge.openPullRequest(wanted);
  for (const each of [...written.values()]) written.set(each.number, { ...each, state: "closed" });
  expect(await forge.findPullRequest(wanted.head)).toMatchObject({ number: 1, state: "closed" });
  expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 2, state: "open" });
  expect(await forge.findPullRequest(wanted.head)).toMatchObject({ number: 2 });
});

test("there are no reviews, checks or comments", async () => {
  const { forge } = stage();
  const pullRequest = await forge.openPullRequest(wanted);
  expect(await forge.statusOf(1)).toEqual({
    ...{ pullRequest, review: "none", reviews: [], mergeable: "unknown" },
    checks: { state: "none", failed: [] },
  });
  expect(await forge.commentsSince(1, "")).toEqual({ comments: [], position: "" });
});

test("comments are stored once per key", async () => {
  const { written, forge } = stage();
  await forge.openPullRequest(wanted);
  await Promise.all([forge.comment(1, "One.", "k1"), forge.comment(1, "Two.", "k2"), forge.comment(1, "Three.", "k1")]);
  expect(written.get(1)?.comments).toEqual({ k1: "One.", k2: "Two." });
});

test("a person merges, and a merged pull request is reported as merged", async () => {
  const { written, forge } = stage();
  await forge.openPullRequest(wanted);
  const order = { method: "merge", expectedHead: "c1" } as const;
  expect(await forge.merge(1, order)).toEqual({
    kind: "unmergeable",
    reason: 'The project has no forge to merge it. Merge "agent/a-7" into "main" in the repository yourself.',
  });
  for (const each of [...written.values()]) written.set(1, { ...each, state: "merged", mergedCommit: "m1" });
  expect(await forge.merge(1, order)).toEqual({ kind: "merged", commit: "m1" });
  expect(await forge.deleteBranch("agent/a-7", "c1")).toEqual({ kind: "gone" });
});

test("an unknown pull request is missing, and a failing store does not block later requests", async () => {
  const { forge } = stage();
  for (const ask of [forge.getPullRequest, forge.statusOf, (n: number) => forge.comment(n, "Hm.", "k")])
    await expect(ask(7)).rejects.toMatchObject({ code: "forge.missing" });
  expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 1 });
});
