import { expect, test } from "vitest";
import { type RunSight, reconcile } from "./reconcile.ts";

const healthy: RunSight = {
  mode: "session",
  process: "running",
  activity: "busy",
  age: 600,
  quiet: 0,
  isAtWork: false,
  idle: 0,
  isRaised: false,
};
const kind = (sight: Partial<RunSight>, stall?: number, time?: number) =>
  reconcile({ ...healthy, ...sight }, { stall, time }).kind;

test("a run that has not started yet is left alone, for any time", () => {
  expect(kind({ process: "absent", quiet: 9_999 }, 300)).toBe("none");
});

test("a run that has ended is judged, whatever else is observed", () => {
  expect(kind({ process: "ended", activity: "asks" })).toBe("judge");
});

test("a lost run is resumed, but a run that is lost right after its start, like the one before it, is judged", () => {
  expect(kind({ process: "lost" })).toBe("lost");
  expect(kind({ process: "lost", age: 3 })).toBe("lost");
  expect(kind({ process: "lost", isLostAgain: true })).toBe("lost");
  expect(kind({ process: "lost", isLostAgain: true, age: 3 })).toBe("judge");
});

test("a silent run is stalled only beyond the limit, and only where there is one", () => {
  expect(kind({ quiet: 299 }, 300)).toBe("none");
  expect(kind({ quiet: 300 }, 300)).toBe("stalled");
  expect(kind({ quiet: 9_999 })).toBe("none");
});

test("a silent run with a working tool is not stalled; after a long time a person is notified once", () => {
  expect(kind({ quiet: 600, isAtWork: true }, 300)).toBe("none");
  expect(kind({ quiet: 1_800, isAtWork: true }, 300)).toBe("raise");
  expect(kind({ quiet: 1_800, isAtWork: true, isRaised: true }, 300)).toBe("none");
});

test("a run that exceeds its time limit is ended, whatever it does, unless it has ended", () => {
  expect(kind({ age: 60, activity: "asks", isAtWork: true }, undefined, 60)).toBe("overdue");
  expect(kind({ age: 59 }, undefined, 60)).toBe("none");
  expect(kind({ age: 60, process: "ended" }, undefined, 60)).toBe("judge");
});

test("an agent that waits for a message is idle, never stalled", () => {
  expect(kind({ activity: "idle", quiet: 9_999 }, 300)).toBe("idle");
});

test("a person is notified of a dialog once, and the run is not ended", () => {
  expect(kind({ activity: "asks", quiet: 9_999 }, 300)).toBe("raise");
  expect(kind({ activity: "asks", quiet: 9_999, isRaised: true }, 300)).toBe("none");
});

test("the reason of a stall names its duration in minutes", () => {
  expect(reconcile({ ...healthy, quiet: 330 }, { stall: 300, time: undefined })).toEqual({
    kind: "stalled",
    reason: "It gave no sign of life for 5.5 minutes.",
  });
});

test("an obstacle to a run is raised immediately, in its own words", () => {
  const obstacle = "Codex is not logged in. Log in: codex login";
  const sight = { ...healthy, activity: "asks" as const, obstacle };
  expect(reconcile(sight, { stall: undefined, time: undefined })).toEqual({ kind: "raise", reason: obstacle });
  expect(kind({ process: "ended", obstacle })).toBe("judge");
});

test("a session that does not get ready is raised once, after two minutes", () => {
  expect(kind({ activity: "starting", starting: 119 })).toBe("none");
  expect(kind({ activity: "starting", starting: 120 })).toBe("raise");
  expect(kind({ activity: "starting", starting: 500, isRaised: true })).toBe("none");
  expect(kind({ mode: "turn", activity: "starting", starting: 500 })).toBe("none");
});
