import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const script = readFileSync(join(import.meta.dirname, "fake-gh.cjs"), "utf8");

export interface PlacedGh {
  readonly env: Readonly<Record<string, string>>;
  /** Its arguments, and the environment that it got. */
  calls(): readonly { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> }[];
}

/** Puts a `gh` into a folder that prints this token for the host. An empty token means not logged in. */
export function placeGh(folder: string, token: string, host = "github.com"): PlacedGh {
  const [gh, calls] = [join(folder, "gh"), join(folder, "calls")];
  writeFileSync(join(folder, "told.json"), JSON.stringify({ token, host }));
  // A program cannot be started while it is open for writing.
  if (!existsSync(gh)) writeFileSync(gh, `#!${process.execPath}\n${script}`, { mode: 0o755 });
  return {
    env: { PATH: folder, HOME: folder },
    calls: () =>
      (existsSync(calls) ? readFileSync(calls, "utf8") : "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
  };
}
