import { expect, test } from "vitest";
import { checkPromises } from "../../scripts/check-promises.ts";
import { crewUnderFire } from "../faults/crew/under-fire.ts";
import { killsOf } from "../kill-plan.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const kills = killsOf("fire", "long");

test(`a crew closes 50 tickets while a second process kills the daemon ${kills} times, and every promise is kept (seed ${seed})`, async () => {
  const field = await crewUnderFire({ seed, kills, tickets: 50, agents: 8, hopeless: true });
  try {
    expect(field.kills).toHaveLength(kills);
    expect(field.left).toEqual([]);
    expect([...checkPromises(field)].filter(([, problems]) => problems.length > 0)).toEqual([]);
  } finally {
    field.home.remove();
  }
});
