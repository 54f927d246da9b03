import { findTestCommand } from "../../engine/find-test-command.ts";
import type { Places } from "../../home/places.ts";
import { projectFiles } from "../../home/project-files.ts";
import type { Project } from "../../ports/store.ts";
import type { Repositories } from "../core.ts";
import type { CommandPorts } from "../effects/run-in-workspace.ts";
import type { SettingsOf } from "../workspaces/project-settings.ts";
import type { LandPorts } from "./land.ts";
import { createMerging, type MergingPorts } from "./merging.ts";
import type { Predictions } from "./predict-conflicts.ts";
import { testMerged } from "./test-merged.ts";

/** How merges are tested and published. */
export type Landing = Pick<LandPorts, "where" | "test">;

export interface RepositoriesPorts extends Omit<MergingPorts, "landingOf">, Omit<CommandPorts, "signal"> {
  readonly predictions: Predictions;
  readonly places: Places;
  readonly signal: AbortSignal;
  readonly settingsOf: SettingsOf;
  /** Instead of the usual. */
  readonly landing: Partial<Landing>;
}

/** Puts together what is done with projects' repositories. */
export function createRepositories(given: RepositoriesPorts): Repositories {
  const { places, signal, settingsOf, where, landing } = given;
  const ports: MergingPorts & RepositoriesPorts = {
    ...given,
    async landingOf(project, own) {
      const { testMerges } = settingsOf(project);
      const test: LandPorts["test"] = testMerges
        ? (commit, merged) => testMerged(given, own, project, commit, merged)
        : undefined;
      return { workspaces: places.workspaces, signal, where: where(), test, ...landing };
    },
  };
  const leavesUntested = (project: Project) => {
    const { testMerges, testCommand } = settingsOf(project);
    return !testMerges && (testCommand.length > 0 || findTestCommand(projectFiles(project.path)).kind === "found");
  };
  return { ...ports, merging: createMerging(ports), leavesUntested };
}
