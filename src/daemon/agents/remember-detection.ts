import type { Clock } from "../../ports/clock.ts";
import type { Detected, Harness } from "../../ports/harness.ts";

/** Asking a program for its version can take seconds, and it is asked before every start. What is missing is asked for again. */
export function rememberDetection(clock: Clock): (harness: Harness) => Harness {
  return (harness) => {
    let known: { readonly at: number; readonly detected: Promise<Detected> } | undefined;
    return {
      ...harness,
      async detect() {
        // The clock may have been put back.
        if (known === undefined || Math.abs(clock.now() - known.at) > lasting)
          known = { at: clock.now(), detected: harness.detect() };
        const asked = known;
        try {
          const detected = await asked.detected;
          if (!detected.found && known === asked) known = undefined;
          return detected;
        } catch (error) {
          if (known === asked) known = undefined;
          throw error;
        }
      },
    };
  };
}

const lasting = 10 * 60_000;
