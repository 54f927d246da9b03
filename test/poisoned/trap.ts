import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Repository, Stage } from "../git/stage.ts";

/** A repository to plant things in, a place for programs that leave traces, and a folder that must not change. */
export interface Trap {
  readonly at: Repository;
  readonly gitFolder: string;
  readonly outside: string;
  /** A program that leaves a trace with this name when it runs. */
  program(name: string): string;
  config(text: string): void;
  /** Writes a file below the git folder. */
  put(path: string, text: string): void;
  hook(name: string, program: string): void;
  /** Runs git without protection. Planted programs make many commands fail in the end. */
  careless(...args: readonly string[]): void;
  /** The same with standard input. */
  fed(input: string, ...args: readonly string[]): void;
  /** The programs that have run. */
  seen(): readonly string[];
  forget(): void;
}

export function createTrap(stage: Stage, at: Repository, gitFolder = join(at.folder, ".git")): Trap {
  const folder = stage.path("trap");
  const [programs, traces, outside] = ["programs", "traces", "outside"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [programs, traces, outside]) mkdirSync(each, { recursive: true });
  writeFileSync(join(outside, "private.txt"), "private\n");
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(gitFolder, path)), { recursive: true });
    writeFileSync(join(gitFolder, path), text);
  };
  const run = (args: readonly string[], input = "") => {
    try {
      execFileSync("git", args, { cwd: at.folder, env: stage.env, input, stdio: ["pipe", "ignore", "ignore"] });
    } catch {
      // Only matters whether a program ran.
    }
  };
  return {
    ...{ at, gitFolder, outside, put },
    program(name) {
      const path = join(programs, name);
      // Filters must return their input, or git stops before the next canary.
      writeFileSync(path, `#!/bin/sh\necho "$0 $*" >> '${join(traces, name)}'\ncase "$0" in *filter-*) cat ;; esac\n`);
      chmodSync(path, 0o755);
      return path;
    },
    config: (text) => appendFileSync(join(gitFolder, "config"), `\n${text}\n`),
    hook(name, program) {
      mkdirSync(join(gitFolder, "hooks"), { recursive: true });
      rmSync(join(gitFolder, "hooks", name), { force: true });
      symlinkSync(program, join(gitFolder, "hooks", name));
    },
    careless: (...args) => run(args),
    fed: (input, ...args) => run(args, input),
    seen: () => readdirSync(traces).sort(),
    forget() {
      for (const name of readdirSync(traces)) rmSync(join(traces, name));
    },
  };
}
