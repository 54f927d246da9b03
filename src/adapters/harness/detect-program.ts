import type { Commands } from "../../ports/commands.ts";
import type { Detected } from "../../ports/harness.ts";
import { findProgram } from "./find-program.ts";

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
  const path = findProgram(program, env.PATH ?? "");
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
