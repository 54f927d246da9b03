import { mkdir, opendir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../../../durable-file.ts";
import { entryAt, isFolder, namesIn } from "../file-entries.ts";
import { type Head, readRef, readSmall } from "../git-folder.ts";
import { branchRef, isObjectId } from "../names.ts";
import type { GitPlace, RunGit } from "../runner.ts";
import { copyIndex, type Files } from "./changes.ts";
import { addExclude, excludeBlock, excludeFile, headText } from "./git-files.ts";
import { branchUse, checkThere } from "./inspect.ts";
import { type Found, foreign, type Mechanics, type Seating } from "./mechanics.ts";
import { noSettings, type UserSettings } from "./user-settings.ts";
import type { Workshop, WorkspaceOptions, WorkspaceRecord } from "./workshop.ts";

const maxRefs = 20_000;

/**
 * Every commit that a ref of a clone points to. Reads the files, because git would use the clone's configuration.
 * Undefined if there are too many refs, or they cannot be read.
 */
async function allTips(gitFolder: string, head: Head | undefined): Promise<readonly string[] | undefined> {
  const tips = new Set(head?.commit === undefined ? [] : [head.commit]);
  const packed = (await readSmall(join(gitFolder, "packed-refs"), 16 * 1024 * 1024)) ?? "";
  for (const line of packed.split("\n")) add(tips, line.split(" ")[0]);
  const isWhole = await addLoose(tips, join(gitFolder, "refs"));
  return isWhole && tips.size <= maxRefs ? [...tips] : undefined;
}

async function addLoose(tips: Set<string>, folder: string): Promise<boolean> {
  const entries = await opendir(folder).catch(() => undefined);
  // Without `refs` git finds no repository there, so there can be no commit since the folder vanished.
  if (entries === undefined) return true;
  for await (const entry of entries) {
    if (tips.size > maxRefs) return false;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!(await addLoose(tips, path))) return false;
    } else add(tips, (await readSmall(path))?.trim());
  }
  return true;
}

function add(tips: Set<string>, id: string | undefined): void {
  if (id !== undefined && isObjectId(id)) tips.add(id);
}

/**
 * A workspace that is a clone. It borrows the control repository's objects, and its git folder is replaced as a whole
 * for each task. Our git never runs on its files with its configuration.
 */
export function cloneMechanics(shop: Workshop): Mechanics {
  const { git, options, records } = shop;
  const { settings = async () => noSettings } = options;
  const inControl = { folder: options.control, gitDir: options.control, configuration: "ours" } as const;
  let opening: Promise<PlainRepository> | undefined;
  const plain = () => {
    opening ??= openPlain(git, options).catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    kind: "clone",
    find: async (folder, record) => findClone(await plain(), folder, record),
    async filesOf(folder) {
      const { ignoreFile } = await settings();
      const ignored = ignoreFile === undefined ? [] : [`core.excludesFile=${ignoreFile}`];
      return cloneFiles(folder, (await plain()).folder, ignored);
    },
    async useOf(branch, folder) {
      const others = (await records.all()).filter((each) => each.branch === branch && each.folder !== folder);
      for (const other of others) if (isFolder(other.folder)) return other.folder;
      return branchUse(await shop.user(), branch, undefined);
    },
    async tipOf(branch, folders) {
      const [own, users] = await Promise.all([
        folders && readRef(folders.commonFolder, branchRef(branch)),
        readRef(options.control, `refs/remotes/user/${branch}`),
      ]);
      if (own === undefined || users === undefined || own === users) return own ?? users;
      // The branch may have moved in the user's repository since the last task used the clone.
      const asked = ["merge-base", "--is-ancestor", "--end-of-options", own, users];
      const { code } = await git(inControl, asked, { accepts: [0, 1, 128] });
      return code === 0 ? users : own;
    },
    async isSaved({ folders, head, commit }) {
      const tips = folders === undefined ? [] : await allTips(folders.gitFolder, head);
      if (tips === undefined) return false;
      const commits = commit === undefined ? tips : [...tips, commit];
      if (commits.length === 0) return true;
      const { code, stdout } = await git(
        inControl,
        ["rev-list", "--max-count=1", "--stdin", "--not", "--exclude=refs/signalbox/incoming/*", "--all"],
        { input: Buffer.from(commits.map((each) => `${each}\n`).join("")), accepts: [0, 128] },
      );
      if (code === 0 && stdout.length === 0) return true;
      if (commit !== undefined) await checkThere(shop, commit, { objects: inControl, refs: inControl });
      return false;
    },
    async begin() {},
    async settle({ folder, found, record }) {
      await mkdir(folder, { recursive: true });
      return {
        folders: found.folders,
        hasFiles: found.kind === "ours",
        known: record?.entry === undefined ? {} : { entry: record.entry },
      };
    },
    async seat(order) {
      const carried = await settings();
      const own = await plain();
      await writeExcludes(own, carried);
      await seatClone(own, order, carried);
    },
    async refsOf(folder, { gitFolder }, refs) {
      for (const path of refs.flatMap((ref) => [ref, join("logs", ref)]))
        if (await hasLink(gitFolder, path)) throw foreign(folder, leadsElsewhere);
      return { place: { folder, gitDir: gitFolder, configuration: "ours" }, env: {} };
    },
    async reconnect(folder) {
      const gitFolder = join(folder, ".git");
      const file = join(gitFolder, "objects", "info", "alternates");
      const { alternates } = await plain();
      if (!isFolder(dirname(file)) || (await leadsAway(gitFolder))) return;
      if ((await readSmall(file)) !== alternates) await writeWhole(file, alternates, { fsync: false });
    },
    async forget() {},
    hideTaskFiles: ({ commonFolder }) => addExclude(commonFolder),
    async showTaskFiles() {},
  };
}

