import type { ForgeRepository } from "../../../ports/forge.ts";
import { jsonAt } from "../../json-at.ts";
import type { GithubClient } from "./client.ts";
import { numberOrNoneAt } from "./json-at.ts";
import { pathOf } from "./path-of.ts";

/**
 * How many approvals a branch demands, as far as we may know. GitHub has two kinds of rules: everybody may see the rule
 * sets, only administrators the protection of a branch. What we may not see, GitHub tells when it refuses to merge.
 */
export async function demandedApprovals(
  client: GithubClient,
  repository: ForgeRepository,
  branch: string,
): Promise<number> {
  const hidden = { absent: [403, 404] };
  const rules = await client.getAll(pathOf(repository, "rules", "branches", branch), hidden);
  const protection = await client.get(
    pathOf(repository, "branches", branch, "protection", "required_pull_request_reviews"),
    hidden,
  );
  const counts = rules
    .filter((rule) => jsonAt(rule, "type") === "pull_request")
    .map((rule) => numberOrNoneAt(rule, "parameters", "required_approving_review_count"));
  return Math.max(0, ...[...counts, numberOrNoneAt(protection, "required_approving_review_count")].map((n) => n ?? 0));
}
