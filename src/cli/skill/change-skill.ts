import { rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../fault.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { publishFile } from "../../home/publish-file.ts";
import type { SkillPlace } from "./skill-places.ts";
import { readSkill, skillState, skillText } from "./skill-text.ts";

/** What becomes of the file at a place. `kept`: it is not as we wrote it, so it stays. */
export type SkillChange = "installed" | "updated" | "replaced" | "unchanged" | "kept" | "removed" | "absent";

export interface Changing {
  readonly isDry: boolean;
  /** Also what somebody has changed; it is kept beside the new one. */
  readonly force: boolean;
}

export interface Changed extends SkillPlace {
  readonly change: SkillChange;
  /** Why it was kept, or where what was there is now. */
  readonly note: string;
}

/** Puts the skill where agents look for it. What is there and ours becomes the present version. */
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
  if (state === "changed") return { ...place, change: "replaced", note: `what was there is in ${before}` };
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
  changed: "it is not as Signalbox wrote it",
  newer: "a newer Signalbox wrote it",
};

function deleteFile(file: string): void {
  try {
    rmSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${file} cannot be removed (${code}).`, {
      hint: "Look at the permissions of its folder.",
      cause: error,
    });
  }
  try {
    rmdirSync(dirname(file));
  } catch {
    // Something of the user's is in it.
  }
}
