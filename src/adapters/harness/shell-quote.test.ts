import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellQuote } from "./shell-quote.ts";

test("a shell gives back exactly the words that were quoted", () => {
  const word = fc.string({ unit: fc.constantFrom(..."ab '\"$`\\;&|<>*?#!~\n()[]{}%é-") });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const print = [process.execPath, "-e", "process.stdout.write(JSON.stringify(process.argv.slice(1)))", "--"];
      const output = execFileSync("/bin/sh", ["-c", shellQuote([...print, ...words])], { encoding: "utf8" });
      expect(JSON.parse(output)).toEqual(words);
    }),
    { numRuns: 15 },
  );
});
