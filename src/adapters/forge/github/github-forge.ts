import type { Forge, ForgeRepository } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { commentsSince } from "./comments-since.ts";
import { deleteBranch } from "./delete-branch.ts";
import { findPullRequests } from "./find-pull-requests.ts";
import { getPull } from "./get-pull.ts";
import { githubTickets } from "./github-tickets.ts";
import { mergePullRequest } from "./merge-pull-request.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { readPullRequest } from "./read-pull-request.ts";
import { statusOf } from "./status-of.ts";
import { writeComment } from "./write-comment.ts";

export interface GithubForgeOptions {
  readonly repository: ForgeRepository;
  /** One for each host will do: it remembers answers and limits. */
  readonly client: GithubClient;
}

/** GitHub, and GitHub Enterprise. */
export function githubForge({ repository, client }: GithubForgeOptions): Forge {
  return {
    openPullRequest: (wanted) => openPullRequest(client, repository, wanted),
    async findPullRequest(head) {
      const found = await findPullRequests(client, repository, head, "all");
      return found.find(({ state }) => state === "open") ?? found[0];
    },
    getPullRequest: async (number) => readPullRequest(await getPull(client, repository, number)),
    statusOf: (number) => statusOf(client, repository, number),
    commentsSince: (number, position) => commentsSince(client, repository, number, position),
    comment: (number, text, key) => writeComment(client, repository, { number, text, key }),
    merge: (number, options) => mergePullRequest(client, repository, number, options),
    ticketsWith: (label) => githubTickets(client, repository, label),
    deleteBranch: (name, expectedCommit) => deleteBranch(client, repository, name, expectedCommit),
  };
}
