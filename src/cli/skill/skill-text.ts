import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../engine/sha256.ts";
import { Fault } from "../../fault.ts";
import { isNewer } from "../../home/compare-versions.ts";
import { packageRoot } from "../../home/package-root.ts";
import { packageVersion } from "../../home/package-version.ts";

/**
 * What stands in a file of the skill: nothing, what this version writes, what an older or a newer one wrote, or what
 * somebody else wrote or changed.
 */
export type SkillState = "missing" | "current" | "older" | "newer" | "changed";

/** The skill as it is installed: with a last line that tells which version wrote it, and whether it is still the same. */
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
      hint: "Look at who owns it, and at its permissions.",
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
