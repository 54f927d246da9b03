import { expect, test } from "vitest";
import { type AskedPullRequest, noneForge } from "./none-forge.ts";

const wanted = { head: "agent/a-7", base: "main", title: "Brew better", body: "It is schön.", draft: false };

/** A forge that is none, and what it has written down. */
function stage() {
  const written = new Map<number, AskedPullRequest>();
  const forge = noneForge({
    list: async () => [...written.values()],
    save: async (each) => void written.set(each.number, each),
  });
  return { written, forge };
}

test("what was asked for is written down, once for each branch, and numbered", async () => {
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

test("one that is over makes room for the next", async () => {
  const { written, forge } = stage();
  await forge.openPullRequest(wanted);
  for (const each of [...written.values()]) written.set(each.number, { ...each, state: "closed" });
  expect(await forge.findPullRequest(wanted.head)).toMatchObject({ number: 1, state: "closed" });
  expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 2, state: "open" });
  expect(await forge.findPullRequest(wanted.head)).toMatchObject({ number: 2 });
});

test("nobody reviews, checks or answers", async () => {
  const { forge } = stage();
  const pullRequest = await forge.openPullRequest(wanted);
  expect(await forge.statusOf(1)).toEqual({
    ...{ pullRequest, review: "none", reviews: [], mergeable: "unknown" },
    checks: { state: "none", failed: [] },
  });
  expect(await forge.commentsSince(1, "")).toEqual({ comments: [], position: "" });
});

test("comments are kept, once for each key", async () => {
  const { written, forge } = stage();
  await forge.openPullRequest(wanted);
  await Promise.all([forge.comment(1, "One.", "k1"), forge.comment(1, "Two.", "k2"), forge.comment(1, "Three.", "k1")]);
  expect(written.get(1)?.comments).toEqual({ k1: "One.", k2: "Two." });
});

test("merging is left to a person, and what they merged is merged", async () => {
  const { written, forge } = stage();
  await forge.openPullRequest(wanted);
  const order = { method: "merge", expectedHead: "c1" } as const;
  expect(await forge.merge(1, order)).toEqual({
    kind: "unmergeable",
    reason: 'There is no forge that could merge. Merge "agent/a-7" into "main" in the repository itself.',
  });
  for (const each of [...written.values()]) written.set(1, { ...each, state: "merged", mergedCommit: "m1" });
  expect(await forge.merge(1, order)).toEqual({ kind: "merged", commit: "m1" });
  expect(await forge.deleteBranch("agent/a-7", "c1")).toEqual({ kind: "gone" });
});

test("what nobody asked for is missing, and a store that fails does not keep others waiting", async () => {
  const { forge } = stage();
  for (const ask of [forge.getPullRequest, forge.statusOf, (n: number) => forge.comment(n, "Hm.", "k")])
    await expect(ask(7)).rejects.toMatchObject({ code: "forge.missing" });
  expect(await forge.openPullRequest(wanted)).toMatchObject({ number: 1 });
});
