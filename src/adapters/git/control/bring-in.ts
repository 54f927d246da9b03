import { Fault } from "../../../fault.ts";
import { distrust, findWorkspace, withObjectsOf } from "../salvage/workspace.ts";
import type { ControlGit } from "./control-git.ts";
import { fsckSeverities } from "./fetch-into.ts";

export interface BroughtIn {
  readonly folder: string;
  readonly commit: string;
  /** Commits that are here, most of which it contains. */
  readonly known: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** What an agent commits is small. More is for `fetch`. */
const mostBytes = 16 * 1024 * 1024;
/** As git does it where it fetches: few objects stay by themselves, many stay together. */
const manyObjects = 100;

/**
 * Copies a commit of a workspace with what it needs, without asking the git there, which would take three times as many
 * processes. What arrives is hashed and looked at anew. False where this is not the way.
 */
export async function bringIn(control: ControlGit, { folder, commit, known, signal }: BroughtIn): Promise<boolean> {
  const workspace = await findWorkspace(control.run, folder, undefined);
  if (workspace?.source === undefined) return false;
  const lines = [commit, ...new Set(known.map((each) => `^${each}`))];
  try {
    const packed = await control.git(["pack-objects", "--quiet", "--revs", "--stdout", "--window=0"], {
      input: Buffer.from(lines.map((line) => `${line}\n`).join("")),
      env: withObjectsOf(workspace),
      settings: distrust,
      most: mostBytes,
      cuts: true,
      isLong: true,
      signal,
    });
    if (packed.isCut) return false;
    const count = packed.stdout.readUInt32BE(8);
    const strict = `--strict=${fsckSeverities}`;
    const write = count < manyObjects ? ["unpack-objects", "-q", strict] : ["index-pack", "--stdin", strict];
    if (count > 0) await control.git(write, { input: packed.stdout, writes: true, isLong: true, signal });
    return true;
  } catch (error) {
    // Some of it may be missing there, or forbidden: whoever fetches it learns why.
    if (error instanceof Fault && error.retry === "never") return false;
    throw error;
  }
}
