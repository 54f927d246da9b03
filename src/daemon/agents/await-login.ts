import type { Clock } from "../../ports/clock.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Ending } from "./end-run.ts";
import type { RunWatch } from "./watch-run.ts";

export interface AwaitLoginPorts {
  readonly clock: Clock;
  end(watch: RunWatch, ending: Ending): Promise<void>;
}

/** Milliseconds between two looks at the login of a harness. */
const pause = 15_000;

/**
 * Starts runs anew that wait to be logged in, once somebody has logged in elsewhere: programs look at that only when they
 * start. Only a login that was seen to be missing and then to be there counts, so that nothing goes round and round.
 */
export function createAwaitLogin({ clock, end }: AwaitLoginPorts): (watch: RunWatch) => Promise<void> {
  const looks = new Map<string, { readonly at: number; readonly state: Promise<string> }>();
  const missed = new Set<string>();
  const stateOf = ({ name, login }: Harness): Promise<string> => {
    const known = looks.get(name);
    if (known !== undefined && Math.abs(clock.now() - known.at) < pause) return known.state;
    const state = (login?.() ?? Promise.resolve({ state: "unknown" })).then(
      (told) => told.state,
      () => "unknown",
    );
    looks.set(name, { at: clock.now(), state });
    return state;
  };
  return async (watch) => {
    const { run, harness, pane } = watch;
    const state = await stateOf(harness);
    if (state === "out") missed.add(run.id);
    // Whoever looks at its window may be at it there.
    if (state !== "in" || !missed.has(run.id) || (pane?.watchers ?? 0) > 0) return;
    missed.delete(run.id);
    await end(watch, { word: "lost", reason: "Somebody has logged in." });
  };
}
