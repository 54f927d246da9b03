import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ControlGit } from "./control-git.ts";
import { writingTo } from "./draft-objects.ts";
import { fsckSeverities } from "./fetch-into.ts";
import { draftsFolder } from "./open-control.ts";

/**
 * Takes a few objects out of a pack, each as a file of its own: git looks into every pack for what it does not find. They
 * come in only when all of them were looked at, for what is in is not looked at again. `checkWhole` makes their names durable.
 */
export async function unpackAside(control: ControlGit, pack: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const folder = await mkdtemp(join(drafts, "objects-"));
  try {
    await writingTo(control, folder).git(["unpack-objects", "-q", `--strict=${fsckSeverities}`], {
      ...{ input: pack, writes: true, isLong: true, signal },
      settings: ["core.fsync=all"],
    });
    for (const part of (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
      const place = join(control.folder, "objects", part);
      await mkdir(place, { recursive: true });
      for (const name of await readdir(join(folder, part)))
        if (/^[0-9a-f]+$/.test(name) && !existsSync(join(place, name)))
          await rename(join(folder, part, name), join(place, name));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
