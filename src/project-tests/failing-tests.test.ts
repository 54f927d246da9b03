import { expect, test } from "vitest";
import { ownTime } from "../../test/scripted-ports.ts";
import { failingTests } from "./output.ts";

test.each<readonly [string, string, readonly string[]]>([
  [
    "TAP",
    "TAP version 13\nok 1 - a\nnot ok 2 - adds # time=1ms\n    not ok 1 - inner\nnot ok 3 - later # TODO soon\nnot ok 4 off # skip\n",
    ["adds # time=1ms", "inner"],
  ],
  [
    "node --test",
    "✔ a (0.4ms)\n✖ adds two (1.25ms)\n✖ failing tests:\n\ntest at a.test.js:3:1\n✖ adds two (1.25ms)\n",
    ["adds two"],
  ],
  [
    "jest",
    "FAIL src/a.test.js (5.2 s)\n  sums\n    ✓ subtracts (1 ms)\n    ✕ adds (3 ms)\n\n  ● Console\n\n  ● sums › adds\n\n    expect(received)\n",
    ["src/a.test.js", "sums › adds"],
  ],
  [
    "vitest",
    " ❯ src/a.test.ts (2 tests | 1 failed) 5ms\n   × adds 4ms\n     → expected 1 to be 2\n\n FAIL  src/a.test.ts > sums > adds\nAssertionError: x\n",
    ["src/a.test.ts > sums > adds"],
  ],
  [
    "pytest",
    "tests/test_a.py F.   [100%]\n=== short test summary info ===\nFAILED tests/test_a.py::test_x[a b - c] - assert 1 == 2\nERROR tests/test_b.py - ImportError: no\n=== 1 failed ===\n",
    ["tests/test_a.py::test_x[a b", "tests/test_b.py"],
  ],
  [
    "unittest",
    "FAIL: test_x (tests.test_a.Sums.test_x)\n----\nFAILED (failures=1)\n",
    ["test_x (tests.test_a.Sums.test_x)"],
  ],
  [
    "go",
    "--- FAIL: TestSums (0.00s)\n    --- FAIL: TestSums/adds (0.00s)\n        a_test.go:3: no\nFAIL\nFAIL\texample.com/x/sums\t0.005s\nFAIL\texample.com/x/other [build failed]\nok  \texample.com/x\t0.1s\nFAIL\n",
    ["TestSums", "TestSums/adds", "example.com/x/sums", "example.com/x/other [build failed]"],
  ],
  [
    "cargo",
    "test sums::adds ... FAILED\ntest sums::takes ... ok\ntest src/lib.rs - sums (line 3) ... FAILED\ntest result: FAILED. 1 passed\n",
    ["sums::adds", "src/lib.rs - sums (line 3)"],
  ],
  [
    "nextest",
    "        FAIL [   0.004s] (1/2) x sums::adds\n        PASS [   0.004s] x sums::takes\n",
    ["x sums::adds"],
  ],
  ["rspec", "rspec ./spec/a_spec.rb:3 # Sums adds\n", ["./spec/a_spec.rb:3 # Sums adds"]],
  [
    "PHPUnit",
    "1) App\\SumsTest::testAdds with data set #0\nFailed asserting\n",
    ["App\\SumsTest::testAdds with data set #0"],
  ],
  ["ExUnit", "  1) test adds (SumsTest)\n     test/a_test.exs:3\n", ["test adds (SumsTest)"]],
  ["Gradle", "SumsTest > adds() FAILED\n    org.opentest4j\n\n> Task :test FAILED\n", ["SumsTest > adds()"]],
  [
    "Maven",
    "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.03 s <<< FAILURE! -- in x.SumsTest\n[ERROR] x.SumsTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n",
    ["x.SumsTest.adds"],
  ],
  [".NET", "  Failed Sums.Adds(a: 1) [3 ms]\n  Error Message:\n  Passed Sums.Takes [1 ms]\n", ["Sums.Adds(a: 1)"]],
  ["ctest", "The following tests FAILED:\n\t  3 - sums (Failed)\n\t  4 - slow (Timeout)\n", ["sums", "slow"]],
  [
    "JUnit's XML",
    '<testsuite><testcase classname="x.Sums" name="takes"/><testcase name="adds" classname="x.Sums"><failure message="no"/></testcase><testcase name="ok"></testcase><testcase name="e"><error/></testcase></testsuite>',
    ["x.Sums adds", "e"],
  ],
  ["nothing it knows", "all is well\nFAIL\nerror: x\n3 failed\n", []],
])("failed tests are found in the output of %s", (_, output, names) => {
  expect(failingTests(output)).toEqual(names);
});

test("output of any size takes linear time", () => {
  const start = ownTime();
  for (const piece of [
    "not ok ",
    " ",
    "FAIL ",
    "x > ",
    "<testcase ",
    "1) ",
    "::",
    "\n",
    "not ok x\n",
    "x > y FAILED\n",
  ]) {
    failingTests(piece.repeat(1_000_000 / piece.length));
  }
  expect(ownTime() - start).toBeLessThan(20_000);
});
