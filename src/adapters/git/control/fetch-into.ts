import { isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { targetAt } from "../entry-at.ts";
import { gitFault } from "../git-fault.ts";
import { syncNames, syncObjects } from "../lasting.ts";
import type { ControlGit, ControlOptions } from "./control-git.ts";

export interface Fetch {
  readonly from: string;
  readonly refspecs: readonly string[];
  readonly prunes: boolean;
  readonly signal: AbortSignal | undefined;
  readonly options?: ControlOptions;
}

/** Fetches into the control repository, and believes nothing that comes. */
export async function fetchInto(
  control: ControlGit,
  { from, refspecs, prunes, signal, options }: Fetch,
): Promise<void> {
  const { stderr, code } = await control.git(
    ["fetch", ...fetchFlags, prunes ? "--prune" : "--no-prune", "--stdin", "--end-of-options", from],
    {
      // There may be more than fit on a command line.
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
  // Git leaves such refs out, and calls it a success.
  await syncNames(join(control.folder, "objects", "pack"), control.folder);
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
  // Without it git does not look whether a branch only goes forward, and moves it wherever it is told.
  "--show-forced-updates",
  "--no-progress",
] as const;

/** For what goes to the user's repository: looking for what is alike takes longer than writing it, and `gc` does it anyway. */
export const fromControl = ["--no-prune", "--upload-pack=git -c pack.window=0 upload-pack"] as const;

/** Old, well-known slips of git's own ancestors, which half the world's histories have. */
const harmless = ["zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate"];
/** The same for those who look at objects without fetching them. */
export const fsckSeverities = harmless.map((name) => `${name}=ignore`).join(",");
const checks = [
  "fetch.fsckObjects=true",
  // What comes is here only once all of it was looked at: what is here is not looked at again.
  "fetch.unpackLimit=1",
  ...harmless.map((name) => `fetch.fsck.${name}=ignore`),
];

/** A path that git takes for a folder, and for nothing else. */
export function checkFolder(folder: string): string {
  if (isAbsolute(folder) && targetAt(folder)?.isDirectory()) return folder;
  throw new Fault("git.not-a-repository", `There is no folder ${folder}.`, {
    hint: "Look where the repository is now, and update the project.",
  });
}

/**
 * Throws unless everything that the commits need is here, and makes it durable. What is reachable from our refs was looked
 * at before. Gives the parents of those that are new here.
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
          // Only commits have something behind their name.
          for (const parent of parents) names.add(parent);
        }
      },
    },
  );
  await syncObjects(join(control.folder, "objects"), ids);
  return names;
}
