import { execFile } from "node:child_process";
import { cliFile } from "../programs.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as a person does, in a separate process. */
export function runCommand(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(process.execPath, [cliFile, ...args], { cwd, env: { ...env } }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end();
  });
}