function cloneFiles(folder: string, plain: string, settings: readonly string[]): Files {
  return {
    place: { folder, gitDir: plain, workTree: folder, configuration: "ours" },
    env: {},
    settings,
    ownObjects: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(folder, ".git", "objects")) },
  };
}

async function findClone(
  { alternates }: PlainRepository,
  folder: string,
  record: WorkspaceRecord | undefined,
): Promise<Found> {
  const found = entryAt(folder);
  if (found === undefined) return { kind: "nothing", folders: undefined };
  if (!found.isDirectory()) return { kind: "foreign", reason: "It is not a folder." };
  if ((await namesIn(folder)).length === 0) return { kind: "nothing", folders: undefined };
  const gitFolder = join(folder, ".git");
  const isWhole = isFolder(gitFolder) && (await readSmall(join(gitFolder, "HEAD"))) !== undefined;
  const borrowed = isWhole ? await readSmall(join(gitFolder, "objects", "info", "alternates")) : undefined;
  if (record === undefined && borrowed !== alternates)
    return { kind: "foreign", reason: "It is not a clone of this project." };
  const leads = isWhole && (await leadsAway(gitFolder));
  return {
    kind: "ours",
    folders: isWhole ? { gitFolder, commonFolder: gitFolder } : undefined,
    flaw: leads ? leadsElsewhere : isWhole ? undefined : "Its repository is gone.",
    isLocked: false,
    isHalfMade: false,
  };
}

const leadsElsewhere = "Something in its .git leads to another folder.";

/** Paths that the daemon or git writes to while a task has the clone. */
const written = [
  "HEAD",
  "index",
  "packed-refs",
  "info/exclude",
  "objects/info",
  "objects/pack",
  "refs/heads",
  "logs/refs",
];

/**
 * Whether an agent has redirected writes to the clone's repository, by links or by a `commondir`. The agent may be
 * denied access to that place, the daemon is not.
 */
async function leadsAway(gitFolder: string): Promise<boolean> {
  const shared = entryAt(join(gitFolder, "commondir"));
  const links = await Promise.all(written.map((path) => hasLink(gitFolder, path)));
  return links.includes(true) || (await shared) !== undefined;
}

/** Whether the path, or any folder between it and `folder`, is a link. */
async function hasLink(folder: string, path: string): Promise<boolean> {
  if (path === ".") return false;
  if (entryAt(join(folder, path))?.isSymbolicLink()) return true;
  return hasLink(folder, dirname(path));
}

/**
 * Our own repository without refs, which borrows the control repository's objects. Git uses it as the git folder for
 * the files of clones, so that a clone's own configuration has no influence.
 */
interface PlainRepository {
  readonly folder: string;
  /** Its configuration, which each clone starts with. */
  readonly config: string;
  /** The content of `objects/info/alternates` in it and in clones. */
  readonly alternates: string;
}

