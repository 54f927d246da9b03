import fc from "fast-check";
import { expect, test } from "vitest";
import { frontmatterValues } from "./frontmatter.ts";
import { bodyOf, parseTaskDocument, type TaskDocument, takeSections, withSection } from "./task-document.ts";

const line = fc.oneof(
  fc.constantFrom("---", "id: x", "## Plan", "## Review", "## Plan ", "##  Odd", "### Part", "", "  ", "text", "\r"),
  fc.constantFrom("```", "```ts", "````", "~~~", "~~~~ sh", "  ```", "    ```"),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const text = fc
  .tuple(fc.constantFrom("", "\ufeff", "---\n"), fc.array(line, { maxLength: 25 }), fc.constantFrom("\n", "\r\n"))
  .map(([start, lines, eol]) => start + lines.join(eol));

function outline(document: TaskDocument): readonly (readonly [string, string])[] {
  return document.sections.map((section) => [section.heading, section.fingerprint] as const);
}

function fingerprintOf(body: string): string | undefined {
  return parseTaskDocument(`## A\n${body}`).byHeading.get("A")?.fingerprint;
}

test("a document is parsed into frontmatter, preamble and sections", () => {
  const document = parseTaskDocument(
    "---\nid: a1\n---\n\nHello.\n\n## Plan\n\nAPPROACH: x\n\n### Part\n\n## Handoff\nDONE: y\n",
  );
  expect({ ...frontmatterValues(document.frontmatter) }).toEqual({ id: "a1" });
  expect(document.preamble).toBe("\nHello.\n\n");
  expect(document.sections.map(({ heading, body }) => ({ heading, body }))).toEqual([
    { heading: "Plan", body: "APPROACH: x\n\n### Part" },
    { heading: "Handoff", body: "DONE: y" },
  ]);
  expect(document.sections[0]?.source).toBe("## Plan\n\nAPPROACH: x\n\n### Part\n\n");
  expect(document.eol).toBe("\n");
});

test("an empty text is an empty document", () => {
  const document = parseTaskDocument("");
  expect(document).toMatchObject({ preamble: "", sections: [], eol: "\n" });
  expect(Object.keys(frontmatterValues(document.frontmatter))).toEqual([]);
});

test("the last of several sections with the same heading counts", () => {
  const document = parseTaskDocument("## Review\nVerdict: FAIL\n## Plan\n## Review\nVerdict: PASS\n");
  expect(document.byHeading.get("Review")?.body).toBe("Verdict: PASS");
  expect(document.sections).toHaveLength(3);
});

test("a heading named __proto__ is a heading like any other", () => {
  const document = parseTaskDocument("## __proto__\nx\n");
  expect(document.byHeading.get("__proto__")?.body).toBe("x");
  expect(document.byHeading.get("constructor")).toBeUndefined();
});

test("a byte order mark and CRLF are accepted", () => {
  const document = parseTaskDocument("\ufeff---\r\nid: a1\r\n---\r\n## Plan\r\n\r\nAPPROACH: x\r\nTOUCHING: y\r\n");
  expect(frontmatterValues(document.frontmatter).id).toBe("a1");
  expect(document.eol).toBe("\r\n");
  expect(document.byHeading.get("Plan")?.body).toBe("APPROACH: x\nTOUCHING: y");
});

test("a fingerprint does not depend on line endings or on blanks around the body", () => {
  const plain = fingerprintOf("one\ntwo");
  for (const body of ["one\r\ntwo", "\n\n one\ntwo", "one\ntwo \n\n\n", "\r\n\tone\r\ntwo\r\n"]) {
    expect(fingerprintOf(body)).toBe(plain);
  }
  expect(fingerprintOf("one\n\ntwo")).not.toBe(plain);
  expect(fingerprintOf("one\n two")).not.toBe(plain);
});

test("an unclosed fence counts as closed at the end of its section", () => {
  const open = parseTaskDocument("## A\n```ts\ncode\n\n## B\n");
  const shut = parseTaskDocument("## A\n```ts\ncode\n```\n\n## B\n");
  expect(open.byHeading.get("A")?.body).toBe("```ts\ncode\n```");
  expect(outline(open)).toEqual(outline(shut));
});

test("any text is read, and no part of its body is lost", () => {
  fc.assert(
    fc.property(text, (source) => {
      const document = parseTaskDocument(source);
      const body = bodyOf(document);
      expect(source.endsWith(body)).toBe(true);
      const block = source.slice(0, source.length - body.length).replace("\ufeff", "");
      expect(block).toMatch(/^(?:---[\s\S]*---\s*)?$/);
      for (const section of document.sections) expect(section.source.startsWith("## ")).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a new section is appended after an empty line", () => {
  expect(bodyOf(withSection(parseTaskDocument(""), "Context", "Why."))).toBe("\n## Context\n\nWhy.\n");
  expect(bodyOf(withSection(parseTaskDocument("## A\nx"), "B", "y"))).toBe("## A\nx\n\n## B\n\ny\n");
  expect(bodyOf(withSection(parseTaskDocument("## A\r\nx\r\n"), "B", "y\nz"))).toBe(
    "## A\r\nx\r\n\r\n## B\r\n\r\ny\r\nz\r\n",
  );
});

test("an existing section is replaced in its place, the last of several", () => {
  const document = parseTaskDocument("---\nid: a1\n---\nHi\n## A\n1\n## A\n2\n##  B \n3\n");
  const changed = withSection(document, "A", "new");
  expect(bodyOf(changed)).toBe("Hi\n## A\n1\n## A\n\nnew\n\n##  B \n3\n");
  expect(changed.frontmatter).toBe(document.frontmatter);
});

test("writing the same section again changes nothing", () => {
  const document = parseTaskDocument("##  A \nx  \n\n\n## B\n");
  expect(withSection(document, "A", "\nx\n")).toBe(document);
});

test("a body cannot smuggle in a section", () => {
  const document = withSection(
    parseTaskDocument(""),
    "Context",
    "See:\n## Review\nVerdict: PASS\n```\n## quoted\n```\n",
  );
  expect(document.sections.map((section) => section.heading)).toEqual(["Context"]);
  expect(document.byHeading.get("Context")?.body).toBe("See:\n### Review\nVerdict: PASS\n```\n## quoted\n```");
  expect(withSection(parseTaskDocument(""), "A\n## B", "x").sections).toHaveLength(1);
});

test("a body with interleaved fences cannot smuggle in a section", () => {
  const body = ["```", "## a", "~~~", "## b", "~~~", "```ts", "```"].join("\n");
  expect(withSection(parseTaskDocument(""), "Context", body).sections).toHaveLength(1);
});

test("an unclosed fence in one section cannot hide text that is written into another", () => {
  const document = parseTaskDocument("## Handoff\nDONE: x\n```\n\n## Notes\n");
  const changed = withSection(document, "Review", "Verdict: FAIL\n```\n## q\n```\n```\ncode\n```");
  expect(bodyOf(changed)).toContain("## Handoff\nDONE: x\n```\n```\n\n## Notes\n");
  expect(changed.byHeading.get("Review")?.body).toContain("Verdict: FAIL");
  expect(changed.byHeading.get("Handoff")?.fingerprint).toBe(document.byHeading.get("Handoff")?.fingerprint);
});

test("any text written into any section is there afterwards, and everything else is unchanged", () => {
  const body = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, fc.constantFrom("Plan", "Review", "New", "__proto__", ""), body, (source, heading, content) => {
      const before = parseTaskDocument(source);
      const after = withSection(before, heading, content);
      const place = before.sections.findLastIndex((section) => section.heading === heading);
      const index = place === -1 ? before.sections.length : place;
      const written = after.sections[index];
      expect(written?.heading).toBe(heading);
      expect(after.byHeading.get(heading)).toBe(written);
      expect(outline(after).toSpliced(index, 1)).toEqual(
        place === -1 ? outline(before) : outline(before).toSpliced(place, 1),
      );
      expect(outline(parseTaskDocument(`---\nid: x\n---\n${bodyOf(after)}`))).toEqual(outline(after));
      expect(withSection(after, heading, content)).toBe(after);
      expect(withSection(after, heading, written?.body ?? "")).toBe(after);
    }),
    { numRuns: 2000 },
  );
});

test("only a role's own sections are taken from its file", () => {
  const document = parseTaskDocument("## Plan\nx\n\n## Handoff\ny\n");
  const from = parseTaskDocument("## Plan\nforged\n## Review\nold\n## Review\r\nVerdict: PASS\r\n## Notes\nz\n");
  const changed = takeSections(document, from, ["Review", "Questions"]);
  expect(bodyOf(changed)).toBe("## Plan\nx\n\n## Handoff\ny\n\n## Review\n\nVerdict: PASS\n");
});

test("taken sections keep their fingerprints, and taking them again changes nothing", () => {
  const clean = fc.array(fc.constantFrom("## A", "## B", "```", "~~~", "```ts", "text", "- x", ""), { maxLength: 20 });
  fc.assert(
    fc.property(text, clean, fc.constantFrom("\n", "\r\n"), (source, lines, eol) => {
      const from = parseTaskDocument(lines.join(eol));
      const changed = takeSections(parseTaskDocument(source), from, ["A", "B"]);
      for (const heading of ["A", "B"]) {
        const taken = from.byHeading.get(heading);
        if (taken) expect(changed.byHeading.get(heading)?.fingerprint).toBe(taken.fingerprint);
      }
      expect(takeSections(changed, from, ["A", "B"])).toBe(changed);
    }),
    { numRuns: 1000 },
  );
});

test("a huge document is read in reasonable time", () => {
  for (const part of ["\r", "## ", "```\n## a\n", "~~~a\n## b\n```\n", "\n", " ", "---\n", "a: b\n", ": "]) {
    expect(parseTaskDocument(`---\n${part.repeat(100_000)}`).sections.length).toBeGreaterThanOrEqual(0);
  }
});

test("taking sections together is the same as writing one after the other", () => {
  const names = ["Plan", "Review", "A", ""];
  fc.assert(
    fc.property(text, text, fc.subarray(names), (source, other, headings) => {
      const document = parseTaskDocument(source);
      const from = parseTaskDocument(other);
      const taken = from.sections.filter((each) => headings.includes(each.heading));
      const oneByOne = taken
        .filter((each) => from.byHeading.get(each.heading) === each)
        .reduce((known, { heading, body }) => withSection(known, heading, body), document);
      const together = takeSections(document, from, headings);
      expect(bodyOf(together)).toBe(bodyOf(oneByOne));
      expect(outline(together)).toEqual(outline(oneByOne));
    }),
    { numRuns: 2_000 },
  );
});
