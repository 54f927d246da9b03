import { expect, test } from "vitest";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import type { Where } from "./find-tips.ts";
import { publishCommit } from "./publish-commit.ts";

interface Found {
  readonly where: Where;
  /** Changes of the user's own are in the way. */
  readonly isInTheWay?: boolean;
  /** What was published is seen afterwards: where the user is, and at the remote. */
  readonly isSeen?: boolean;
}

/** Publishes the commit `new` onto `old`, here and at a remote. Gives what came of it, and what was moved on the way. */
async function publish({ where, isInTheWay = false, isSeen = true }: Found) {
  const moved: string[] = [];
  const control = {
    inTheWay: async () =>
      isInTheWay ? { kind: "waits", why: "files", text: "a.txt is in the way.", files: [] } : undefined,
    pushBranch: async () => void moved.push("remote"),
    async publish() {
      moved.push("user");
      return { kind: "published", at: "new" };
    },
    syncFrom: async () => ({ branches: { main: isSeen ? "newer" : "elsewhere" } }),
    isAncestor: async (_: string, tip: string) => tip !== "elsewhere",
  } as unknown as ControlRepository;
  const tips = { user: "old", remote: { address: "/remote", at: "old" }, base: "old", apart: false };
  const ports = { where, workspaces: "/workspaces", signal: new AbortController().signal };
  const own = { control } as ProjectWorkspaces;
  const { kind } = await publishCommit(ports, own, { path: "/coffee" } as Project, "main", tips, "new");
  return { kind, moved };
}

test("nothing is pushed before it is known that the user's checkout can follow", async () => {
  expect(await publish({ where: "both", isInTheWay: true })).toEqual({ kind: "waits", moved: [] });
  expect(await publish({ where: "both" })).toEqual({ kind: "published", moved: ["remote", "user"] });
});

test("where the remote's branch is the one that counts, the user's is waited for by nobody", async () => {
  expect(await publish({ where: "remote", isInTheWay: true })).toMatchObject({ kind: "published" });
});

test("what was not seen where it was published has not arrived", async () => {
  expect(await publish({ where: "both", isSeen: false })).toMatchObject({ kind: "moved" });
  expect(await publish({ where: "remote", isSeen: false })).toEqual({ kind: "moved", moved: ["remote"] });
});
