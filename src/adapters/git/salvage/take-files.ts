import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileName } from "../../../ports/git-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fileName, joinNul, splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import { remembering } from "../remember.ts";
import type { IndexEntry } from "./draft-index.ts";
import { readSome, type Workspace } from "./workspace.ts";

export interface TakenFiles {
  /** Repositories inside of the workspace, by their folders. */
  readonly repositories: readonly FileName[];
  readonly refused: readonly FileName[];
}

/** Puts every file that is not ignored into the draft's index, as its bytes are. */
export async function takeFiles(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
  entries: readonly IndexEntry[],
  signal: AbortSignal | undefined,
): Promise<TakenFiles> {
  const others = await list(control, draft, settings, ["--others"]);
  const inside = [
    ...entries.filter(({ mode }) => mode === "160000").map(({ path }) => path),
    ...others.filter(isFolder).map((path) => path.subarray(0, -1)),
  ];
  // To see whether a repository inside has changed, git would run another git there, which obeys what it finds.
  const excluded = inside.map((path) => Buffer.concat([Buffer.from(":(top,exclude,literal)"), path]));
  await control.run(draft, ["add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"], {
    // 1: some could not be read.
    accepts: [0, 1],
    input: joinNul([":(top)", ...excluded]),
    settings,
    isLong: true,
    writes: true,
    signal,
  });
  const left = await list(control, draft, settings, ["--others", "--modified"]);
  const keys = new Set(inside.map((path) => path.toString("latin1")));
  const refused = left.filter((path) => !isFolder(path) && !keys.has(path.toString("latin1")));
  return { repositories: inside.map(fileName), refused: refused.map(fileName) };
}

/**
 * What the workspace's own configuration and lists say about files, and that is no command: what the file system can do,
 * and what is ignored.
 */
export async function fileSettings(
  control: ControlGit,
  workspace: Workspace,
  draft: GitPlace & { readonly gitDir: string },
): Promise<readonly string[]> {
  const ignored = join(draft.gitDir, "ignored");
  const own = await userIgnoreFile(control);
  const everywhere = own === undefined ? "" : await readFile(own, "utf8").catch(() => "");
  // The later one wins, as it does where git reads both.
  await writeFile(ignored, `${everywhere}\n${readSome(join(workspace.commonFolder, "info", "exclude"))}`);
  const text = readSome(join(workspace.commonFolder, "config"));
  const kept = await abilities(`${control.folder} ${text}`, async () => {
    const config = join(draft.gitDir, "workspace-config");
    await writeFile(config, text);
    const { code, stdout } = await control.git(
      [
        "config",
        "--file",
        config,
        "--no-includes",
        "--type=bool",
        "-z",
        "--get-regexp",
        "^core\\.(filemode|symlinks)$",
      ],
      { accepts: [0, 1, 3, 128] },
    );
    return code === 0 ? splitNul(stdout).map((part) => part.toString("latin1").replace("\n", "=")) : [];
  });
  return [...kept, `core.excludesFile=${ignored}`, "core.untrackedCache=false"];
}

/** The same text says the same. */
const abilities = remembering<readonly string[]>();

async function userIgnoreFile({ git, ignoreFile }: ControlGit): Promise<string | undefined> {
  const { code, stdout } = await git(["config", "--type=path", "--get", "core.excludesFile"], {
    accepts: [0, 1],
    configuration: "user",
  });
  return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : ignoreFile;
}

async function list(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
  which: readonly string[],
): Promise<readonly Buffer[]> {
  const { stdout } = await control.run(draft, ["ls-files", ...which, "--exclude-standard", "-z"], {
    settings,
    isLong: true,
  });
  return splitNul(stdout);
}

/** Git lists a repository that it does not know as one folder. */
function isFolder(path: Buffer): boolean {
  return path.at(-1) === 0x2f;
}
