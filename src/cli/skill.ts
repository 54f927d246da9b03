import { readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { publishFile } from "../durable-file.ts";
import { Fault } from "../fault.ts";
import { makeFolder } from "../home/make-folder.ts";
import { isNewer, packageRoot, packageVersion } from "../home/places.ts";
import { sha256 } from "../sha256.ts";
import type { AgentName } from "./find.ts";

/** What happened to the file at a place. `kept`: the user has changed it, so it stays. */
export type SkillChange = "installed" | "updated" | "replaced" | "unchanged" | "kept" | "removed" | "absent";

interface Changing {
  readonly isDry: boolean;
  /** Also replace a changed file; a copy is kept beside the new one. */
  readonly force: boolean;
}

export interface Changed extends SkillPlace {
  readonly change: SkillChange;
  /** Why the file was kept, or where its copy is. */
  readonly note: string;
}

/** Installs the skill where agents look for it. An unchanged older version is updated. */
export function putSkill(place: SkillPlace, { isDry, force }: Changing): Changed {
  const { file } = place;
  const text = skillText();
  const found = readSkill(file);
  const state = skillState(found, text);
  if (state === "current") return { ...place, change: "unchanged", note: "" };
  if (!force && (state === "changed" || state === "newer")) return { ...place, change: "kept", note: whyKept[state] };
  const before = `${file}.before`;
  if (!isDry) {
    makeFolder(dirname(file));
    if (state === "changed") publishFile(before, found ?? "");
    publishFile(file, text);
  }
  if (state === "changed") return { ...place, change: "replaced", note: `the previous file is ${before}` };
  return { ...place, change: state === "missing" ? "installed" : "updated", note: "" };
}

export function removeSkill(place: SkillPlace, { isDry, force }: Changing): Changed {
  const { file } = place;
  const state = skillState(readSkill(file), skillText());
  if (state === "missing") return { ...place, change: "absent", note: "" };
  if (state === "changed" && !force) return { ...place, change: "kept", note: whyKept[state] };
  if (!isDry) deleteFile(file);
  return { ...place, change: "removed", note: "" };
}

const whyKept = {
  changed: "it was changed since Signalbox wrote it",
  newer: "a newer Signalbox wrote it",
};

function deleteFile(file: string): void {
  try {
    rmSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${file} cannot be removed (${code}).`, {
      hint: "Check the permissions of its folder.",
      cause: error,
    });
  }
  try {
    rmdirSync(dirname(file));
  } catch {
    // The folder has other files.
  }
}

/** The file of a skill, and the agents that read it there. */
export interface SkillPlace {
  /** Absolute. */
  readonly file: string;
  readonly agents: readonly AgentName[];
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where these agents look for skills: in a repository, or in the user's home. All but Claude Code share `.agents`, so
 * each of them finds the skill once.
 */
export function skillPlaces(agents: readonly AgentName[], root: { home: string; env: Env } | { repository: string }) {
  const places = new Map<string, AgentName[]>();
  for (const agent of agents) {
    const file = join(folderOf(agent, root), "signalbox", "SKILL.md");
    places.set(file, [...(places.get(file) ?? []), agent]);
  }
  return [...places].map(([file, readers]): SkillPlace => ({ file, agents: readers }));
}

function folderOf(agent: AgentName, root: { home: string; env: Env } | { repository: string }): string {
  if ("repository" in root) return resolve(root.repository, agent === "claude" ? ".claude" : ".agents", "skills");
  const { home, env } = root;
  if (agent === "claude") return resolve(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "skills");
  return resolve((agent === "gemini" && env.GEMINI_CLI_HOME) || home, ".agents", "skills");
}

/**
 * The state of a skill file: missing, current, written by an older or a newer version, or
 * changed by the user.
 */
type SkillState = "missing" | "current" | "older" | "newer" | "changed";

/** The skill as installed: its last line has the version that wrote it, and a hash to detect changes. */
export function skillText(): string {
  return stamped(readFileSync(join(packageRoot(), "skills", "signalbox", "SKILL.md"), "utf8"), packageVersion);
}

export function stamped(text: string, version: string): string {
  return `${text}\n<!-- signalbox ${version} ${fingerprint(text)} -->\n`;
}

export function readSkill(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new Fault("unreadable", `${file} cannot be read (${code}).`, {
      hint: "Check its owner and its permissions.",
      cause: error,
    });
  }
}

export function skillState(found: string | undefined, ours: string): SkillState {
  if (found === undefined) return "missing";
  if (found === ours) return "current";
  const [, text = "", version = "", mark] = /^([\s\S]*)\n<!-- signalbox (\S+) ([0-9a-f]+) -->\n$/.exec(found) ?? [];
  if (mark !== fingerprint(text)) return "changed";
  return isNewer(version, packageVersion) ? "newer" : "older";
}

function fingerprint(text: string): string {
  return sha256(text).slice(0, 16);
}
