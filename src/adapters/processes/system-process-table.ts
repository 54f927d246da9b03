import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";
import { linuxProcessTable } from "./linux-process-table.ts";
import { readLinuxBoot, readLinuxStart } from "./linux-stat.ts";
import { psProcessTable, readPsBoot, readPsStart } from "./ps-process-table.ts";

const isLinux = process.platform === "linux";

/** The table for this machine. */
export function systemProcessTable(): ProcessTable {
  return isLinux ? linuxProcessTable() : psProcessTable();
}

/** Who a child of ours is, at once: before anybody can have buried it. As the table for this machine says it. */
export function identifyChild(pid: number): ProcessIdentity {
  const boot = isLinux ? readLinuxBoot() : readPsBoot();
  return { boot, pid, start: (isLinux ? readLinuxStart(pid) : readPsStart(pid)) ?? "" };
}
