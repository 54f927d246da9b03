import type { Reporter, TestModule } from "vitest/node";

/** Far longer than any test file takes, in milliseconds. */
const timeout = Number(process.env.SIGNALBOX_TEST_PATIENCE) || 10 * 60_000;

/**
 * Ends a test run that hangs, and names the files that have not ended. A test's own timeout cannot do that: while a test waits
 * in `spawnSync`, no timer fires.
 */
export default class HangReporter implements Reporter {
  private readonly underWay = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  onTestModuleStart({ relativeModuleId }: TestModule): void {
    this.underWay.add(relativeModuleId);
    this.wind();
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.underWay.delete(relativeModuleId);
    this.wind();
  }

  onTestRunEnd(): void {
    clearTimeout(this.timer);
  }

  private wind(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const names = [...this.underWay].map((name) => `  ${name}\n`).join("");
      process.stderr.write(`\nNo file of tests has ended for ${timeout / 1000} s. Under way are:\n${names}`);
      process.kill(process.pid, "SIGKILL");
    }, timeout);
  }
}
