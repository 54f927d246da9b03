import { expect, test } from "vitest";
import { killPlan } from "../kill-plan.ts";
import type { DeathPoint } from "./crew/interrupted-crew.ts";
import { inOrder, killTeam, shortLife } from "./kill-teams.ts";

/** In the order in which they come. */
const deaths: readonly (readonly [when: string, DeathPoint])[] = [
  ["the first part is created, and the second is not", { what: '^write .*"item":"a"', when: "after" }],
  ["a part has its workspace, and no branch", { what: '^write .*"changed":\\["workspace"\\]', when: "after" }],
  ["an engineer has started, and this is not recorded", { what: "^start node supervisor", when: "after" }],
  ["an engineer has ended, and this is not recorded", { what: '^write .*"run":"swe#1","word"', when: "before" }],
  ["a part is in the parent's branch, and this is not recorded", { what: '^write .*"merge.landed"', when: "before" }],
  ["all parts have ended, and the parent has not moved", { what: '^write .*"children.ended"', when: "before" }],
];

test(`a team builds each part once, although its daemon is killed ${deaths.length} times`, {
  timeout: 240_000,
}, async () => {
  const points = deaths.map(([, point]) => point);
  expect(await killTeam(shortLife, inOrder(points))).toBe(killPlan.team.usual);
});
