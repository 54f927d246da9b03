import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = resolve(import.meta.dirname, "..");

/**
 * The files that take the longest, and the scenarios with the most agents. In a fresh clone vitest knows no durations: one
 * of these could start last, and the processors would be idle while it ends.
 */
const longest = [
  "test/faults/simulator.test.ts",
  "test/scenarios/classic.test.ts",
  "test/scenarios/default.test.ts",
  "test/scenarios/team.test.ts",
  "test/scenarios/pipeline.test.ts",
  "test/daemon/merging.test.ts",
  "test/language/planted-bugs.test.ts",
  "test/workspaces/worktree.test.ts",
  "test/faults/deleted-files.test.ts",
  "test/daemon/parts.test.ts",
  "test/e2e/credential.test.ts",
  "test/e2e/waiting-agents.test.ts",
  "test/e2e/cli-workflow.test.ts",
  "test/daemon/undone-work.test.ts",
  "test/agents/faults.test.ts",
  "test/agents/adoption.test.ts",
  "test/web/page.test.ts",
  "test/workspaces/clone.test.ts",
  "test/language/random-workflows.test.ts",
  "test/processes/crashes.test.ts",
  "test/e2e/dashboard.test.ts",
  "test/e2e/nothing-lost.test.ts",
  "test/faults/crew-interrupts.test.ts",
  "test/e2e/run.test.ts",
  "test/web/task.test.ts",
  "test/e2e/dry-run.test.ts",
  "test/agents/branch-names.test.ts",
  "test/agents/delivery.test.ts",
  "test/engine/properties.test.ts",
  "test/web/screens.test.ts",
  "test/e2e/create-task.test.ts",
  "test/web/accessible.test.ts",
  "test/agents/brake.test.ts",
  "test/language/loading.test.ts",
  "test/agents/modes.test.ts",
  "test/e2e/agent-commands.test.ts",
  "test/e2e/doctor.test.ts",
  "test/scenarios/crew.test.ts",
  "test/daemon/workspaces.test.ts",
  "test/e2e/task-commands.test.ts",
  "test/language/naive/naive.test.ts",
  "test/terminal/crashes.test.ts",
];

/**
 * Starts the longest files first. The other files with a process of their own follow in a mixed order: some wait more than
 * they compute, so neighbours of different folders use the processors better. The short unit tests come last.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = longest.filter((name) => !existsSync(join(root, name)));
    if (missing.length > 0)
      throw new Error(`test/longest-first.ts names files that do not exist: ${missing.join(", ")}`);
    const sorted = await super.sort(files);
    const isIsolated = ({ project }: TestSpecification) => project.config.isolate;
    const names = new Map(sorted.map((file) => [file, file.moduleId.slice(root.length + 1)]));
    const nameOf = (file: TestSpecification) => names.get(file) ?? "";
    const isLong = (file: TestSpecification) => longest.includes(nameOf(file));
    const others = sorted.filter((file) => isIsolated(file) && !isLong(file));
    return [
      ...sorted.filter(isLong).sort((a, b) => longest.indexOf(nameOf(a)) - longest.indexOf(nameOf(b))),
      ...others.sort((a, b) => (hash("sha1", nameOf(a)) < hash("sha1", nameOf(b)) ? -1 : 1)),
      ...sorted.filter((file) => !isIsolated(file) && !isLong(file)),
    ];
  }
}
