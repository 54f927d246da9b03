import { existsSync } from "node:fs";
import { appendFile, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { syncFolder } from "../../sync-folder.ts";
import type { RunGit } from "../git-runner.ts";
import { type ControlGit, createControlGit } from "./control-git.ts";

/** What is in this folder of a control repository is of use only while it is being used. */
export const draftsFolder = "drafts";

export interface Opening {
  readonly folder: string;
  /** The repository whose kind of objects a new one gets. */
  readonly like: string | undefined;
  readonly ignoreFile: string | undefined;
}

export async function openControl(run: RunGit, { folder, like, ignoreFile }: Opening): Promise<ControlGit> {
  if (!existsSync(folder)) await make(run, folder, like);
  const control = createControlGit(run, folder, ignoreFile);
  const { stdout } = await control.git(["rev-parse", "--is-bare-repository"]);
  if (stdout.toString("utf8").trim() !== "true") {
    throw new Fault("git.not-a-repository", `${folder} is no control repository.`, {
      hint: "Move it away; a new one is made from the project's repository.",
    });
  }
  await removeDrafts(join(folder, draftsFolder));
  return control;
}

/** The name comes last: whatever has it is whole. */
async function make(run: RunGit, folder: string, like: string | undefined): Promise<void> {
  const draft = `${folder}.new`;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await rm(draft, { recursive: true, force: true });
  const format = like === undefined ? "sha1" : await objectFormat(run, like);
  await run({ folder: parent, configuration: "ours" }, [
    "init",
    "--quiet",
    "--bare",
    // Nothing of the templates that people have for their own repositories.
    "--template=",
    `--object-format=${format}`,
    "--initial-branch=main",
    "--end-of-options",
    draft,
  ]);
  await appendFile(join(draft, "config"), settings);
  await mkdir(join(draft, "info"));
  await writeFile(join(draft, "info", "attributes"), attributes);
  await mkdir(join(draft, draftsFolder));
  for (const name of ["config", "HEAD", "info/attributes"]) await syncFile(join(draft, name));
  for (const name of ["refs", "objects", "info", "."]) await syncFolder(join(draft, name));
  await rename(draft, folder);
  await syncFolder(parent);
}

/** They say the same as our flags, for a person who runs git in here: nothing runs, and nothing is ever thrown away. */
const settings = `
[core]
\thooksPath = /dev/null
\tfsync = all
\tlogAllRefUpdates = always
[gc]
\tauto = 0
\tpruneExpire = never
\treflogExpire = never
\treflogExpireUnreachable = never
[maintenance]
\tauto = false
[transfer]
\tfsckObjects = true
[uploadpack]
\tallowAnySHA1InWant = true
`;

/** Files are taken as they are, whatever the attributes of a branch say. */
const attributes = "* -text -eol -filter -ident -working-tree-encoding\n";

async function objectFormat(run: RunGit, repository: string): Promise<string> {
  const { stdout } = await run({ folder: repository, configuration: "user" }, ["rev-parse", "--show-object-format"]);
  return stdout.toString("utf8").trim();
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whoever used them was killed. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    await rm(join(folder, name), { recursive: true, force: true });
}
