import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSync } from "esbuild";
import { afterAll } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { createProcesses, type ProcessesOptions, supervisorCommand } from "../../src/adapters/processes/processes.ts";
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

// Bundled into one file, as in an installation: it starts three times faster.
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
/** An empty folder that is deleted after the test. */
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

/** A supervisor's record of its program. */
export function recordOf(folder: string, id: string): Recorded {
  return JSON.parse(readFileSync(join(folder, id, "process.json"), "utf8")) as Recorded;
}