async function openPlain(
  run: RunGit,
  { state, control }: Pick<WorkspaceOptions, "state" | "control">,
): Promise<PlainRepository> {
  const folder = join(state, "plain.git");
  await mkdir(state, { recursive: true, mode: 0o700 });
  if (!isFolder(folder)) await make(run, state, folder, control);
  const alternates = `${quoted(join(control, "objects"))}\n`;
  const file = join(folder, "objects", "info", "alternates");
  if ((await readSmall(file)) !== alternates) {
    await mkdir(join(folder, "objects", "info"), { recursive: true });
    await writeWhole(file, alternates, { fsync: false });
  }
  await addExclude(folder);
  return { folder, config: await readFile(join(folder, "config"), "utf8"), alternates };
}

/** Creates it under another name and renames it, so that a folder with the final name is complete. */
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

/** Quotes a path for git's lists of folders, only where necessary: not every other reader understands quotes. */
export function quoted(path: string): string {
  if (!/[\n":\\]/.test(path)) return path;
  return `"${path.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}

/** Our own git must ignore what the user excludes, such as a copied `.env`, or it would commit that with an agent's work. */
async function writeExcludes({ folder }: PlainRepository, { excluded }: UserSettings): Promise<void> {
  const file = excludeFile(folder);
  const text = excludeBlock + excluded;
  if ((await readSmall(file, maxExcludeSize)) !== text) await writeWhole(file, Buffer.from(text, "latin1"));
}

const maxExcludeSize = 2 * 1024 * 1024;

/** Gives a clone a new git folder with one branch. The old git folder goes to the trash. */
async function seatClone(plain: PlainRepository, seating: Seating, { config, excluded }: UserSettings): Promise<void> {
  const { folder, index, heap, baseBranch, showsAll } = seating;
  // Inside the folder, so that it is on the same disk. Git ignores a folder of this name.
  const draft = join(folder, ".git.new");
  const dotGit = join(folder, ".git");
  await rm(draft, { recursive: true, force: true });
  const folders = ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"];
  await Promise.all(folders.map((name) => mkdir(join(draft, name), { recursive: true })));
  const ids = Object.entries(refsOf(seating)).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = ids.map(([ref, id]) => `${id} ${ref}\n`);
  await Promise.all([
    writeFile(join(draft, "config"), plain.config + origin + configText(config)),
    writeFile(join(draft, "objects/info/alternates"), plain.alternates),
    writeFile(excludeFile(draft), excludeBlock + excluded, "latin1"),
    baseBranch === undefined ? undefined : writeRemoteHead(draft, baseBranch),
    writeFile(join(draft, "packed-refs"), `# pack-refs with: peeled fully-peeled sorted \n${lines.join("")}`),
    writeFile(join(draft, "HEAD"), headText(seating)),
    copyIndex(index, join(draft, "index")),
    ...(showsAll ? [writeFile(join(draft, "info/attributes"), plainAttributes)] : []),
  ]);
  await heap.take(dotGit, ".git");
  await rename(draft, dotGit);
}

function refsOf({ branch, commit, base, baseBranch }: Seating): Readonly<Record<string, string>> {
  const own: Record<string, string> = branch === undefined ? {} : { [branchRef(branch)]: commit };
  if (baseBranch === undefined) return own;
  // A repository cannot have two branches of which one's name is a folder of the other's.
  const isAlone =
    branch === undefined || (!`${branch}/`.startsWith(`${baseBranch}/`) && !`${baseBranch}/`.startsWith(`${branch}/`));
  return { ...own, [`refs/remotes/origin/${baseBranch}`]: base, ...(isAlone ? { [branchRef(baseBranch)]: base } : {}) };
}

/** Agents expect a remote. This one leads nowhere, so that agents cannot fetch or push around the daemon. */
const origin = `[remote "origin"]
\turl = signalbox-has-no-remote://ask-for-a-push
\tfetch = +refs/heads/*:refs/remotes/origin/*
`;

/** These come before the attributes of the work, which could hide a change from `git diff`. */
const plainAttributes = "* !diff !merge\n";

/** Agents compare their work with `origin/HEAD`, as in any clone. */
async function writeRemoteHead(gitFolder: string, branch: string): Promise<void> {
  const folder = join(gitFolder, "refs", "remotes", "origin");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "HEAD"), `ref: refs/remotes/origin/${branch}\n`);
}

/** Settings as lines of git's configuration file. */
function configText(config: UserSettings["config"]): string {
  const quote = (text: string) => `"${text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/["\\]/g, "\\$&")}"`;
  return config
    .map(([key, value]) => {
      const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
      const part = first === last ? "" : ` ${quote(key.slice(first + 1, last))}`;
      return `[${key.slice(0, first)}${part}]\n\t${key.slice(last + 1)} = ${quote(value)}\n`;
    })
    .join("");
}
