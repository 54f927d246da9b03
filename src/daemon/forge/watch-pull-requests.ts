import type { PullRequestRecord } from "../../ports/records.ts";
import { retryAtOf } from "../../ports/retry-at.ts";
import type { StoredTask } from "../../ports/store.ts";
import { type LookPorts, lookAtPullRequest } from "./look-at-pull-request.ts";
import type { ForgeOf } from "./project-forge.ts";

export interface WatchPorts extends LookPorts {
  readonly forgeOf: ForgeOf;
  /** Seconds between two looks at the same pull request. */
  interval(): number;
}

export interface PullRequestWatch {
  /** There may be a pull request to be looked at. */
  wake(): void;
  /** Takes nothing new on, and waits for what is under way. */
  stop(): Promise<void>;
}

interface Watched {
  readonly stored: StoredTask;
  readonly record: PullRequestRecord;
}

/** A forge that fails is asked less and less often, down to this: milliseconds. */
const longestPause = 15 * 60_000;

/**
 * Asks forges what became of pull requests, one after the other, so that each has its turn once in an interval. While there
 * is no open one, nobody is asked.
 */
export function watchPullRequests(ports: WatchPorts): PullRequestWatch {
  const { clock, log } = ports;
  const lookedAt = new Map<string, number>();
  let looks = 0;
  let failures = 0;
  let cancel = () => {};
  // A pull request may be opened while we look and find none.
  let state: "idle" | "waiting" | "looking" | "wanted" | "stopped" = "idle";
  let looking: Promise<void> = Promise.resolve();

  const usualPause = () => ports.interval() * 1000;
  const plan = (pause: number | undefined) => {
    if (state === "stopped") return;
    const next = pause ?? (state === "wanted" ? usualPause() : undefined);
    state = next === undefined ? "idle" : "waiting";
    if (next !== undefined) cancel = clock.after(next, look);
  };
  const look = () => {
    state = "looking";
    looking = lookOnce()
      .catch((error) => {
        log.warn("Pull requests could not be looked at", { error });
        return usualPause();
      })
      .then(plan);
  };

  /** Looks at the one that was not looked at for longest. Gives the pause before the next one. */
  const lookOnce = async (): Promise<number | undefined> => {
    const open = await listOpen(ports);
    const turnOf = ({ record }: Watched) => lookedAt.get(record.id) ?? 0;
    const [next] = open.toSorted((a, b) => turnOf(a) - turnOf(b));
    if (next === undefined) return undefined;
    lookedAt.set(next.record.id, ++looks);
    const usual = usualPause() / open.length;
    try {
      await lookAt(ports, next);
      failures = 0;
      return usual;
    } catch (error) {
      log.warn("A pull request could not be looked at", { task: next.record.task, url: next.record.url, error });
      failures++;
      const limit = (retryAtOf(error) ?? 0) - clock.now();
      return Math.max(limit, Math.min(usual * 2 ** Math.min(failures, 20), longestPause));
    }
  };

  return {
    wake() {
      if (state === "looking") state = "wanted";
      // Not at once: what was opened in this moment has no news yet.
      else if (state === "idle") plan(usualPause());
    },
    async stop() {
      state = "stopped";
      cancel();
      await looking;
    },
  };
}

/** Those on a forge, of tasks that are not over. */
async function listOpen({ store }: WatchPorts): Promise<readonly Watched[]> {
  const records = (await store.pullRequests.list({})).filter(({ state, url }) => state === "open" && url !== "");
  const watched = await Promise.all(
    records.map(async (record) => ({ record, stored: await store.getTask(record.task) })),
  );
  return watched.flatMap(({ record, stored }) => (stored?.isOpen ? [{ record, stored }] : []));
}

async function lookAt(ports: WatchPorts, { stored, record }: Watched): Promise<void> {
  const project = await ports.store.getProject(record.project);
  if (project === undefined) return;
  const place = await ports.forgeOf(project);
  if (place.kind === "none") return;
  // Whoever opens or merges it at the same moment is not in the way.
  await ports.inTurn(`forge ${record.task}`, async () => {
    const now = await ports.store.pullRequests.get(record.id);
    if (now?.state === "open") await lookAtPullRequest(ports, project, place, stored, now);
  });
}
