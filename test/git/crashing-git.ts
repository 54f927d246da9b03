import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A program in place of git that is killed at one of its calls. */
export interface CrashingGit {
  readonly program: string;
  /** The number of calls. */
  calls(): number;
}

/**
 * before: killed before it does anything. during: the real git is killed soon after its start.
 */
export type Death = "before" | "during";

export function createCrashingGit(folder: string, at: number, death: Death): CrashingGit {
  const [program, counter] = [join(folder, "git"), join(folder, "calls")];
  writeFileSync(counter, "0\n");
  writeFileSync(
    program,
    `#!/bin/sh
read count < '${counter}'
count=$((count + 1))
echo $count > '${counter}'
[ $count -eq ${at} ] || exec git "$@"
if [ ${death} = during ]; then
  exec 3<&0
  git "$@" <&3 &
  sleep 0.00${2 + (at % 4)}
  kill -9 $! 2>/dev/null
fi
kill -9 $$
`,
  );
  chmodSync(program, 0o755);
  return { program, calls: () => Number(readFileSync(counter, "utf8")) };
}
