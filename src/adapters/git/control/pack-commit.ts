import type { ControlGit } from "./control-git.ts";

export interface PackOrder {
  readonly commit: string;
  /** Commits that whoever gets it has, most of which it contains. */
  readonly known: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface Pack {
  readonly bytes: Buffer;
  readonly count: number;
}

/** What agents commit, and what merges add, is small. More is for `fetch`. */
const mostBytes = 16 * 1024 * 1024;

/** A commit with what others do not have of what it needs; undefined where that is much. */
export async function packCommit(control: ControlGit, order: PackOrder): Promise<Pack | undefined> {
  const { commit, known, env = {}, settings = [], signal } = order;
  const lines = [commit, ...new Set(known.map((each) => `^${each}`))];
  const { isCut, stdout: bytes } = await control.git(["pack-objects", "--quiet", "--revs", "--stdout", "--window=0"], {
    input: Buffer.from(lines.map((line) => `${line}\n`).join("")),
    ...{ env, settings, signal, most: mostBytes, cuts: true, isLong: true },
  });
  return isCut ? undefined : { bytes, count: bytes.readUInt32BE(8) };
}

/** As git does it where it fetches: few objects stay by themselves, many stay together. */
export const manyObjects = 100;
