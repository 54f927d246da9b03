/** How often daemons, and processes that merge, are killed by SIGKILL: in `npm test`, and in `npm run test:long`. */
export interface Kills {
  readonly usual: number;
  readonly long: number;
}

export const killPlan = {
  /** Busy daemons: test/faults/kill-daemons.ts. */
  busy: { usual: 30, long: 500 },
  /** Daemons that merge: test/faults/kill-merges.ts. */
  merging: { usual: 4, long: 200 },
  /** Processes that merge and publish: test/git/kills. */
  publishing: { usual: 12, long: 500 },
  /** Daemons of a crew at exact points: test/faults/crew-interrupts.test.ts; in `npm run test:long` at every point. */
  points: { usual: 10, long: 200 },
  /** Daemons of a crew with random operations: test/faults/crew/random-crew.ts. */
  random: { usual: 6, long: 100 },
  /** Daemons of a crew with a folder full of tickets, by a second process: test/faults/crew/under-fire.ts. */
  fire: { usual: 0, long: 200 },
  /** Daemons of a team: test/faults/kill-teams.ts. */
  team: { usual: 6, long: 150 },
  /** Daemons of issues that go through stages: test/faults/kill-pipelines.ts. */
  pipeline: { usual: 4, long: 100 },
} as const satisfies Readonly<Record<string, Kills>>;

/** The number of kills in this suite. SIGNALBOX_KILLS overrides it. */
export function killsOf(name: keyof typeof killPlan, suite: keyof Kills): number {
  return Number(process.env.SIGNALBOX_KILLS ?? killPlan[name][suite]);
}
