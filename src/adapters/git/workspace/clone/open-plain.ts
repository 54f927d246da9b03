import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Person } from "../../../../ports/git-names.ts";
import type { GitPlace, RunGit } from "../../git-runner.ts";
import { isFolder } from "../entry-at.ts";
import { addExclude } from "../exclude-block.ts";
import { publish } from "../publish.ts";
import { readSmall } from "../read-git-folder.ts";
import type { WorkspaceOptions } from "../workshop.ts";

/**
 * A repository of ours without refs that has the control repository's objects. Git works with it on the files of clones,
 * so that nothing counts that stands in a clone's own configuration.
 */
export interface PlainRepository {
  readonly folder: string;
  /** Its configuration, which is what a clone begins with. */
  readonly config: string;
  /** What `objects/info/alternates` says in it, and in clones. */
  readonly alternates: string;
  /** Who commits in clones. */
  readonly person: Person | undefined;
}

export async function openPlain(
  run: RunGit,
  { state, control, person }: Pick<WorkspaceOptions, "state" | "control" | "person">,
): Promise<PlainRepository> {
  const folder = join(state, "plain.git");
  await mkdir(state, { recursive: true, mode: 0o700 });
  if (!(await isFolder(folder))) await make(run, state, folder, control);
  const alternates = `${quoted(join(control, "objects"))}\n`;
  const file = join(folder, "objects", "info", "alternates");
  if ((await readSmall(file)) !== alternates) {
    await mkdir(join(folder, "objects", "info"), { recursive: true });
    await publish(file, alternates);
  }
  await addExclude(folder);
  return { folder, config: await readFile(join(folder, "config"), "utf8"), alternates, person };
}

/** The name comes last: whatever has it is whole. */
async function make(run: RunGit, state: string, folder: string, control: string): Promise<void> {
  const at: GitPlace = { folder: control, gitDir: control, configuration: "ours" };
  const { stdout } = await run(at, ["rev-parse", "--show-object-format"]);
  const draft = join(state, "plain.new");
  await rm(draft, { recursive: true, force: true });
  const format = `--object-format=${stdout.toString("latin1").trim()}`;
  const init = ["init", "--quiet", "--template=", format, "--initial-branch=main", "--end-of-options", draft];
  await run({ folder: state, configuration: "ours" }, init, { writes: true });
  await rename(join(draft, ".git"), folder);
  await rm(draft, { recursive: true, force: true });
}

/** As git reads it in lists of folders; only where it must be, since not everything else that reads them can. */
export function quoted(path: string): string {
  if (!/[\n":\\]/.test(path)) return path;
  return `"${path.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}
