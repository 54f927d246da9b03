import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Whether this process may mount a file system. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const place = mkdtempSync(join(tmpdir(), "signalbox-mount-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place]).status === 0;
  if (isMounted) spawnSync("umount", ["-l", place]);
  rmSync(place, { recursive: true });
  return isMounted;
}

/** A small file system, unmounted when the test has ended. Remounting makes it read-only, or writable again. */
export function mount(base: string, options: string): { folder: string; remount: (how: "ro" | "rw") => void } {
  const folder = join(base, "mounted");
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  onTestFinished(() => unmount(base));
  return { folder, remount: (how) => execFileSync("mount", ["-o", `remount,${how}`, folder]) };
}

/** For a test that removes the base before that. */
export function unmount(base: string): void {
  spawnSync("umount", ["-l", join(base, "mounted")]);
}
