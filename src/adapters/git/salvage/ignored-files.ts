import { readdirSync } from "node:fs";
import type { IgnoredFile } from "../../../ports/control-repository.ts";
import type { ControlGit } from "../control/control-git.ts";
import { entryAt } from "../entry-at.ts";
import { fileName, splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";

/** Dependencies and build results have hundreds of thousands of files; nobody needs to know to the byte. */
const mostCounted = 50_000;

export async function ignoredFiles(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
): Promise<readonly IgnoredFile[]> {
  const { stdout } = await control.run(
    draft,
    ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"],
    { settings, isLong: true },
  );
  const count = { left: mostCounted };
  return splitNul(stdout).map((path) => {
    const isFolder = path.at(-1) === 0x2f;
    const bytes = isFolder ? path.subarray(0, -1) : path;
    return {
      path: fileName(bytes),
      isFolder,
      size: sizeOf(Buffer.concat([Buffer.from(`${draft.folder}/`), bytes]), count),
    };
  });
}

function sizeOf(path: Buffer, count: { left: number }): number {
  count.left -= 1;
  const found = count.left < 0 ? undefined : entryAt(path);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  return namesIn(path).reduce((sum, name) => sum + sizeOf(Buffer.concat([path, Buffer.from("/"), name]), count), 0);
}

function namesIn(folder: Buffer): readonly Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" });
  } catch {
    return [];
  }
}
