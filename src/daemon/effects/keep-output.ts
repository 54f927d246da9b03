import { dirname } from "node:path";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { publishFile } from "../../home/publish-file.ts";
import type { Log } from "../../ports/log.ts";

/** Keeps what a command printed in a file, and says where. That it cannot be kept says nothing about the command. */
export function keepOutput(log: Log, task: string, path: string, text: string): string {
  try {
    makePrivateFolder(dirname(path));
    publishFile(path, text, { mode: 0o600 });
    return `The whole output is in ${path}.`;
  } catch (error) {
    log.warn("The output of a command could not be kept", { task, path, error });
    return "The whole output could not be kept.";
  }
}
