import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../../../fault.ts";
import { entryAt, namesIn } from "../entry-at.ts";
import { livingGit } from "../living-git.ts";
import type { Settled, Settling } from "../mechanics.ts";
import { publish } from "../publish.ts";
import { readHead, readSmall } from "../read-git-folder.ts";
import type { WorkspaceRecord } from "../records.ts";
import type { Heap } from "../trash/open-heap.ts";
import type { Workshop } from "../workshop.ts";
import { findEntry, namelessEntries, readEntry, type WorktreeEntry } from "./find-entry.ts";
import { obeyedFiles } from "./find-worktree.ts";

/** Makes git know the folder as a worktree, and takes away whatever a former task left in git's record of it. */
export async function settleWorktree(shop: Workshop, order: Settling): Promise<Settled> {
  const { folder, found, record, heap } = order;
  const { commonFolder } = await shop.user();
  await clearNameless(shop, folder, heap);
  const path = found.folders?.gitFolder;
  const entry = path === undefined ? undefined : await readEntry(commonFolder, path.slice(dirname(path).length + 1));
  if (entry === undefined || (await isHalfMade(shop, order, entry))) return addWorktree(shop, order, entry);
  await connect(folder, entry, heap);
  await scrub(entry, record, heap);
  return {
    folders: { gitFolder: entry.path, commonFolder },
    hasFiles: found.kind === "ours",
    known: await knownOf(entry, record),
  };
}

async function addWorktree(shop: Workshop, order: Settling, halfMade: WorktreeEntry | undefined): Promise<Settled> {
  const { folder, branch, commit, heap } = order;
  const { commonFolder } = await shop.user();
  const checkedOut =
    branch === undefined ? ["--detach", "--end-of-options", folder, commit] : ["--end-of-options", folder, branch];
  if (halfMade !== undefined) await heap.takeFrom(halfMade.path, `.git-of-worktree-${halfMade.name}`);
  // What is in the folder came from there.
  for (const name of await namesIn(folder)) await heap.take(join(folder, name), name);
  await mkdir(folder, { recursive: true });
  // Its working folder tells us later whether it is still alive.
  const place = { folder, gitDir: commonFolder, configuration: "user" } as const;
  // One at a time: each looks at the records of all others, and stumbles over one that is only half written.
  await shop.turns.take(`worktree add ${commonFolder}`, () =>
    shop.git(place, ["worktree", "add", "--quiet", "--no-checkout", ...checkedOut], {
      writes: true,
      env: { GIT_COMMON_DIR: commonFolder },
    }),
  );
  const entry = await findEntry(commonFolder, folder, undefined);
  if (entry === undefined) throw unknown(folder);
  return {
    folders: { gitFolder: entry.path, commonFolder },
    hasFiles: false,
    known: await knownOf(entry, undefined),
  };
}

/** Only what git left when it was killed while making it: nobody can have worked there, so its branch is where it began. */
async function isHalfMade(shop: Workshop, { commit, folder }: Settling, entry: WorktreeEntry): Promise<boolean> {
  const { commonFolder } = await shop.user();
  const head = await readHead({ gitFolder: entry.path, commonFolder });
  if (entry.lock !== "initializing") return head === undefined;
  await shop.refuseBusy(folder);
  if (head?.commit === undefined || head.commit === commit) return true;
  throw new Fault("workspace.locked", `git says that it is still making the worktree ${folder}, which has commits.`, {
    hint: `Look at it, then unlock it: git worktree unlock "${folder}"`,
  });
}

async function clearNameless(shop: Workshop, folder: string, heap: Heap): Promise<void> {
  const { commonFolder, folder: repository } = await shop.user();
  const nameless = await namelessEntries(commonFolder, folder);
  if (nameless.length === 0) return;
  const living = await livingGit([repository, folder]);
  if (living === undefined || living.length > 0) return;
  for (const [at, path] of nameless.entries()) await heap.takeFrom(path, `.git-of-worktree-half-made-${at}`);
}

/** Lets folder and entry name each other, and nothing else: the entry of another worktree is never touched. */
async function connect(folder: string, entry: WorktreeEntry, heap: Heap): Promise<void> {
  await mkdir(folder, { recursive: true });
  const dotGit = join(folder, ".git");
  const wanted = `gitdir: ${entry.path}\n`;
  if ((await readSmall(dotGit)) !== wanted) {
    if ((await entryAt(dotGit)) !== undefined) await heap.take(dotGit, ".git");
    await publish(dotGit, wanted);
  }
  if (entry.folder !== folder) await publish(join(entry.path, "gitdir"), `${dotGit}\n`);
  if ((await readSmall(join(entry.path, "commondir"))) !== "../..\n")
    await publish(join(entry.path, "commondir"), "../..\n");
}

/** What git writes there of itself. The rest is of some operation that was not ended, of submodules, or was put there. */
const plainFiles = ["HEAD", "commondir", "gitdir", "index", "logs", "locked", "config.worktree", "info"];

async function scrub(entry: WorktreeEntry, record: WorkspaceRecord | undefined, heap: Heap): Promise<void> {
  for (const name of await namesIn(entry.path)) {
    // A lock may belong to a git that lives; whoever needs it looks.
    if (plainFiles.includes(name) || name.endsWith(".lock")) continue;
    await heap.takeFrom(join(entry.path, name), `.git-of-worktree-${entry.name}/${name}`);
  }
  if (record?.obeyed === undefined) return;
  for (const name of obeyedFiles) {
    const path = join(entry.path, name);
    const wanted = record.obeyed[name];
    if ((await readSmall(path)) === wanted) continue;
    await heap.takeFrom(path, `.git-of-worktree-${entry.name}/${name}`);
    if (wanted !== undefined) await mkdir(dirname(path), { recursive: true }).then(() => publish(path, wanted));
    else await rm(path, { force: true });
  }
}

/** As git made them, before anybody worked there. */
async function knownOf(entry: WorktreeEntry, record: WorkspaceRecord | undefined): Promise<Settled["known"]> {
  if (record?.entry === entry.name && record.obeyed !== undefined) return { entry: entry.name, obeyed: record.obeyed };
  const obeyed: Record<string, string> = {};
  for (const name of obeyedFiles) {
    const text = await readSmall(join(entry.path, name));
    if (text !== undefined) obeyed[name] = text;
  }
  return { entry: entry.name, obeyed };
}

function unknown(folder: string): Fault {
  return new Fault("git.failed", `git made the worktree ${folder}, and does not know it.`, {
    retry: "later",
    hint: "Look at it: git worktree list",
  });
}
