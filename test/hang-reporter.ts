import type { Reporter, TestModule } from "vitest/node";

/** Far longer than any file of tests takes, in milliseconds. */
const patience = Number(process.env.SIGNALBOX_TEST_PATIENCE) || 10 * 60_000;

/**
 * Ends a run of the suite that stands still, and names the files that have not come to their end. A test's own time limit
 * cannot: a test that waits for a program with `spawnSync` lets no timer go off.
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
      process.stderr.write(`\nNo file of tests has ended for ${patience / 1000} s. Under way are:\n${names}`);
      process.kill(process.pid, "SIGKILL");
    }, patience);
  }
}
