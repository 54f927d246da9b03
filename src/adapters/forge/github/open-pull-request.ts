import { Fault } from "../../../fault.ts";
import type { ForgeRepository, PullRequest, WantedPullRequest } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { cutText, mostText } from "./cut-text.ts";
import { findPullRequests } from "./find-pull-requests.ts";
import { pathOf } from "./path-of.ts";
import { readPullRequest } from "./read-pull-request.ts";

// What GitHub takes at most.
const mostTitle = 256;

export async function openPullRequest(
  client: GithubClient,
  repository: ForgeRepository,
  wanted: WantedPullRequest,
): Promise<PullRequest> {
  const { head, base, title, body, draft } = wanted;
  const findOpen = async () => {
    const open = await findPullRequests(client, repository, head, "open");
    return open.find((each) => each.base === base) ?? open[0];
  };
  const before = await findOpen();
  if (before !== undefined) return before;
  const asked = {
    ...{ head, base, draft },
    title: cutText(title.replace(/\s+/g, " ").trim(), mostTitle),
    body: cutText(body, mostText),
  };
  const { status, json, said } = await client.send("POST", pathOf(repository, "pulls"), asked, [422]);
  if (status !== 422) return readPullRequest(json);
  if (!/already exists/i.test(said)) throw refused(wanted, said);
  // Somebody was faster.
  return (await findOpen()) ?? hiddenStill(head);
}

function refused({ head, base, draft }: WantedPullRequest, said: string): Fault {
  return new Fault("forge.invalid", `GitHub opens no pull request from "${head}" to "${base}": ${said}`, {
    hint: hintFor(said, draft) ?? `Check that "${base}" is on GitHub and that "${head}" is pushed.`,
  });
}

function hintFor(said: string, draft: boolean): string | undefined {
  if (/no commits between/i.test(said)) return "There is nothing to merge: commit something first.";
  return draft && /draft/i.test(said) ? "This repository has no drafts: open it without." : undefined;
}

function hiddenStill(head: string): never {
  throw new Fault("forge.unreachable", `GitHub has a pull request for "${head}" but does not show it yet.`, {
    retry: "later",
    hint: "It is tried again.",
  });
}
