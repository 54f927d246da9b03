import { expect, test } from "vitest";
import type { StartedRun, Usage } from "../../ports/records.ts";
import { countedOf, countedUpTo } from "./turn-reading.ts";

const started = (part: number) => ({ part }) as StartedRun;
const at = (position: Usage["position"]) => ({ position }) as Usage;

test("after a crash a turn goes on being counted where that was left", () => {
  expect(countedOf(at(countedUpTo(started(0), 500)), started(0))).toEqual({ offset: 500, isEnd: false });
});

test("what is learnt at the end of a turn is counted once", () => {
  expect(countedOf(at(countedUpTo(started(1), 700, true)), started(1))).toEqual({ offset: 700, isEnd: true });
});

test("a turn that is asked again is counted from its beginning", () => {
  expect(countedOf(at(countedUpTo(started(0), 700, true)), started(1))).toEqual({ offset: 0, isEnd: false });
  expect(countedOf(undefined, started(0))).toEqual({ offset: 0, isEnd: false });
});
