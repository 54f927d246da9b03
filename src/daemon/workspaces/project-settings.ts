import { readDuration } from "../../engine/duration.ts";
import { Fault } from "../../fault.ts";
import { resolveConfig } from "../../home/config.ts";
import type { PartialConfig } from "../../home/config-fields.ts";
import type { Places } from "../../home/places.ts";
import { mayCount, readRepositoryConfig } from "../../home/trust.ts";
import { type PortRange, readPorts, type WorkspaceConfig } from "../../home/workspace-fields.ts";
import type { Project } from "../../ports/store.ts";

/** The settings of a project's workspaces: its part of the configuration, with times and ports parsed. */
export interface ProjectSettings
  extends Pick<
    WorkspaceConfig,
    "keep" | "copy" | "link" | "setup" | "teardown" | "testCommand" | "requireTests" | "protect"
  > {
  /** Milliseconds, for each of setup and teardown. */
  readonly setupTimeout: number;
  /** Seconds. */
  readonly testTimeout: number;
  /** Whether merges are tested before the default branch moves. */
  readonly testMerges: boolean;
  /** Undefined if workspaces get no port. */
  readonly ports: PortRange | undefined;
}

export type SettingsOf = (project: Project) => ProjectSettings;

interface SettingsPorts {
  readonly home: string;
  readonly places: Pick<Places, "trusted">;
  /** The user's own configuration. */
  config(): { readonly values: PartialConfig };
}

/** The command with which a person trusts a repository's configuration. */
export function trustCommand(project: string): string {
  return `signalbox trust --config --project ${project}`;
}

/**
 * Settings are read at each call from the user's own checkout, because agents can write to workspaces. A file with untrusted
 * commands is a Fault, and none of its settings count.
 */
export function createSettings({ home, places, config }: SettingsPorts): SettingsOf {
  const known = new Map<string, { readonly values: PartialConfig; readonly hash: string; settings: ProjectSettings }>();
  return (project) => {
    const repository = readRepositoryConfig(home, project.path);
    if (repository !== undefined && !mayCount(repository, places)) {
      const { file, commands } = repository;
      throw new Fault("config.untrusted", `${file} names commands (${commands.join(", ")}), and is not trusted.`, {
        hint: `They would run on this machine. Read the file, then: ${trustCommand(project.name)}`,
      });
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
      // A repository can protect more files than you do, and not fewer.
      protect: [...new Set([...(values.protect ?? []), ...(repository?.config.protect ?? [])])],
      testMerges: resolved.testMerges.value,
      ports: readPorts(resolved.ports.value),
    };
    known.set(project.name, { values, hash, settings });
    return settings;
  };
}
