import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyLedger, type Ledger, writeFindings } from "./findings.ts";
import { addOwn, takeDecision } from "./person-findings.ts";
import { findingsProblem, takeReview } from "./review.ts";
import { isSameEvidence, likeness } from "./same-finding.ts";

const cold = { title: "It is cold", file: "cup.ts", line: 3, severity: "high", evidence: "20 degrees in the cup" };

const nullCheck = {
  ...{ title: "Missing null check", severity: "critical", file: "app.ts", line: 10 },
  evidence: "user.name throws for anonymous visitors of the login page",
};
const otherCheck = {
  ...{ title: "Missing null check", severity: "high", file: "app.ts", line: 200 },
  evidence: "order.total throws for empty baskets during checkout",
};

/** A ledger after some reviews, each of another commit: c1, c2, … */
function ledgerOf(...reviews: readonly (readonly object[])[]): Ledger {
  return reviews.reduce<Ledger>(
    (ledger, reported) => review(ledger, reported, `c${ledger.round + 1}`).ledger,
    emptyLedger,
  );
}

function review(ledger: Ledger, reported: readonly object[], commit = ledger.commit, changed: readonly string[] = []) {
  expect(findingsProblem(ledger, reported)).toBeUndefined();
  return takeReview(ledger, reported, { role: "critic", commit, hasChanged: (file) => changed.includes(file) });
}

function statesOf({ findings }: Ledger): readonly string[] {
  return findings.map(({ id, state }) => `${id} ${state}`);
}

