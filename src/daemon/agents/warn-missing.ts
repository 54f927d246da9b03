import type { Harnesses } from "./harnesses.ts";

/** Programs may take seconds to say their version, and nobody should wait for that here. */
const patience = 1_500;

/** What is to be said about harnesses that are needed and not installed, as far as that is known soon. */
export async function warnMissing(harnesses: Harnesses, names: readonly string[]): Promise<readonly string[]> {
  const known = harnesses();
  const found = names.map(async (name) => {
    const harness = known.get(name);
    if (harness === undefined) return [];
    const detected = await Promise.race([harness.detect().catch(() => undefined), afterPatience()]);
    return detected?.found === false ? [`${harness.title} is not installed. ${detected.hint}`.trim()] : [];
  });
  return (await Promise.all(found)).flat();
}

function afterPatience(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), patience).unref());
}
