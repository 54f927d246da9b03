import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Commands } from "../../ports/commands.ts";
import type { Detected } from "../../ports/harness.ts";

export interface DetectPorts {
  readonly commands: Commands;
  /** The environment in which agents are started. */
  readonly env: Readonly<Record<string, string>>;
}

const patience = 60_000;

/** Looks for a program as the system would, and asks it for its version. */
export async function detectProgram(
  program: string,
  { commands, env }: DetectPorts,
  howToInstall: string,
): Promise<Detected> {
  const path = await findProgram(program, env.PATH ?? "");
  if (path === "") return { found: false, path: "", version: "", hint: howToInstall };
  const unknown = `"${path}" does not tell its version. Run "${path} --version" to see why.`;
  try {
    const { code, output } = await commands.run({ argv: [path, "--version"], cwd: "/", env, timeout: patience });
    const version = code === 0 ? (/\d+\.\d+[\w.+-]*/.exec(output)?.[0] ?? "") : "";
    return { found: true, path, version, hint: version === "" ? unknown : "" };
  } catch {
    return { found: true, path, version: "", hint: unknown };
  }
}

/** Where a program is, as the system would find it; empty where it is not. */
export async function findProgram(program: string, path: string): Promise<string> {
  const candidates = isAbsolute(program)
    ? [program]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, program));
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return "";
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