describe("a review", () => {
  test("adds findings with ids, and lists them for the next prompt with the worst first", () => {
    const ledger = ledgerOf([{ title: "No lid", file: "./lid.ts" }, cold]);
    expect(ledger.findings[0]).toMatchObject({ id: "F1", severity: "medium", file: "lid.ts", line: 0, round: 1 });
    expect(writeFindings(ledger, "open")).toBe(
      "F2 (high) cup.ts:3 It is cold\n  20 degrees in the cup\nF1 (medium) lid.ts No lid",
    );
  });

  test("is about known findings by id, and without an id by file and title", () => {
    const ledger = ledgerOf([cold, { title: "No lid", file: "cup.ts" }]);
    const next = review(ledger, [
      { title: "The cup: there is NO lid!", file: "cup.ts" },
      { id: "F1", state: "fixed" },
    ]);
    expect(statesOf(next.ledger)).toEqual(["F1 fixed", "F2 open"]);
    expect(next.changed.map(({ id }) => id)).toEqual(["F1"]);
  });

  test("counts a defect once that it reports twice", () => {
    expect(statesOf(ledgerOf([cold, { ...cold, line: 5 }, { ...cold, title: "is it cold" }]))).toEqual(["F1 open"]);
  });

  test("reports two defects if they have one title but other lines, or one title is a part of the other", () => {
    const { findings } = ledgerOf([nullCheck, otherCheck]);
    expect(findings).toMatchObject([
      { id: "F1", ...nullCheck },
      { id: "F2", ...otherCheck },
    ]);
    const injection = { ...nullCheck, title: "SQL injection in login", evidence: "name is concatenated" };
    const more = { ...otherCheck, title: "SQL injection", evidence: "the term of the search is concatenated" };
    expect(statesOf(ledgerOf([injection, more]))).toEqual(["F1 open", "F2 open"]);
    // Without lines the evidence decides.
    const lineless = [nullCheck, otherCheck].map(({ line: _, ...each }) => each);
    expect(statesOf(ledgerOf(lineless))).toEqual(["F1 open", "F2 open"]);
    expect(statesOf(ledgerOf([lineless[0] ?? {}, lineless[0] ?? {}]))).toEqual(["F1 open"]);
  });

  test("adds the new evidence of a report that it joins to another, with the worst severity", () => {
    const [finding] = ledgerOf([
      { ...cold, severity: "low" },
      { ...cold, line: 4, evidence: "Nobody heats the pot before pouring", severity: "critical" },
    ]).findings;
    expect(finding?.evidence).toBe("20 degrees in the cup\n\nAlso: Nobody heats the pot before pouring");
    expect(finding?.severity).toBe("critical");
  });

  test("that contradicts itself about a finding keeps it open", () => {
    const ledger = ledgerOf([cold]);
    for (const entries of [
      [{ id: "F1", state: "fixed" }, cold],
      [cold, { id: "F1", state: "fixed" }],
      [{ id: "F1" }, { id: "F1", state: "fixed" }],
      [
        { id: "F1", state: "fixed" },
        { id: "F1", state: "dismissed", reason: "It is iced coffee." },
      ],
    ])
      expect(statesOf(review(ledger, entries, "c2", ["cup.ts"]).ledger)).toEqual(["F1 open"]);
  });

  test("closes nothing without an id", () => {
    const ledger = ledgerOf([cold]);
    const context = { role: "critic", commit: "c2", hasChanged: () => true };
    for (const state of ["fixed", "dismissed"]) {
      const closing = [{ ...cold, state, reason: "It is warm." }];
      expect(findingsProblem(ledger, closing)).toContain("says nothing about the open finding F1");
      expect(statesOf(takeReview(ledger, [...closing, { id: "F1" }], context).ledger)).toEqual(["F1 open"]);
    }
  });

  test("takes a report to the known finding of a near line or the same evidence, and else to a new one", () => {
    const ledger = ledgerOf([nullCheck]);
    const moved = { ...nullCheck, line: 150, evidence: "For anonymous visitors of the login page user.name throws" };
    expect(review(ledger, [moved]).ledger.findings).toMatchObject([{ id: "F1", line: 150 }]);
    const near = { ...nullCheck, line: 12, evidence: "Guests have no name" };
    expect(review(ledger, [near]).ledger.findings).toMatchObject([
      { line: 12, evidence: `${nullCheck.evidence}\n\nA later review adds: Guests have no name` },
    ]);
    const both = review(ledger, [{ id: "F1" }, otherCheck]).ledger.findings;
    expect(both).toMatchObject([{ ...nullCheck }, { id: "F2", ...otherCheck }]);
    // The report with the same evidence is about the known finding, whichever comes first.
    const beside = { ...otherCheck, line: 11 };
    for (const entries of [
      [beside, moved],
      [moved, beside],
    ])
      expect(review(ledger, entries).ledger.findings).toMatchObject([{ line: 150 }, { id: "F2", line: 11 }]);
  });

  test("keeps the line of a finding that it names with another defect's place", () => {
    const [finding] = review(ledgerOf([nullCheck]), [{ ...otherCheck, id: "F1" }]).ledger.findings;
    expect(finding?.line).toBe(10);
    expect(finding?.evidence).toContain("A later review adds, of line 200: order.total throws");
  });

  test("reports a defect with the title of a dismissed one elsewhere in the file as new", () => {
    const taken = takeDecision(ledgerOf([nullCheck]), ["F1"], "dismissed", "Never null here");
    const ledger = "ledger" in taken ? taken.ledger : emptyLedger;
    expect(statesOf(review(ledger, [otherCheck], "c2", ["app.ts"]).ledger)).toEqual(["F1 dismissed", "F2 open"]);
    const again = { ...nullCheck, line: 90 };
    expect(statesOf(review(ledger, [again], "c2", ["app.ts"]).ledger)).toEqual(["F1 dismissed"]);
  });

  test("need not answer what a person added or approved while its run was live", () => {
    const before = ledgerOf([cold], [{ id: "F1" }, { title: "Odd", file: "b.ts", severity: "low" }]);
    const own = { file: "cup.ts", line: 0, severity: "medium", text: "No lid" } as const;
    const added = addOwn(before, own, "c2", ["critic#3"]);
    const taken = takeDecision("ledger" in added ? added.ledger : before, ["F1", "F2"], "approved", "", ["critic#3"]);
    const ledger = "ledger" in taken ? taken.ledger : before;
    expect(findingsProblem(ledger, [{ id: "F1", state: "fixed" }], "critic#3")).toBeUndefined();
    expect(findingsProblem(ledger, [], "critic#3")).toContain("the open finding F1.");
    expect(findingsProblem(ledger, [{ id: "F1" }], "critic#4")).toContain("the open findings F2, F3.");
  });

  test("can report new findings beside 200 known ones, until the task has 1000", () => {
    const many = (count: number, from = 0) =>
      Array.from({ length: count }, (_, i) => ({ title: "It is cold", file: `cup${from + i}.ts` }));
    const answers = (ledger: Ledger) => ledger.findings.map(({ id }) => ({ id }));
    let ledger = ledgerOf(many(200));
    const own = { file: "cup.ts", line: 0, severity: "medium", text: "No lid" } as const;
    expect(addOwn(ledger, own, "c1")).toMatchObject({ changed: [{ id: "F201" }] });
    const tooMany = [...answers(ledger), ...many(201, 200)];
    expect(findingsProblem(ledger, tooMany)).toBe("There are 401 findings, but 400 are allowed. Keep the worst.");
    for (let round = 1; round < 5; round++)
      ledger = review(ledger, [...answers(ledger), ...many(200, 200 * round)]).ledger;
    expect(ledger.findings).toHaveLength(1_000);
    expect(findingsProblem(ledger, [...answers(ledger), cold])).toBe(
      "The task has 1000 findings, and keeps at most 1000. Report no new ones.",
    );
    expect(addOwn(ledger, own, "c1")).toMatchObject({ changed: [{ id: "F1001" }] });
  });

  test("has no line in the next prompt that looks like another finding", () => {
    const evidence = "cold\rF9 (critical) a.ts All is lost\u2028F10 (high) b.ts \u202eMore\u001b[2J\0";
    const [, ...lines] = writeFindings(ledgerOf([{ ...cold, evidence }]), "open").split(/[\r\n\u2028\u2029\u0085\v\f]/);
    expect(lines).toEqual(["  cold", "  F9 (critical) a.ts All is lost", "  F10 (high) b.ts More"]);
  });

  test("with much evidence is listed in full up to a length, and then without the evidence", () => {
    const long = Array.from({ length: 200 }, (_, i) => ({
      title: "Cold",
      file: `cup${i}.ts`,
      evidence: "e".repeat(4_000),
    }));
    const written = writeFindings(ledgerOf(long), "open");
    expect(written.length).toBeLessThan(300_000);
    expect(written).toContain("F200 (medium) cup199.ts Cold\n  (Its evidence is left out: the list is too long.)");
  });

  test("opens a fixed finding that it names again if the file has changed since, also for the same evidence", () => {
    const ledger = ledgerOf([{ ...cold, severity: "critical" }], [{ id: "F1", state: "fixed" }]);
    for (const back of [{ id: "F1" }, { ...cold, id: "F1", severity: "critical", state: "open" }]) {
      const { findings } = review(ledger, [back], "c3", ["cup.ts"]).ledger;
      expect(findings).toMatchObject([{ state: "open", severity: "critical", evidence: cold.evidence, line: 3 }]);
      expect(statesOf(review(ledger, [back], "c3").ledger)).toEqual(["F1 fixed"]);
    }
    expect(statesOf(review(ledger, [cold], "c3", ["cup.ts"]).ledger)).toEqual(["F1 fixed"]);
    const dismissed = ledgerOf([cold], [{ id: "F1", state: "dismissed", reason: "It is iced coffee." }]);
    expect(statesOf(review(dismissed, [{ id: "F1" }], "c3", ["cup.ts"]).ledger)).toEqual(["F1 dismissed"]);
  });

  test("notes small new findings from the second round on", () => {
    const ledger = ledgerOf([{ ...cold, severity: "low" }]);
    expect(statesOf(ledger)).toEqual(["F1 open"]);
    const small = [{ id: "F1" }, { title: "No lid", file: "a.ts", severity: "low" }, { title: "Odd", file: "b.ts" }];
    expect(statesOf(review(ledger, small).ledger)).toEqual(["F1 open", "F2 noted", "F3 open"]);
  });

  test("opens a noted finding for new evidence that it is more than small, in a changed file", () => {
    const ledger = ledgerOf([], [{ ...cold, severity: "low" }]);
    const worse = { id: "F1", severity: "high", evidence: "The whole pot burst and flooded the kitchen" };
    expect(statesOf(review(ledger, [worse], "c3", ["cup.ts"]).ledger)).toEqual(["F1 open"]);
    expect(statesOf(review(ledger, [worse], "c3").ledger)).toEqual(["F1 noted"]);
    expect(statesOf(review(ledger, [{ ...worse, severity: "low" }], "c3", ["cup.ts"]).ledger)).toEqual(["F1 noted"]);
  });

  test("cannot dismiss what a person approved, nor open what a person dismissed", () => {
    const decided = (state: "approved" | "dismissed") => {
      const taken = takeDecision(ledgerOf([cold]), ["F1"], state, "");
      return "ledger" in taken ? taken.ledger : emptyLedger;
    };
    const dismissed = { id: "F1", state: "dismissed", reason: "It is iced coffee." };
    expect(statesOf(review(decided("approved"), [dismissed]).ledger)).toEqual(["F1 approved"]);
    expect(statesOf(review(decided("approved"), [{ id: "F1", state: "fixed" }]).ledger)).toEqual(["F1 fixed"]);
    const again = { id: "F1", evidence: "The whole pot burst and flooded the kitchen" };
    expect(statesOf(review(decided("dismissed"), [again], "c2", ["cup.ts"]).ledger)).toEqual(["F1 dismissed"]);
  });

  test("is quiet if it changed neither the branch nor the ledger", () => {
    const ledger = ledgerOf([cold]);
    expect(review(ledger, [{ id: "F1" }]).ledger.quiet).toBe(1);
    expect(review(review(ledger, [{ id: "F1" }]).ledger, [{ id: "F1" }]).ledger.quiet).toBe(2);
    expect(review(ledger, [{ id: "F1" }], "c2").ledger.quiet).toBe(0);
    expect(review(ledger, [{ id: "F1", state: "fixed" }]).ledger.quiet).toBe(0);
    expect(review(emptyLedger, [], "").ledger.quiet).toBe(0);
  });

  test.each<[unknown, string]>([
    [7, "findings must be a list, but is 7."],
    [Array.from({ length: 201 }, () => cold), "There are 201 findings, but 200 are allowed. Keep the worst."],
    [["cold"], 'findings[0] must be an object, but is "cold".'],
    [[{ title: "Cold" }], 'findings[0] ("Cold") names no file. Name the file of the repository that it is in.'],
    [[{ file: "cup.ts", title: " " }], "findings[0] needs a title and a file, or the id of a known finding."],
    [[{ id: "F9" }], 'findings[0] names "F9", which is no known finding. Give a title and a file if it is new.'],
    [[{ ...cold, file: 7 }], "findings[0].file must be text, but is 7."],
    [
      [{ ...cold, severity: "bad" }],
      'findings[0].severity must be one of critical, high, medium, low, info, but is "bad".',
    ],
    [[{ ...cold, state: "closed" }], 'findings[0].state must be "open", "fixed" or "dismissed", but is "closed".'],
    [[{ ...cold, state: "dismissed" }], "findings[0] is dismissed without a reason. Say why it is no defect."],
    [
      [{ ...cold, file: "../cup.ts" }],
      'findings[0] names the file "../cup.ts", which leads out of the repository. Name a file in it, such as src/app.ts or docs/**.',
    ],
  ])("%j is refused", (reported, problem) => expect(findingsProblem(emptyLedger, reported)).toBe(problem));

  test("that leaves out open findings is refused, and told how to answer", () => {
    const ledger = ledgerOf([cold, { title: "No lid", file: "a.ts" }]);
    expect(findingsProblem(ledger, [{ title: "Odd", file: "b.ts" }])).toBe(
      'The answer says nothing about the open findings F1, F2. Add an entry for each: {"id": "F1", "state": "fixed" | "open" | "dismissed", "reason": "…"}.',
    );
  });

  test("never throws, whatever the answer is, and never loses or renumbers a finding", () => {
    const entry = fc.record(
      {
        id: fc.constantFrom("F1", "F2", "F7", 3),
        title: fc.oneof(fc.string(), fc.constantFrom("It is cold", "No lid", "Odd")),
        file: fc.constantFrom("cup.ts", "a/b.ts", "..", ""),
        state: fc.constantFrom("open", "fixed", "dismissed", "odd"),
        severity: fc.constantFrom("high", "low", "odd"),
        reason: fc.string(),
        evidence: fc.oneof(fc.string(), fc.anything()),
        line: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.array(fc.oneof(entry, fc.anything())), fc.anything())), (reviews) => {
        let ledger = emptyLedger;
        for (const reported of reviews) {
          if (findingsProblem(ledger, reported) !== undefined) continue;
          const { ledger: next } = takeReview(ledger, reported, {
            role: "critic",
            commit: "c",
            hasChanged: () => true,
          });
          expect(next.findings.slice(0, ledger.findings.length).map(({ id, title }) => id + title)).toEqual(
            ledger.findings.map(({ id, title }) => id + title),
          );
          expect(new Set(next.findings.map(({ id }) => id)).size).toBe(next.findings.length);
          expect(next.round).toBe(ledger.round + 1);
          ledger = next;
        }
      }),
    );
  });
});

