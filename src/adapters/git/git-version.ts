import { Fault } from "../../fault.ts";
import { spawnGit } from "./spawn-git.ts";

/** The first with `merge-tree --write-tree`. */
const oldest = [2, 38] as const;

export async function checkVersion(program: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { stdout } = await spawnGit({
    program,
    command: "version",
    args: ["version"],
    cwd: "/",
    env,
    input: undefined,
    inputFile: undefined,
    most: 1000,
    timeout: 30_000,
    signal: undefined,
  });
  const text = stdout.toString("utf8").trim();
  const [, major = 0, minor = 0] = /^git version (\d+)\.(\d+)/.exec(text)?.map(Number) ?? [];
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  throw new Fault("git.too-old", `git must be ${oldest.join(".")} or newer; "${program}" says "${text}".`, {
    hint: "Install a newer git, and make sure that it comes first on the PATH of the daemon.",
  });
}
