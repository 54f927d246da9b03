import type { Detected } from "../../../ports/harness.ts";
import { findProgram } from "../find-program.ts";
import type { CodexPorts } from "./codex-ports.ts";

const patience = 60_000;
const install = "Install it with npm install -g @openai/codex, then run codex login";
/** Earlier ones have no permission profiles that reach a daemon's socket, or no hooks on the command line. */
const oldest = [0, 166] as const;

export async function detect({ commands, env, program = "codex" }: CodexPorts): Promise<Detected> {
  const path = findProgram(program, env.PATH ?? "");
  if (path === "") return { found: false, path: "", version: "", hint: install };
  const { code, output } = await commands
    .run({ argv: [path, "--version"], cwd: "/", env, timeout: patience })
    .catch(() => ({ code: undefined, output: "" }));
  const version = code === 0 ? (/\d+\.\d+\.\d+[\w.+-]*/.exec(output)?.[0] ?? "") : "";
  return { found: true, path, version, hint: hintFor(path, version) };
}

function hintFor(path: string, version: string): string {
  if (version === "") return `"${path}" does not tell its version. Run it with --version to see why.`;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  return isOld ? `Signalbox is tried with Codex ${oldest.join(".")}, and this is ${version}. Run codex update` : "";
}
