import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether there is such a process. One that has ended but was not fetched by its parent is as good as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Otherwise it is there, and somebody else's.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  try {
    return !/\) Z /.test(readFileSync(join("/proc", String(pid), "stat"), "latin1"));
  } catch {
    return true;
  }
}
