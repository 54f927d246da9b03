import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { packageRoot } from "../home/package-root.ts";
import { shownPath } from "../home/shown-path.ts";

/** How to call us from here: by name where we are on the PATH, else by the launcher of the checkout. */
export function ownCommand(path = ""): string {
  const launcher = join(packageRoot(), "bin", "signalbox");
  const isOnPath = path.split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, "signalbox")));
  return isOnPath || !existsSync(launcher) ? "signalbox" : shownPath(launcher);
}
