import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { removeFolder } from "./remove-folder.ts";

const root = resolve(import.meta.dirname, "..");

/**
 * Global setup: builds the programs that tests start, as they are shipped. From its sources a daemon takes five times as long
 * to start.
 */
export default function buildPrograms(project?: TestProject): (() => void) | undefined {
  if (process.env.SIGNALBOX_BUILT !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-built-"));
  chmodSync(folder, 0o755);
  // Only tests in a browser need the page, whose libraries take seconds to bundle.
  const page = project?.vitest.projects.some(({ name }) => name === "web" || name === "long")
    ? "--must-have-page"
    : "--no-page";
  execFileSync(process.execPath, [join(root, "scripts/build.ts"), join(folder, "dist"), page], { stdio: "inherit" });
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  mkdirSync(join(folder, "bin"));
  copyFileSync(join(root, "bin/signalbox"), join(folder, "bin/signalbox"));
  for (const name of ["workflows", "schema", "skills", "node_modules"])
    symlinkSync(join(root, name), join(folder, name));
  process.env.SIGNALBOX_BUILT = folder;
  // Each program would compile the same code again: tests have temporary folders of their own, and Node keeps it there.
  const compiled = join(folder, "compiled");
  mkdirSync(compiled);
  // Some programs are started as another user.
  chmodSync(compiled, 0o1777);
  process.env.NODE_COMPILE_CACHE ??= compiled;
  return () => removeFolder(folder);
}
