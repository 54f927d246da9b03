import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequest } from "../../ports/forge.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";

/** A pull request that is nowhere but here. */
export interface AskedPullRequest extends PullRequest {
  readonly body: string;
  readonly comments: Readonly<Record<string, string>>;
}

/** Where a project without a forge keeps its pull requests: in the records of its tasks. */
export function askedPullRequests({ store, clock }: { store: Store; clock: Clock }, project: string) {
  return {
    async list(): Promise<readonly AskedPullRequest[]> {
      const records = await store.pullRequests.list({ project });
      return records.filter(({ url }) => url === "").map(toAsked);
    },
    async save(asked: AskedPullRequest): Promise<void> {
      const records = await store.pullRequests.list({ project });
      const known = records.find(({ url, number }) => url === "" && number === asked.number);
      const at = clock.now();
      const id = known?.id ?? (await store.findTask(asked.head, project))?.task.id;
      if (id === undefined)
        throw new Fault("task.missing", `No open task of ${project} has the branch "${asked.head}".`);
      await store.pullRequests.put({
        ...(known ?? { ...newRecord, id, project, task: id, at }),
        ...{ number: asked.number, head: asked.head, headCommit: asked.headCommit, base: asked.base },
        ...{ title: asked.title, body: asked.body, isDraft: asked.isDraft, comments: asked.comments },
        ...{ state: asked.state, mergedCommit: asked.mergedCommit ?? "", seenAt: at },
      });
    },
  };
}

/** What is not known of a pull request that nobody has looked at. */
export const newRecord = { url: "", review: "none", checks: "none", comments: {}, told: {} } as const;

function toAsked(record: PullRequestRecord): AskedPullRequest {
  const { number, url, state, head, headCommit, base, isDraft, mergedCommit, title, body, comments } = record;
  const merged = mergedCommit === "" ? undefined : mergedCommit;
  return { number, url, state, head, headCommit, base, isDraft, mergedCommit: merged, title, body, comments };
}
