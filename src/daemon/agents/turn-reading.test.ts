import { expect, test } from "vitest";
import type { StartedRun, Usage } from "../../ports/records.ts";
import { countedOf, countedUpTo } from "./read-turn.ts";

const started = (part: number) => ({ part }) as StartedRun;
const at = (position: Usage["position"]) => ({ position }) as Usage;

test("after a crash the usage of a turn is counted from the stored offset", () => {
  expect(countedOf(at(countedUpTo(started(0), 500)), started(0))).toEqual({ offset: 500, isEnd: false });
});

test("usage that is reported at the end of a turn is counted once", () => {
  expect(countedOf(at(countedUpTo(started(1), 700, true)), started(1))).toEqual({ offset: 700, isEnd: true });
});

test("the usage of a turn that is asked again is counted from its beginning", () => {
  expect(countedOf(at(countedUpTo(started(0), 700, true)), started(1))).toEqual({ offset: 0, isEnd: false });
  expect(countedOf(undefined, started(0))).toEqual({ offset: 0, isEnd: false });
});
