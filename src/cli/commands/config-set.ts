import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { nearest } from "../../engine/language/nearest.ts";
import { Fault } from "../../fault.ts";
import { builtInHarnesses } from "../../home/agent-fields.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { homePlaces, repositoryPlaces } from "../../home/places.ts";
import { publishFile } from "../../home/publish-file.ts";
import { setConfig } from "../../home/set-config.ts";
import { shownPath } from "../../home/shown-path.ts";
import { readSound } from "../config-layers.ts";
import type { Context } from "../context.ts";

export function configSet(this: Context, { repository }: { repository: boolean }, key: string, value: string) {
  const file = repository ? repositoryFile(this) : homePlaces(this.home).config;
  const level = repository ? "project" : "user";
  // A file that is wrong is mended by a person first: what holds in it nobody knows.
  readSound(file, level);
  checkName(this, key, value);
  const text = setConfig(textOf(file), key, value, level);
  makeFolder(dirname(file));
  publishFile(file, text);
  this.print(shownPath(file));
  this.say(`To see what holds now: signalbox config get ${key}`);
}

/** A harness that nobody knows would only be noticed by the next task. */
function checkName({ home }: Context, key: string, value: string): void {
  if ((key !== "harness" && key !== "review_harness") || value === "") return;
  const own = Object.keys(readSound(homePlaces(home).config, "user").harnesses ?? {});
  const known = [...builtInHarnesses, ...own];
  if (known.includes(value)) return;
  const close = nearest(value, known);
  throw new Fault("usage", `There is no harness "${value}".${close === undefined ? "" : ` Did you mean "${close}"?`}`, {
    hint: `There are ${known.join(", ")}. To see what is installed: signalbox harness list`,
  });
}

function repositoryFile({ home, repository }: Context): string {
  const file = repository && repositoryPlaces(home, repository)?.config;
  if (file !== undefined) return file;
  throw new Fault("usage", "This folder is in no git repository that has a configuration of its own.", {
    hint: "Run it in a repository, or leave --repository out.",
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
