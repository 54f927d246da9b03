import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The path of a program with this name or absolute path; empty if there is none. Only absolute folders of the PATH
 * count, so that a file in the current folder is never run.
 */
export function findProgram(name: string, path: string): string {
  const places = name.includes("/") ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  return places.find((place) => isAbsolute(place) && isProgram(place)) ?? "";
}

/** Whether it is an executable file. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
