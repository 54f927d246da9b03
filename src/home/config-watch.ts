import { type FSWatcher, realpathSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { Fault } from "../fault.ts";
import { configFault, loadConfig } from "./config.ts";
import type { PartialConfig } from "./config-fields.ts";

// An editor saves in several steps; what is between them is nobody's configuration.
const quietMilliseconds = 50;

/**
 * Calls `onChange` with what the user's file says whenever that becomes something else, and `onProblem` while it is
 * wrong: then what was said before still holds. Begin before reading the file, so that no change is missed. The result
 * stops it.
 */
export function watchConfig(
  file: string,
  onChange: (config: PartialConfig) => void,
  onProblem: (fault: Fault) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let last: string | undefined;
  const look = () => {
    const seen = reading(file);
    if (seen.key === last) return;
    last = seen.key;
    if (seen.fault === undefined) onChange(seen.config);
    else onProblem(seen.fault);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(look, quietMilliseconds);
  };
  const watchers = watchedPaths(file).map((path) => watchName(path, later, onProblem));
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher?.close();
  };
}

function reading(file: string) {
  try {
    const { config, problems } = loadConfig(file, "user");
    const fault = problems.length === 0 ? undefined : configFault(file, problems);
    return { config, fault, key: fault?.message ?? JSON.stringify(config) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { config: {}, fault: error, key: error.message };
  }
}

/** The file, and what it leads to where it is a link. */
function watchedPaths(file: string): readonly string[] {
  try {
    return [...new Set([file, realpathSync(file)])];
  } catch {
    return [file];
  }
}

/** Watches the folder: whoever watches a file keeps looking at the old one when another takes its name. */
function watchName(path: string, onEvent: () => void, onProblem: (fault: Fault) => void): FSWatcher | undefined {
  const fail = (error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    onProblem(
      new Fault("unwatchable", `Changes of ${path} are not noticed (${code}).`, {
        hint: "Look at the folder, or start the daemon anew after a change.",
        cause: error,
      }),
    );
  };
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
      if (name === null || name === basename(path)) onEvent();
    });
    return watcher.on("error", fail);
  } catch (error) {
    fail(error);
    return undefined;
  }
}
