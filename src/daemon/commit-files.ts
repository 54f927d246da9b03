import { Fault } from "../fault.ts";
import type { ControlRepository, TreeFile } from "../ports/control-repository.ts";
import type { ProjectFiles } from "../project-tests/finders.ts";

/** The files of a commit. What was not read yet looks missing, and is read by `load`. */
export interface CommitFiles extends ProjectFiles {
  /** Reads everything that was asked for and looked missing. False if there was nothing. */
  load(): Promise<boolean>;
  /** Git's mode and id of a file; empty if there is none. */
  idOf(path: string): string;
}

/** In bytes. Larger files are not written by hand. */
const maxFileSize = 1024 * 1024;
/** Each folder on the way to a file takes a round. */
const maxRounds = 100;
/** Git's mode of a folder. */
const treeMode = "040000";

/**
 * Calls a pure function that reads files of commits until it has seen everything that it asks for. The function does not know
 * that git answers later.
 */
export async function readingCommits<Answer>(files: readonly CommitFiles[], judge: () => Answer): Promise<Answer> {
  for (let round = 0; ; round++) {
    const answer = judge();
    const loaded = await Promise.all(files.map((each) => each.load()));
    if (round === maxRounds || !loaded.some((is) => is)) return answer;
  }
}

export function commitFiles(control: Pick<ControlRepository, "listFiles" | "fileAt">, commit: string): CommitFiles {
  const folders = new Map<string, readonly TreeFile[]>();
  const texts = new Map<string, string | undefined>();
  const wantedFolders = new Set<string>();
  const wantedTexts = new Set<string>();
  const list = (folder: string): readonly TreeFile[] => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    // Most of the folders that are asked for do not exist: the folder above says so without another git process.
    if (isPlain(folder) && (folder === "" || entryAt(folder)?.mode === treeMode)) wantedFolders.add(folder);
    return [];
  };
  const entryAt = (path: string): TreeFile | undefined => {
    const slash = path.lastIndexOf("/");
    return list(slash === -1 ? "" : path.slice(0, slash)).find(({ name }) => name === path.slice(slash + 1));
  };
  const isFile = (path: string) => /^10/.test(entryAt(path)?.mode ?? "");
  return {
    has: isFile,
    canRun: (path) => entryAt(path)?.mode === "100755",
    list: (folder) =>
      list(folder)
        .map(({ name }) => name)
        .sort(),
    read(path) {
      if (!isFile(path)) return undefined;
      if (!texts.has(path)) wantedTexts.add(path);
      return texts.get(path);
    },
    idOf(path) {
      const { mode = "", id = "" } = entryAt(path) ?? {};
      return `${mode} ${id}`.trim();
    },
    async load() {
      const [newFolders, newTexts] = [[...wantedFolders], [...wantedTexts]];
      wantedFolders.clear();
      wantedTexts.clear();
      await Promise.all([
        ...newFolders.map(async (folder) => void folders.set(folder, await control.listFiles(commit, folder))),
        ...newTexts.map(async (path) => void texts.set(path, await textAt(control, commit, path))),
      ]);
      return newFolders.length + newTexts.length > 0;
    },
  };
}

/** Git would read other paths relative to a folder, or refuse them. */
function isPlain(folder: string): boolean {
  return (
    folder === "" ||
    folder.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"))
  );
}

async function textAt(control: Pick<ControlRepository, "fileAt">, commit: string, path: string) {
  try {
    const bytes = await control.fileAt(commit, path, maxFileSize);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");
  } catch (error) {
    if (error instanceof Fault && error.code === "git.too-much") return undefined;
    throw error;
  }
}
