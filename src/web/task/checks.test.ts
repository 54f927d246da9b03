import { expect, test } from "vitest";
import type { PullRequestView } from "../../api/tasks.ts";
import { pullRequestOf, testsOf, verdictOf } from "./checks.ts";

const [now, before] = ["c0ffee", "decade"];

test("a verdict about an earlier commit is never shown as one about the work as it is", () => {
  expect(verdictOf({ role: "reviewer", commit: now }, now)).toMatchObject({ tone: "said", commit: now, note: "" });
  expect(verdictOf({ role: "human", commit: now }, now)).toMatchObject({ tone: "good", title: "Approval", note: "" });
  for (const role of ["reviewer", "human"])
    expect(verdictOf({ role, commit: before }, now)).toMatchObject({
      ...{ tone: "warn", commit: before, note: "There are newer commits, which nobody has judged." },
    });
  // Until the newest commit is known, nothing is said to be current.
  expect(verdictOf({ role: "human", commit: before }, "")).toMatchObject({ tone: "warn", note: "" });
  expect(verdictOf(null, now)).toMatchObject({ tone: "none", commit: "" });
});

test("failed tests are marked as bad, and passed ones as good only for the newest commit", () => {
  const toneOf = (word: string, commit: string) => testsOf({ word, commit }, now).tone;
  expect([toneOf("tests", now), toneOf("tests", before)]).toEqual(["bad", "bad"]);
  expect([toneOf("ok", now), toneOf("ok", before)]).toEqual(["good", "warn"]);
  expect([toneOf("untested", now), toneOf("crashed", now)]).toEqual(["warn", "warn"]);
  expect(testsOf({ word: "tests", commit: now }, now)).toMatchObject({ text: "They failed.", note: "" });
  expect(testsOf({ word: "ok", commit: before }, now).note).toMatch(/another commit than the newest/);
  expect(testsOf(null, now).tone).toBe("none");
});

test("a pull request is bad if a check fails or its reviewer wants changes, and says so if work was not pushed", () => {
  const known = { number: 7, state: "open", head: now, base: "main", checks: "passing", review: "none" } as const;
  const of = (more: object) => pullRequestOf({ ...known, ...more } as PullRequestView, "https://forge.example/7", now);
  expect(of({})).toMatchObject({ tone: "good", text: "It is open, into main. Its checks pass.", note: "" });
  expect(of({ checks: "failing" })).toMatchObject({ tone: "bad", text: "It is open, into main. Its checks fail." });
  expect(of({ review: "changes-requested" }).tone).toBe("bad");
  expect(of({ state: "closed" }).tone).toBe("bad");
  expect([of({ checks: "unfinished" }).tone, of({ checks: "none" }).tone]).toEqual(["warn", "none"]);
  // Its checks say nothing about commits that the forge does not have.
  expect(of({ head: before })).toMatchObject({ tone: "warn", note: expect.stringMatching(/was not pushed yet/) });
  expect(of({ head: before, state: "merged" }).tone).toBe("good");
  expect(pullRequestOf(null, "", now)).toMatchObject({ tone: "none", text: "It has none." });
});
