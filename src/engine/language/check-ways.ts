import { writeGuard } from "../when.ts";
import type { Way } from "../workflow.ts";
import type { Context } from "./context.ts";
import { overlap } from "./guard-space.ts";
import type { PlacedWay } from "./read-ways.ts";

/** For one pair of states, an asker must never have two ways open at once. The engine takes the first, so it is left out. */
export function checkAmbiguity(
  context: Context,
  ways: readonly PlacedWay[],
  isSwitch: (field: string) => boolean,
): void {
  const pairs = Map.groupBy(ways, ({ way }) => `${way.from}\n${way.to}`);
  const told = new Set<string>();
  for (const group of pairs.values()) {
    for (const [i, a] of group.entries()) {
      for (const b of group.slice(i + 1)) {
        const asker = sharedAsker(a.way, b.way);
        const both = asker === undefined ? undefined : overlap(a.way.when, b.way.when, isSwitch);
        const places = `${a.path.join(".")} ${b.path.join(".")}`;
        if (both === undefined || told.has(places)) continue;
        told.add(places);
        const values = Object.entries(both).map(([field, value]) => `${field} = ${value}`);
        const when = values.length > 0 ? ` when ${values.join(", ")}` : "";
        const conditions = [a, b]
          .map(({ way }) => way.when.map(writeGuard).join(" and ") || "no condition")
          .join(" / ");
        context.error(
          [...b.path, b.way.when.length > 0 ? "when" : "to"],
          `Two transitions from "${b.way.from}" to "${b.way.to}" are open to ${asker}${when} (${conditions}).`,
          "Make their conditions exclusive.",
        );
      }
    }
  }
}

function sharedAsker(a: Way, b: Way): string | undefined {
  if (a.by === undefined && b.by === undefined) return "everyone";
  const [one, other] = a.by === undefined ? [b.by, undefined] : [a.by, b.by];
  return one?.find((role) => role !== "engine" && (other === undefined || other.includes(role)));
}
