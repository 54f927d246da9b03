import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../fault.ts";
import type { ProjectFiles } from "../project-tests/finders.ts";

/** In bytes. Larger files are not written by hand. */
const maxFileSize = 1024 * 1024;

/** Reads the files of a folder on demand. A file that exists but cannot be read is a Fault. */
export function projectFiles(folder: string): ProjectFiles {
  const sizeOf = (path: string) => {
    const found = look(path, () => statSync(join(folder, path)));
    return found?.isFile() ? found.size : undefined;
  };
  // A missing folder must not look like a project without tests.
  if (look(folder, () => readdirSync(folder)) === undefined) throw unreadable(folder, "ENOENT");
  return {
    has: (path) => sizeOf(path) !== undefined,
    canRun: (path) => sizeOf(path) !== undefined && isAllowed(join(folder, path)),
    list: (path) => look(path, () => readdirSync(join(folder, path)))?.sort() ?? [],
    read(path) {
      const size = sizeOf(path);
      if (size === undefined || size > maxFileSize) return undefined;
      return look(path, () => readFileSync(join(folder, path), "utf8"));
    },
  };
}

function look<Seen>(path: string, at: () => Seen): Seen | undefined {
  try {
    return at();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(code)) return undefined;
    throw unreadable(path, code, error);
  }
}

function isAllowed(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function unreadable(path: string, code: string, cause?: unknown): Fault {
  return new Fault("tests.unreadable", `"${path}" cannot be read (${code}), so the test command cannot be found.`, {
    hint: "Check the folder's permissions.",
    cause,
  });
}