describe("two reports", () => {
  const report = (title: string, evidence = "") => ({ file: "a.ts", line: 0, title, evidence });
  // None of these words is in bench/defects.ts, by which the rules were chosen.
  test.each([
    ["Memory leak in the event listener", "Event listener leaks memory"],
    ["Button label is not translated", "The button's label isn't translated"],
    ["Unhandled rejection in `upload`", "`upload()`: rejection is never handled"],
    ["Wrong default for pageSize", "pageSize has the wrong default"],
    ["Off-by-one error in pagination", "Pagination has an off by one error"],
    ["Deprecated API is called", "Calls a deprecated API in two places"],
  ])("%j and %j are the same", (a, b) => expect(likeness(report(a), report(b))).toBeGreaterThan(0));

  test.each([
    ["Memory leak in the event listener", "Memory leak in the socket pool"],
    ["Button is too wide", "Button is too narrow"],
    ["Wrong default for pageSize", "Wrong default for pageCount"],
    ["Missing test for upload", "Missing test for download"],
    ["Error code 404 is wrong", "Error code 500 is wrong"],
    ["Docs", "Tests"],
  ])("%j and %j are two", (a, b) => expect(likeness(report(a), report(b))).toBe(0));

  test("with other words are the same if their evidence is", () => {
    const evidence = "The listener is added on each render and never removed";
    const other = "Never removed although each render adds the listener";
    expect(
      likeness(report("Listeners pile up on render", evidence), report("Listeners accumulate on render", other)),
    ).toBeGreaterThan(0);
    expect(likeness(report("Listeners pile up on render", evidence), report("Listeners accumulate on render"))).toBe(0);
    expect(isSameEvidence(evidence, other)).toBe(true);
    expect(isSameEvidence("", "")).toBe(false);
  });

  test("of different files are two", () => {
    expect(likeness(report("Cold"), { ...report("Cold"), file: "b.ts" })).toBe(0);
  });
});

