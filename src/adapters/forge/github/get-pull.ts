import type { ForgeRepository, PullRequestStatus } from "../../../ports/forge.ts";
import { jsonAt } from "../../json-at.ts";
import type { GithubClient } from "./client.ts";
import { pathOf } from "./path-of.ts";

/** A pull request with everything that GitHub knows about it. */
export function getPull(client: GithubClient, repository: ForgeRepository, number: number): Promise<unknown> {
  // What GitHub still has to work out must not be answered from what we kept.
  const keeps = (json: unknown) => mergeableIn(json) !== "unknown";
  return client.get(pathOf(repository, "pulls", number), { keeps });
}

/** GitHub begins to work it out when it is asked, and says null until then. */
export function mergeableIn(json: unknown): PullRequestStatus["mergeable"] {
  const found = jsonAt(json, "mergeable");
  return typeof found === "boolean" ? (found ? "yes" : "no") : "unknown";
}
