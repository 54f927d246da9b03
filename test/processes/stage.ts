import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSync } from "esbuild";
import { afterAll } from "vitest";
import { createProcesses, type ProcessesOptions } from "../../src/adapters/processes/create-processes.ts";
import { supervisorCommand } from "../../src/adapters/processes/supervisor-command.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import type { Processes, ProcessIdentity, ProcessOrder, ProcessState } from "../../src/ports/processes.ts";
import { removeFolder } from "../remove-folder.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-processes-"));
const opened: { processes: Processes; folder: string }[] = [];
afterAll(async () => {
  for (const { processes, folder } of opened) {
    const ids = existsSync(folder) ? readdirSync(folder).filter((name) => /^[a-z0-9-]+$/.test(name)) : [];
    for (const id of ids) await processes.kill(id);
  }
  removeFolder(base);
});

// As it is when installed: one file, which starts three times faster.
const file = join(base, "supervisor.cjs");
buildSync({
  entryPoints: [join(import.meta.dirname, "../../src/adapters/processes/supervisor.ts")],
  bundle: true,
  platform: "node",
  format: "cjs",
  outfile: file,
});
export const supervisor = supervisorCommand(file);
export const table = systemProcessTable();

let folders = 0;
/** An empty folder, which goes away in the end. */
export function newFolder(): string {
  return mkdtempSync(join(base, `${++folders}-`));
}

export function openProcesses(options: Partial<ProcessesOptions> = {}): {
  readonly folder: string;
  readonly processes: Processes;
  start(id: string, argv: readonly string[], more?: Partial<ProcessOrder>): Promise<void>;
  ended(id: string): Promise<ProcessState>;
  text(id: string, channel?: "output" | "errors"): Promise<string>;
} {
  const { folder = newFolder() } = options;
  const processes = createProcesses({ folder, supervisor, table, grace: 300, ...options });
  opened.push({ processes, folder });
  return {
    folder,
    processes,
    start(id, argv, more = {}) {
      const env = { PATH: process.env.PATH ?? "" };
      return processes.start({ id, argv, cwd: "/", env, input: "", timeLimit: 600_000, outputLimit: 1e6, ...more });
    },
    async ended(id) {
      await until(async () => (await processes.look(id)).kind !== "running");
      return processes.look(id);
    },
    text: async (id, channel = "output") => Buffer.from(await processes.read(id, channel, 0, 1e9)).toString(),
  };
}

export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await sleep(10);
}

interface Recorded {
  readonly identity: ProcessIdentity;
  readonly supervisor: ProcessIdentity;
  readonly mark: string;
}

/** What a supervisor has recorded about its program. */
export function recordOf(folder: string, id: string): Recorded {
  return JSON.parse(readFileSync(join(folder, id, "process.json"), "utf8")) as Recorded;
}
