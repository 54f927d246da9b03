import { readDuration } from "../../engine/duration.ts";
import { Fault } from "../../fault.ts";
import type { PartialConfig } from "../../home/config-fields.ts";
import type { Places } from "../../home/places.ts";
import { type PortRange, readPorts } from "../../home/read-ports.ts";
import { mayCount, readRepositoryConfig } from "../../home/repository-config.ts";
import { resolveConfig } from "../../home/resolve-config.ts";
import type { Project } from "../../ports/store.ts";

/** What a project's workspaces are made with. Commands are lists of arguments, empty where there is none. */
export interface ProjectSettings {
  readonly keep: readonly string[];
  readonly copy: readonly string[];
  readonly link: readonly string[];
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  /** Milliseconds, for each of the two. */
  readonly setupTimeout: number;
  readonly testCommand: readonly string[];
  /** Seconds. */
  readonly testTimeout: number;
  readonly requireTests: boolean;
  /** Whether merges are tested before the default branch moves. */
  readonly testMerges: boolean;
  /** Undefined where no workspace is to have a port. */
  readonly ports: PortRange | undefined;
}

export type SettingsOf = (project: Project) => ProjectSettings;

export interface SettingsPorts {
  readonly home: string;
  readonly places: Pick<Places, "trusted">;
  /** The user's own configuration. */
  config(): { readonly values: PartialConfig };
}

/** What a person does about a repository's configuration that has not been trusted. */
export function trustCommand(project: string): string {
  return `signalbox trust --config --project ${project}`;
}

/**
 * Read anew whenever it is needed, from the user's own checkout: a file in a workspace is in an agent's reach. A file with
 * commands that nobody has trusted is a Fault, and then nothing of it counts.
 */
export function createSettings({ home, places, config }: SettingsPorts): SettingsOf {
  const known = new Map<string, { readonly values: PartialConfig; readonly hash: string; settings: ProjectSettings }>();
  return (project) => {
    const repository = readRepositoryConfig(home, project.path);
    if (repository !== undefined && !mayCount(repository, places)) {
      const { file, commands } = repository;
      throw new Fault(
        "config.untrusted",
        `${file} names commands (${commands.join(", ")}), and has not been trusted.`,
        {
          hint: `They would run on this machine. Read it, then: ${trustCommand(project.name)}`,
        },
      );
    }
    const { values } = config();
    const hash = repository?.hash ?? "";
    const before = known.get(project.name);
    if (before?.values === values && before.hash === hash) return before.settings;
    const resolved = resolveConfig({ repository: repository?.config, user: values });
    const settings: ProjectSettings = {
      keep: resolved.keep.value,
      copy: resolved.copy.value,
      link: resolved.link.value,
      setup: resolved.setup.value,
      teardown: resolved.teardown.value,
      setupTimeout: (readDuration(resolved.setupTimeout.value) ?? 0) * 1000,
      testCommand: resolved.testCommand.value,
      testTimeout: readDuration(resolved.testTimeout.value) ?? 0,
      requireTests: resolved.requireTests.value,
      testMerges: resolved.testMerges.value,
      ports: readPorts(resolved.ports.value),
    };
    known.set(project.name, { values, hash, settings });
    return settings;
  };
}
