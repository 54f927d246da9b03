import { expect, test } from "vitest";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import { publishCommit, type Where } from "../landing-place.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

interface Found {
  readonly where: Where;
  /** The user's own changes block the update of the checkout. */
  readonly isInTheWay?: boolean;
  /** Whether the published commit is seen afterwards: in the user's repository, and at the remote. */
  readonly isSeen?: boolean;
}

/** Publishes the commit `new` onto `old`, locally and at a remote. Returns the result, and which refs were moved. */
async function publish({ where, isInTheWay = false, isSeen = true }: Found) {
  const moved: string[] = [];
  const control = {
    inTheWay: async () =>
      isInTheWay ? { kind: "waits", why: "files", text: "a.txt is in the way.", files: [] } : undefined,
    pushBranch: async () => void moved.push("remote"),
    moveRef: async () => {},
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

test("if the remote's branch is authoritative, a merge does not wait for the user's checkout", async () => {
  expect(await publish({ where: "remote", isInTheWay: true })).toMatchObject({ kind: "published" });
});

test("a commit that is not seen in the branch after publishing does not count as published", async () => {
  expect(await publish({ where: "both", isSeen: false })).toMatchObject({ kind: "moved" });
  expect(await publish({ where: "remote", isSeen: false })).toEqual({ kind: "moved", moved: ["remote"] });
});
