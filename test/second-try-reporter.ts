import type { Reporter, TestCase } from "vitest/node";

/** Names the tests that passed only at their second try: each is a race, in the test or in what it tests. */
export default class SecondTryReporter implements Reporter {
  private readonly names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.names.push(`${test.module.relativeModuleId}: ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.names.length === 0) return;
    const list = this.names.map((name) => `  ${name}\n`).join("");
    process.stderr.write(`\nThese passed only at their second try, and need a look:\n${list}`);
  }
}
