import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "./package-root.ts";

// Put in by the build: reading a file takes an agent that waits for a command longer than it looks.
declare const builtVersion: string | undefined;

export const packageVersion: string = typeof builtVersion === "string" ? builtVersion : readVersion();

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
  return version;
}
