/** Events arrive immediately; polls find what they miss. A changing screen sends none: a run that starts is polled often. */
const defaultInterval = 3_000;
const urgentInterval = 400;

/** How often runs are checked: as often as the workflow of any of them wants. */
export interface PollInterval {
  /** Milliseconds until the next check of all runs. */
  current(isUrgent: boolean): number;
  /** Passes on what the workflow of a run says about it, and learns the run's interval from that. */
  heed<Told extends { readonly pollInterval?: number | undefined }>(run: string, told: Promise<Told>): Promise<Told>;
  forget(run: string): void;
}

/** `shortened` is called when the interval is shorter than before. */
export function createPollInterval(isWatched: (run: string) => boolean, shortened: () => void): PollInterval {
  /** In milliseconds, by run. */
  const wanted = new Map<string, number>();
  const interval = () => (wanted.size === 0 ? defaultInterval : Math.min(...wanted.values()));
  return {
    current: (isUrgent) => (isUrgent ? Math.min(urgentInterval, interval()) : interval()),
    async heed(run, told) {
      const found = await told;
      const before = interval();
      if (!isWatched(run)) return found;
      wanted.set(run, found.pollInterval === undefined ? defaultInterval : found.pollInterval * 1000);
      if (interval() < before) shortened();
      return found;
    },
    forget: (run) => void wanted.delete(run),
  };
}
