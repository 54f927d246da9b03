import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { branchRef } from "../../check-names.ts";
import { branchUse } from "../branch-use.ts";
import { checkThere } from "../check-there.ts";
import { entryAt, isFolder, namesIn } from "../entry-at.ts";
import { addExclude } from "../exclude-block.ts";
import { foreign } from "../faults.ts";
import type { Files } from "../list-changes.ts";
import type { Found, Mechanics } from "../mechanics.ts";
import { publish } from "../publish.ts";
import { readRef, readSmall } from "../read-git-folder.ts";
import type { WorkspaceRecord } from "../records.ts";
import type { Workshop } from "../workshop.ts";
import { allTips } from "./all-tips.ts";
import { hasLink, leadsAway, leadsElsewhere } from "./leads-away.ts";
import { openPlain, type PlainRepository, quoted } from "./open-plain.ts";
import { seatClone } from "./seat-clone.ts";

/**
 * A workspace that is a repository of its own. It borrows the control repository's objects, and is thrown away whole with
 * everything that was written into it. No git of ours ever works on its files with its configuration.
 */
export function cloneMechanics(shop: Workshop): Mechanics {
  const { git, options, records } = shop;
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
      const settings = options.ignoreFile === undefined ? [] : [`core.excludesFile=${options.ignoreFile}`];
      return cloneFiles(folder, (await plain()).folder, settings);
    },
    async useOf(branch, folder) {
      const others = (await records.all()).filter((each) => each.branch === branch && each.folder !== folder);
      for (const other of others) if (await isFolder(other.folder)) return other.folder;
      return branchUse(await shop.user(), branch, undefined);
    },
    async tipOf(branch, folders) {
      const [own, users] = await Promise.all([
        folders && readRef(folders.commonFolder, branchRef(branch)),
        readRef(options.control, `refs/remotes/user/${branch}`),
      ]);
      if (own === undefined || users === undefined || own === users) return own ?? users;
      // The branch may have gone on in the user's repository since the last task left the clone.
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
    seat: async (order) => seatClone(await plain(), order),
    async refsOf(folder, { gitFolder }, refs) {
      for (const path of refs.flatMap((ref) => [ref, join("logs", ref)]))
        if (await hasLink(gitFolder, path)) throw foreign(folder, leadsElsewhere);
      return { place: { folder, gitDir: gitFolder, configuration: "ours" }, env: {} };
    },
    async reconnect(folder) {
      const gitFolder = join(folder, ".git");
      const file = join(gitFolder, "objects", "info", "alternates");
      const { alternates } = await plain();
      if (!(await isFolder(dirname(file))) || (await leadsAway(gitFolder))) return;
      if ((await readSmall(file)) !== alternates) await publish(file, alternates);
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
  const found = await entryAt(folder);
  if (found === undefined) return { kind: "nothing", folders: undefined };
  if (!found.isDirectory()) return { kind: "foreign", reason: "It is no folder." };
  if ((await namesIn(folder)).length === 0) return { kind: "nothing", folders: undefined };
  const gitFolder = join(folder, ".git");
  const isWhole = (await isFolder(gitFolder)) && (await readSmall(join(gitFolder, "HEAD"))) !== undefined;
  const borrowed = isWhole ? await readSmall(join(gitFolder, "objects", "info", "alternates")) : undefined;
  if (record === undefined && borrowed !== alternates) return { kind: "foreign", reason: "It is no clone of ours." };
  const leads = isWhole && (await leadsAway(gitFolder));
  return {
    kind: "ours",
    folders: isWhole ? { gitFolder, commonFolder: gitFolder } : undefined,
    flaw: leads ? leadsElsewhere : isWhole ? undefined : "It has no repository any more.",
    isLocked: false,
    isHalfMade: false,
  };
}
