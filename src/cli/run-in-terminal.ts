import { spawn } from "node:child_process";

/** Gives a program this terminal until it ends. What is undefined is taken out of its environment. Says what went wrong. */
export function runInTerminal(
  [program = "", ...args]: readonly string[],
  changes: Readonly<Record<string, string | undefined>>,
  cwd?: string,
): Promise<string | undefined> {
  // What is typed there is the program's, also what would end us.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  process.on("SIGQUIT", ignore);
  return new Promise<string | undefined>((resolve) => {
    const child = spawn(program, args, {
      stdio: "inherit",
      env: { ...process.env, ...changes },
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`cannot be started (${error.code})`));
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  }).finally(() => {
    process.off("SIGINT", ignore);
    process.off("SIGQUIT", ignore);
  });
}
