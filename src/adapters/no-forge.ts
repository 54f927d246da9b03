import { Fault } from "../fault.ts";
import type { Forge, PullRequest } from "../ports/forge.ts";

/** The storage for pull requests of a project without a forge. */
interface AskedPullRequests {
  list(): Promise<readonly AskedPullRequest[]>;
  /** Adds a pull request, or replaces the one with the same number. */
  save(pullRequest: AskedPullRequest): Promise<void>;
}

/** A pull request that exists only in this storage, with its comments. */
export interface AskedPullRequest extends PullRequest {
  readonly body: string;
  /** By key. */
  readonly comments: Readonly<Record<string, string>>;
}

/** For projects without a forge: stores the requested pull requests, and leaves merging to a person. */
export function noneForge(asked: AskedPullRequests): Forge {
  let last: Promise<unknown> = Promise.resolve();
  /** A mutex, so that no two pull requests get the same number. */
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run);
    last = result.catch(() => {});
    return result;
  };
  const find = async (fits: (each: AskedPullRequest) => boolean) => (await asked.list()).findLast(fits);
  const get = async (number: number) => (await find((each) => each.number === number)) ?? missing(number);
  return {
    openPullRequest: ({ head, base, title, body, draft }) =>
      inTurn(async () => {
        const open = await find((each) => each.head === head && each.state === "open");
        if (open !== undefined) return plain(open);
        const number = Math.max(0, ...(await asked.list()).map((each) => each.number)) + 1;
        const wanted = { number, url: "", state: "open", head, headCommit: "", base, title, isDraft: draft } as const;
        await asked.save({ ...wanted, mergedCommit: undefined, body, comments: {} });
        return { ...wanted, mergedCommit: undefined };
      }),
    async findPullRequest(head) {
      const found =
        (await find((each) => each.head === head && each.state === "open")) ??
        (await find((each) => each.head === head));
      return found === undefined ? undefined : plain(found);
    },
    getPullRequest: async (number) => plain(await get(number)),
    async statusOf(number) {
      const pullRequest = plain(await get(number));
      return {
        ...{ pullRequest, review: "none", reviews: [], mergeable: "unknown" },
        checks: { state: "none", failed: [] },
      };
    },
    async commentsSince(number) {
      await get(number);
      return { comments: [], position: "" };
    },
    comment: (number, text, key) =>
      inTurn(async () => {
        const found = await get(number);
        if (!Object.hasOwn(found.comments, key))
          await asked.save({ ...found, comments: { ...found.comments, [key]: text } });
        return { url: "" };
      }),
    async merge(number) {
      const { state, mergedCommit = "", head, base } = await get(number);
      if (state === "merged") return { kind: "merged", commit: mergedCommit };
      const reason = `The project has no forge to merge it. Merge "${head}" into "${base}" in the repository yourself.`;
      return { kind: "unmergeable", reason };
    },
    deleteBranch: async () => ({ kind: "gone" }),
  };
}

function plain({ body: _body, comments: _comments, ...pullRequest }: AskedPullRequest): PullRequest {
  return pullRequest;
}

function missing(number: number): never {
  throw new Fault("forge.missing", `There is no pull request ${number}.`, {
    hint: "The project uses no forge. To see why: signalbox config get forge",
  });
}
