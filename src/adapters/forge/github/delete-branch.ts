import { Fault } from "../../../fault.ts";
import type { BranchDeletion, ForgeRepository } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { textAt } from "./json-at.ts";
import { pathOf } from "./path-of.ts";

/** GitHub cannot compare and delete at once, so what is pushed between looking and deleting goes unseen. */
export async function deleteBranch(
  client: GithubClient,
  repository: ForgeRepository,
  name: string,
  expectedCommit: string,
): Promise<BranchDeletion> {
  const ref = ["heads", ...name.split("/")];
  const found = await client.get(pathOf(repository, "git", "ref", ...ref), { absent: [404] });
  if (found === undefined) {
    // A repository that we may not see has no branches either.
    await client.get(pathOf(repository));
    return { kind: "gone" };
  }
  const commit = textAt(found, "object", "sha");
  if (commit !== expectedCommit)
    return { kind: "moved", reason: `The branch "${name}" is at ${commit} now, not at ${expectedCommit}.` };
  const { status, said } = await client.send("DELETE", pathOf(repository, "git", "refs", ...ref), undefined, [422]);
  if (status !== 422) return { kind: "deleted" };
  if (/does not exist/i.test(said)) return { kind: "gone" };
  throw new Fault("forge.forbidden", `GitHub does not delete the branch "${name}": ${said}`, {
    hint: "Check that it is neither protected nor the default branch.",
  });
}
