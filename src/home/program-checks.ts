import { execFile } from "node:child_process";
import { error, type Finding, ok } from "./checks.ts";

const minGit = "2.38";
const minTmux = "3.2";

/** Checks git's version; `more` adds to it what else matters where it is well. */
export async function lookForGit(more: (version: string) => readonly Finding[] = ok): Promise<readonly Finding[]> {
  const version = await programVersion("git", "--version");
  const install = `Install git ${minGit} or newer: https://git-scm.com/downloads`;
  if (version === undefined) return error("is not on your PATH", install);
  return isAtLeast(version, minGit) ? more(version) : error(`${version} is too old`, install);
}

export async function lookForTmux(): Promise<readonly Finding[]> {
  const version = await programVersion("tmux", "-V");
  const install = `Install tmux ${minTmux} or newer: sudo apt install tmux, or brew install tmux`;
  if (version === undefined) return error("is not on your PATH; agents run in sessions of tmux", install);
  // A development build has no version number.
  const isOld = /^\d/.test(version) && !isAtLeast(version, minTmux);
  return isOld ? error(`${version} is too old`, install) : ok(version || "of an unknown version");
}

/** The first dotted number in a program's output; undefined if the program is missing. */
export function programVersion(program: string, flag: string): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(program, [flag], { encoding: "utf8", timeout: 5_000 }, (problem, stdout) => {
      const isMissing = problem !== null && typeof problem.code === "string";
      done(isMissing ? undefined : (/\d+\.\d[\w.]*/.exec(stdout)?.[0] ?? stdout.trim()));
    });
  });
}

function isAtLeast(version: string, min: string): boolean {
  // tmux has versions such as 3.3, 3.3a, 3.4.
  const numbers = (text: string) => text.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [major = 0, minor = 0] = numbers(version);
  const [minMajor = 0, minMinor = 0] = numbers(min);
  return major > minMajor || (major === minMajor && minor >= minMinor);
}
