import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { builtIn, builtInNames } from "./workflow-texts.ts";

/** Tests the loader with random files. A factor of 1 takes a few seconds. */
export function testRandomFiles(times: number): void {
  describe("the loader never throws: any file gives a workflow, or a problem with a place", () => {
    const judge = (text: string) => {
      const { workflow, problems } = loadWorkflow(text, "b.yml");
      const lines = text.split("\n").length;
      expect(workflow !== undefined || problems.some(({ level }) => level === "error")).toBe(true);
      for (const { line, column, message, file } of problems) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(lines);
        expect(column).toBeGreaterThanOrEqual(1);
        expect(message).toMatch(/\.$/);
        expect(file).toBe("b.yml");
      }
    };

    test("random text", () => {
      fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), judge), { numRuns: 200 * times });
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom(..."{}[]:,-&*!|>'\"%@`#? \n\tab1"), maxLength: 80 }), judge),
        { numRuns: 350 * times },
      );
    });

    test("random YAML made of the language's own words", () => {
      const words = [...new Set(builtInNames.flatMap((name) => builtIn(name).match(/[A-Za-z_]+/g) ?? []))];
      const word = fc.constantFrom(...words);
      const { value } = fc.letrec((tie) => ({
        scalar: fc.oneof(
          word,
          fc.constantFrom("## Review", "n < 2", "visits >= 1", "{rounds}", "5m"),
          fc.integer({ min: -1, max: 4 }),
          fc.boolean(),
          fc.constant(null),
        ),
        list: fc.array(tie("value"), { maxLength: 3 }),
        map: fc.dictionary(word, tie("value"), { maxKeys: 4 }),
        value: fc.oneof({ depthSize: "small", withCrossShrink: true }, tie("scalar"), tie("list"), tie("map")),
      }));
      const file = fc.record({
        version: fc.constant(1),
        states: fc.dictionary(word, value, { maxKeys: 4 }),
        rest: fc.dictionary(word, value, { maxKeys: 4 }),
      });
      fc.assert(
        fc.property(file, ({ rest, ...fixed }) => judge(stringify({ ...rest, ...fixed }))),
        { numRuns: 350 * times },
      );
    });

    test("built-in files with a few lines lost, doubled, swapped or cut", () => {
      const line = fc.nat();
      const change = fc.record({
        kind: fc.constantFrom("lose", "double", "swap", "cut", "indent"),
        at: line,
        other: line,
      });
      fc.assert(
        fc.property(
          fc.constantFrom(...builtInNames),
          fc.array(change, { minLength: 1, maxLength: 4 }),
          (name, changes) => {
            let lines = builtIn(name).split("\n");
            for (const { kind, at, other } of changes) {
              const i = at % lines.length;
              const j = other % lines.length;
              const [a = "", b = ""] = [lines[i], lines[j]];
              if (kind === "lose") lines = lines.toSpliced(i, 1);
              else if (kind === "double") lines = lines.toSpliced(i, 0, a);
              else if (kind === "swap") lines = lines.with(i, b).with(j, a);
              else lines = lines.with(i, kind === "cut" ? a.slice(0, other % (a.length + 1)) : `  ${a}`);
            }
            judge(lines.join("\n"));
          },
        ),
        { numRuns: 150 * times },
      );
    });
  });
}
