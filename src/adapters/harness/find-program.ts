import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Where a program is that is called by its name, or by its path; empty where there is none. */
export function findProgram(name: string, path: string): string {
  const places = isAbsolute(name)
    ? [name]
    : path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? [join(folder, name)] : []));
  return places.find(isProgram) ?? "";
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
