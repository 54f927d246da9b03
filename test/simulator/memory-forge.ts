import { Fault } from "../../src/fault.ts";
import type { Forge, PullRequest, WantedPullRequest } from "../../src/ports/forge.ts";
import type { Repositories } from "./memory-repositories.ts";

/** A pull request as it is on the forge, whatever the daemon has recorded. */
export interface MemoryPullRequest {
  readonly number: number;
  wanted: WantedPullRequest;
  state: PullRequest["state"];
  /** The commit of the head that was merged, and the merge. */
  merged: { readonly head: string; readonly commit: string; readonly isByHand: boolean } | undefined;
  /** In the order in which they were written. */
  readonly comments: { readonly key: string; readonly text: string }[];
  isApproved: boolean;
}

/** What happens while the forge is asked. Replaced by tests, which let it take its time. */
export interface ForgePace {
  /** `merge`: nothing speaks against the merge, which is made next. */
  before(what: "statusOf" | "merge"): Promise<void>;
}

/** A forge in memory, beside a remote whose branches are in `repositories.remote`. It accepts and refuses what GitHub does. */
export interface MemoryForge {
  readonly port: Forge;
  readonly pulls: readonly MemoryPullRequest[];
  /** The pull requests that were opened for a task, by the text that describes them. */
  pullsOf(task: string): readonly MemoryPullRequest[];
  /** Somebody merges it on the forge, whatever the daemon thinks of it. */
  mergeByHand(pull: MemoryPullRequest): void;
  readonly pace: ForgePace;
}

export interface MemoryForgePorts {
  readonly repositories: Repositories;
  /** Whether the branch demands an approval. */
  readonly needsApproval: boolean;
  /** A comment was written, and none was there for its key before. */
  commented(pull: MemoryPullRequest): Promise<void>;
  /** A pull request is about to be merged. */
  merging(pull: MemoryPullRequest, head: string): Promise<void>;
  opened(pull: MemoryPullRequest): void;
}

export const remoteAddress = "https://forge.test/ada/coffee.git";

export function createMemoryForge(ports: MemoryForgePorts): MemoryForge {
  const { repositories, needsApproval, commented, merging, opened } = ports;
  const { commits, remote } = repositories;
  const pulls: MemoryPullRequest[] = [];
  const mustHave = (number: number): MemoryPullRequest => {
    const found = pulls.find((pull) => pull.number === number);
    if (found === undefined) throw new Fault("forge.missing", `There is no pull request ${number}.`);
    return found;
  };
  const headOf = ({ wanted, merged }: MemoryPullRequest) => merged?.head ?? remote.get(wanted.head) ?? "";
  const view = (pull: MemoryPullRequest): PullRequest => ({
    ...{ number: pull.number, url: `https://forge.test/ada/coffee/pull/${pull.number}`, state: pull.state },
    ...{ head: pull.wanted.head, headCommit: headOf(pull), base: pull.wanted.base, title: pull.wanted.title },
    ...{ isDraft: pull.wanted.draft, mergedCommit: pull.merged?.commit },
  });
  const joined = (pull: MemoryPullRequest) => commits.merge(remote.get(pull.wanted.base) ?? "", headOf(pull));
  const reviewOf = ({ isApproved }: MemoryPullRequest) => {
    if (isApproved) return "approved";
    return needsApproval ? "required" : "none";
  };
  const join = (pull: MemoryPullRequest, isByHand: boolean): string => {
    const [head, base] = [headOf(pull), remote.get(pull.wanted.base) ?? ""];
    const result = joined(pull);
    const tree = result.kind === "merged" ? result.tree : commits.get(base).tree;
    const commit = commits.add([base, head], tree, `merge of pull request ${pull.number}`);
    remote.set(pull.wanted.base, commit);
    pull.state = "merged";
    pull.merged = { head, commit, isByHand };
    return commit;
  };
  const pace: ForgePace = { before: async () => {} };
  return {
    pulls,
    pace,
    mergeByHand: (pull) => void join(pull, true),
    pullsOf: (task) => pulls.filter(({ wanted }) => wanted.body.includes(`(\`${task}\`)`)),
    port: {
      async openPullRequest(wanted) {
        const there = pulls.find(({ wanted: { head }, state }) => head === wanted.head && state === "open");
        if (there !== undefined) return view(there);
        if (!remote.has(wanted.head)) throw new Fault("forge.refused", `The remote has no branch "${wanted.head}".`);
        const pull: MemoryPullRequest = {
          ...{ number: pulls.length + 1, wanted, state: "open", merged: undefined, comments: [], isApproved: false },
        };
        pulls.push(pull);
        opened(pull);
        return view(pull);
      },
      async findPullRequest(head) {
        const own = pulls.filter(({ wanted }) => wanted.head === head);
        const found = own.find(({ state }) => state === "open") ?? own.at(-1);
        return found === undefined ? undefined : view(found);
      },
      getPullRequest: async (number) => view(mustHave(number)),
      async statusOf(number) {
        await pace.before("statusOf");
        const pull = mustHave(number);
        const isBlocked = pull.state === "open" && joined(pull).kind === "conflict";
        return {
          ...{ pullRequest: view(pull), review: reviewOf(pull), reviews: [] },
          ...{ mergeable: isBlocked ? "no" : "yes", checks: { state: "none", failed: [] } },
        };
      },
      async commentsSince(number, position) {
        mustHave(number);
        return { comments: [], position };
      },
      async comment(number, text, key) {
        const pull = mustHave(number);
        if (!pull.comments.some((each) => each.key === key)) {
          pull.comments.push({ key, text });
          await commented(pull);
        }
        return { url: `${view(pull).url}#${pull.comments.findIndex((each) => each.key === key)}` };
      },
      async merge(number, { expectedHead }) {
        const pull = mustHave(number);
        if (pull.merged !== undefined) return { kind: "merged", commit: pull.merged.commit };
        const head = headOf(pull);
        if (head !== expectedHead) return { kind: "moved", reason: "The head is another commit." };
        if (reviewOf(pull) === "required") return { kind: "unapproved", reason: "An approval is missing." };
        const result = joined(pull);
        if (result.kind === "conflict") return { kind: "unmergeable", reason: "There are conflicts." };
        await merging(pull, head);
        await pace.before("merge");
        const commit = join(pull, false);
        return { kind: "merged", commit };
      },
      async deleteBranch(name, expectedCommit) {
        const at = remote.get(name);
        if (at === undefined) return { kind: "gone" };
        if (at !== expectedCommit) return { kind: "moved", reason: "Somebody has pushed to it." };
        remote.delete(name);
        return { kind: "deleted" };
      },
    },
  };
}
