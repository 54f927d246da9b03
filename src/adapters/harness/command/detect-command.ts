import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { HarnessDefinition } from "../../../engine/harness-definition.ts";
import { plainOutput } from "../../../engine/plain-output.ts";
import type { Commands } from "../../../ports/commands.ts";
import type { Detected } from "../../../ports/harness.ts";

const patience = 20_000;

/** Looks for the program, and asks it for its version where the definition says how. */
export async function detectCommand(
  definition: HarnessDefinition,
  { commands, env }: { readonly commands: Commands; readonly env: Readonly<Record<string, string>> },
): Promise<Detected> {
  const [program] = (definition.turn ?? definition.session)?.argv ?? [];
  const name = typeof program === "string" ? program : "";
  const path = await findProgram(name, env.PATH ?? "");
  if (path === "") return { found: false, path, version: "", hint: `Install "${name}", or put it on your PATH.` };
  if (definition.version === undefined) return { found: true, path, version: "", hint: "" };
  const argv = definition.version;
  const told = { found: true, path, version: "", hint: `${argv.join(" ")} did not tell its version.` };
  try {
    const { code, output } = await commands.run({ argv, cwd: "/", env, timeout: patience });
    const version = plainOutput(output).trim().split("\n")[0] ?? "";
    return code === 0 && version !== "" ? { ...told, version, hint: "" } : told;
  } catch {
    return told;
  }
}

async function findProgram(name: string, path: string): Promise<string> {
  const places = name.includes("/") ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  for (const place of places.filter(isAbsolute)) if (await isProgram(place)) return place;
  return "";
}

async function isProgram(place: string): Promise<boolean> {
  try {
    await access(place, constants.X_OK);
    return (await stat(place)).isFile();
  } catch {
    return false;
  }
}
