import { isAbsolute } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Synced, SyncOrder } from "../../../ports/control-repository.ts";
import { checkPart, noCommit } from "../check-names.ts";
import { joinNul } from "../file-name.ts";
import { masked } from "../masked.ts";
import { remoteOptions } from "../remote-options.ts";
import { createTurns } from "../turns.ts";
import type { ControlGit } from "./control-git.ts";
import { checkFolder, fetchInto } from "./fetch-into.ts";
import { keep } from "./keep.ts";

// Two at once would find each other's refs elsewhere than they believed.
const turns = createTurns();

export function syncFrom(control: ControlGit, order: SyncOrder): Promise<Synced> {
  return turns.take(`${control.folder} ${order.name}`, () => syncAlone(control, order));
}

async function syncAlone(control: ControlGit, { from, name, signal }: SyncOrder): Promise<Synced> {
  const incoming = `refs/signalbox/incoming/sync/${checkPart(name)}/`;
  const filed = `refs/remotes/${name}/`;
  const options = isAbsolute(from) ? {} : ({ ...remoteOptions(from), configuration: "user" } as const);
  // A mirror that stays, so that only what has changed is written.
  await fetchInto(control, {
    from: isAbsolute(from) ? checkFolder(from) : from,
    refspecs: [`+refs/heads/*:${incoming}*`],
    prunes: true,
    signal,
    options,
  });
  const [theirs, ours] = await tips(control, incoming, filed);
  if (theirs.size === 0) throw empty(from);
  for (const [branch, old] of ours) {
    if (theirs.get(branch) !== old && !(await isContained(control, old, incoming))) await keep(control, name, old);
  }
  const gone = [...ours].filter(([branch]) => !theirs.has(branch));
  const moved = [...theirs].filter(([branch, tip]) => ours.get(branch) !== tip);
  // A branch may take the place of a folder of branches that are gone.
  await change(
    control,
    gone.flatMap(([branch, old]) => [`delete ${filed}${branch}`, old]),
  );
  await change(
    control,
    moved.flatMap(([branch, tip]) => [`update ${filed}${branch}`, tip, ours.get(branch) ?? noCommit(tip)]),
  );
  return { branches: Object.fromEntries([...theirs].map(([branch, tip]) => [toText(branch), tip])) };
}

async function isContained(control: ControlGit, commit: string, folder: string): Promise<boolean> {
  const args = ["for-each-ref", "--count=1", `--contains=${commit}`, "--end-of-options", folder];
  return (await control.git(args, { isLong: true })).stdout.length > 0;
}

/** Of each folder of refs, by name, whose bytes are kept as they are. */
async function tips(
  control: ControlGit,
  ...folders: readonly [string, string]
): Promise<readonly [ReadonlyMap<string, string>, ReadonlyMap<string, string>]> {
  const { stdout } = await control.git([
    "for-each-ref",
    "--format=%(objectname) %(refname)",
    "--end-of-options",
    ...folders,
  ]);
  const refs = stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))] as const);
  const below = (folder: string) =>
    new Map(refs.flatMap(([name, id]) => (name.startsWith(folder) ? [[name.slice(folder.length), id]] : [])));
  return [below(folders[0]), below(folders[1])];
}

async function change(control: ControlGit, parts: readonly string[]): Promise<void> {
  if (parts.length === 0) return;
  const input = joinNul(parts.map((part) => Buffer.from(part, "latin1")));
  await control.git(["update-ref", "--no-deref", "-m", "synced", "--stdin", "-z"], {
    input,
    writes: true,
    isLong: true,
  });
}

function toText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

function empty(from: string): Fault {
  return new Fault("git.no-commits", `${masked(from)} has no commit yet.`, {
    hint: "Make a first one: git commit --allow-empty -m start",
  });
}
