import type { Clock } from "../../ports/clock.ts";
import type { Detected, Harness } from "../../ports/harness.ts";

/** Asking a program for its version can take seconds, and it is asked before every start. What is missing is asked for again. */
export function rememberDetection(clock: Clock): (harness: Harness) => Harness {
  return (harness) => {
    let known: { readonly at: number; readonly detected: Promise<Detected> } | undefined;
    return {
      ...harness,
      async detect() {
        if (known === undefined || clock.now() - known.at > lasting)
          known = { at: clock.now(), detected: harness.detect() };
        const detected = await known.detected;
        if (!detected.found) known = undefined;
        return detected;
      },
    };
  };
}

const lasting = 10 * 60_000;
