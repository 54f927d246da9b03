import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../fault.ts";
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
  const text = setConfig(textOf(file), key, value, level);
  makeFolder(dirname(file));
  publishFile(file, text);
  this.print(shownPath(file));
  this.say(`To see what holds now: signalbox config get ${key}`);
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
