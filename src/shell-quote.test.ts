import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellQuote, shellWord } from "./shell-quote.ts";

test("a shell reads back exactly the quoted words", () => {
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

test("a plain path is not quoted, and a word that the shell would change is", () => {
  expect(["found/a-1.json", "user@host:x=1,2%+"].map(shellWord)).toEqual(["found/a-1.json", "user@host:x=1,2%+"]);
  expect(["it's here", "~/x", "", "a*"].map(shellWord)).toEqual(["'it'\\''s here'", "'~/x'", "''", "'a*'"]);
});
