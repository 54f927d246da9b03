import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Fault } from "../../src/fault.ts";

/** A program in place of git that kills one of its calls after a delay. */
export interface KillingGit {
  readonly program: string;
  /** Chooses which of the next calls is killed, counted from one, and after how many milliseconds. */
  aim(victim: number, delay: number): void;
  /** The number of calls since `aim`. */
  calls(): number;
}

export function createKillingGit(folder: string): KillingGit {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "git");
  // Later calls are not killed.
  writeFileSync(
    program,
    `#!/bin/sh
cd_to="$(dirname "$0")"
count=$(($(cat "$cd_to/count") + 1))
echo "$count" > "$cd_to/count"
if [ "$count" = "$(cat "$cd_to/victim")" ]; then
  exec 3<&0
  git "$@" <&3 &
  victim=$!
  sleep "$(cat "$cd_to/delay")"
  kill -9 "$victim" 2>/dev/null
  wait "$victim" 2>/dev/null
  exit 137
fi
exec git "$@"
`,
  );
  chmodSync(program, 0o755);
  const write = (name: string, value: number) => writeFileSync(join(folder, name), `${value}\n`);
  const aim = (victim: number, delay: number) => {
    write("count", 0);
    write("victim", victim);
    write("delay", delay / 1000);
  };
  aim(0, 0);
  return { program, aim, calls: () => Number(readFileSync(join(folder, "count"), "utf8")) };
}

/** A seeded random generator, so that a failure can be repeated. */
export function createLots(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below;
  };
}

/** Retries as the daemon does, if the fault allows it. */
export async function untilDone<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Fault) || error.retry !== "later" || tries > 100) throw error;
      await setTimeout(100);
    }
  }
}