describe("a person's decision", () => {
  test("is about all findings that it names, or none", () => {
    const ledger = ledgerOf([cold, { title: "No lid", file: "a.ts" }]);
    expect(takeDecision(ledger, ["F2", "F1"], "approved", "Both")).toMatchObject({
      ledger: { findings: [{ state: "approved", by: "human", note: "Both" }, { state: "approved" }] },
    });
    expect(takeDecision(ledger, ["F1", "F3"], "approved", "")).toEqual({
      problem: 'There is no finding "F3".',
      fix: "Findings: F1, F2.",
    });
    const fixed = review(ledger, [{ id: "F1", state: "fixed" }, { id: "F2" }]).ledger;
    expect(takeDecision(fixed, ["F1"], "dismissed", "")).toMatchObject({
      problem: "F1 was already marked as fixed by critic.",
    });
    const dismissed = takeDecision(ledger, ["F1"], "dismissed", "");
    if ("problem" in dismissed) throw new Error(dismissed.problem);
    expect(takeDecision(dismissed.ledger, ["F1"], "approved", "")).toMatchObject({
      problem: "F1 was already marked as dismissed by a person.",
    });
  });

  test("keeps its note for the prompts, beside the reason of the review that closes the finding", () => {
    const approve = (ledger: Ledger, note: string) => {
      const taken = takeDecision(ledger, ["F1"], "approved", note);
      return "ledger" in taken ? taken.ledger : emptyLedger;
    };
    const noted = approve(ledgerOf([cold]), "Use a diamond burr,\nnot steel");
    expect(writeFindings(noted, "approved")).toBe(
      "F1 (high, approved by a person) cup.ts:3 It is cold\n  20 degrees in the cup\n  The person's note: Use a diamond burr,\n  not steel",
    );
    const fixed = review(noted, [{ id: "F1", state: "fixed", reason: "It is warm." }], "c2").ledger;
    expect(fixed.findings).toMatchObject([{ note: "Use a diamond burr,\nnot steel", reason: "It is warm." }]);
    expect(writeFindings(fixed, "fixed")).toMatch(/fixed: It is warm\.\).*The person's note: Use a diamond burr/s);
    const back = review(fixed, [{ id: "F1", state: "open" }], "c3", ["cup.ts"]).ledger;
    expect(writeFindings(back, "open")).toContain("The person's note: Use a diamond burr");
    expect(approve(back, "").findings).toMatchObject([{ state: "approved", note: "Use a diamond burr,\nnot steel" }]);
    expect(approve(noted, "Any burr").findings).toMatchObject([{ note: "Any burr" }]);
  });

  test("that was saved before notes were kept apart shows its reason as the note", () => {
    const [finding] = ledgerOf([cold]).findings;
    const old = { ...finding, state: "approved", by: "human", reason: "Warm it" } as never;
    expect(writeFindings({ ...emptyLedger, findings: [old] }, "approved")).toContain("The person's note: Warm it");
    const { findings } = review({ ...emptyLedger, round: 1, findings: [old] }, [{ id: "F1", state: "fixed" }]).ledger;
    expect(findings).toMatchObject([{ state: "fixed", note: "Warm it" }]);
  });

  test("ends the count of reviews that changed nothing", () => {
    const { ledger } = review(ledgerOf([cold]), [{ id: "F1" }]);
    expect(ledger.quiet).toBe(1);
    expect(takeDecision(ledger, ["F1"], "approved", "")).toMatchObject({ ledger: { quiet: 0 } });
  });
});
