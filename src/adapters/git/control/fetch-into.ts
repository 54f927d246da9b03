import { isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { gitFault } from "../faults.ts";
import { targetAt } from "../file-entries.ts";
import { syncNames, syncObjects } from "../lasting.ts";
import type { ControlGit, ControlOptions } from "./control-git.ts";

interface Fetch {
  readonly from: string;
  readonly refspecs: readonly string[];
  readonly prunes: boolean;
  readonly signal: AbortSignal | undefined;
  readonly options?: ControlOptions;
}

/** Fetches into the control repository, and checks every object. */
export async function fetchInto(
  control: ControlGit,
  { from, refspecs, prunes, signal, options }: Fetch,
): Promise<void> {
  const { stderr, code } = await control.git(
    ["fetch", ...fetchFlags, prunes ? "--prune" : "--no-prune", "--stdin", "--end-of-options", from],
    {
      // The refspecs may not fit on a command line.
      input: Buffer.from(refspecs.map((refspec) => `${refspec}\n`).join("")),
      protocols: ["file"],
      settings: checks,
      isLong: true,
      writes: true,
      signal,
      about: from,
      ...options,
    },
  );
  await syncNames(join(control.folder, "objects", "pack"), control.folder);
  // Git skips refs of a shallow clone, and still exits with 0.
  if (/shallow roots are not allowed/.test(stderr)) {
    throw gitFault({ command: "fetch", cwd: from, code, stderr, isRemote: false });
  }
}

export const fetchFlags = [
  "--no-tags",
  "--no-recurse-submodules",
  "--no-write-fetch-head",
  "--no-auto-maintenance",
  "--no-write-commit-graph",
  // Without this flag git does not check for a fast-forward, and moves the branch anywhere.
  "--show-forced-updates",
  "--no-progress",
] as const;

/** For fetches into the user's repository: no deltas, because finding them takes longer, and `gc` does it anyway. */
export const fromControl = ["--no-prune", "--upload-pack=git -c pack.window=0 upload-pack"] as const;

/** Mistakes of old tools that many real histories contain. */
const harmless = ["zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate"];
/** The same for commands that check objects without fetching. */
export const fsckSeverities = harmless.map((name) => `${name}=ignore`).join(",");
const checks = [
  "fetch.fsckObjects=true",
  // Always as a pack, which is added only after all of it was checked: existing objects are not checked again.
  "fetch.unpackLimit=1",
  ...harmless.map((name) => `fetch.fsck.${name}=ignore`),
];

/** Returns an absolute path of an existing folder, which git cannot take for anything else, or throws. */
export function checkFolder(folder: string): string {
  if (isAbsolute(folder) && targetAt(folder)?.isDirectory()) return folder;
  throw new Fault("git.not-a-repository", `There is no folder ${folder}.`, {
    hint: "Find out where the repository is now, and update the project.",
  });
}

/**
 * Throws unless all objects that the commits need exist here, and makes them durable. Objects that our refs reach were
 * checked before. Returns the parents of the new commits.
 */
export async function checkWhole(control: ControlGit, commits: readonly string[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const ids = new Set<string>();
  let rest = "";
  await control.git(
    [
      ...["rev-list", "--objects", "--no-object-names", "--parents", ...commits],
      ...["--not", "--exclude=refs/signalbox/incoming/*", "--all"],
    ],
    {
      isLong: true,
      onOutput(chunk) {
        const lines = (rest + chunk.toString("latin1")).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const [id = "", ...parents] = line.split(" ");
          ids.add(id);
          // Only a commit's line has parents after the id.
          for (const parent of parents) names.add(parent);
        }
      },
    },
  );
  await syncObjects(join(control.folder, "objects"), ids);
  return names;
}
