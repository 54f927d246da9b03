import { readFileSync } from "node:fs";
import type { Places } from "../home/places.ts";
import type { Store } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import { sha256 } from "../sha256.ts";

/** Records changes of the user's configuration file, which anybody can write, with the person who announced them. */
export interface ConfigChanges {
  /** A person is about to write a file with this hash. */
  announce(hash: string, by: string): void;
  /** The daemon uses changed settings. */
  noticed(keys: readonly string[]): Promise<void>;
}

/** A person changes few settings in the moment that the daemon needs to notice it. */
const maxAnnounced = 20;

export function createConfigChanges(ports: {
  readonly store: Store;
  readonly clock: Clock;
  readonly places: Pick<Places, "config">;
}): ConfigChanges {
  const { store, clock, places } = ports;
  const announced = new Map<string, string>();
  return {
    announce(hash, by) {
      announced.set(hash, by);
      const [oldest] = announced.keys();
      if (announced.size > maxAnnounced && oldest !== undefined) announced.delete(oldest);
    },
    async noticed(keys) {
      if (keys.length === 0) return;
      const by = announced.get(hashOf(places.config)) ?? "unknown";
      await store.addEvents("", [{ type: "config.changed", by, data: { keys }, set: {} }], clock.now());
    },
  };
}

/** Empty if the file is gone. */
function hashOf(file: string): string {
  try {
    return sha256(readFileSync(file, "utf8"));
  } catch {
    return "";
  }
}
