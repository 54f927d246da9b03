import { execFile } from "node:child_process";
import { join } from "node:path";
import { root } from "../documents.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const main = join(root, "src/cli/main.ts");

/** The command line as a person calls it, in a process of its own. */
export function runCommand(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(process.execPath, [main, ...args], { cwd, env: { ...env } }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end();
  });
}
