import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import { distrust, findWorkspace, withObjectsOf } from "../untrusted-folder.ts";
import { draftsFolder } from "./control.ts";
import type { ControlGit } from "./control-git.ts";
import { fsckSeverities } from "./fetch-into.ts";
import { writingTo } from "./objects.ts";

interface BroughtIn {
  readonly folder: string;
  readonly commit: string;
  /** Commits that the control repository has; most are ancestors of `commit`. */
  readonly known: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Copies a commit of a workspace with what it needs, without `git fetch`, which takes three times as many processes.
 * Every object is hashed and checked again. False if the caller must fetch instead.
 */
export async function bringIn(control: ControlGit, { folder, ...order }: BroughtIn): Promise<boolean> {
  const workspace = await findWorkspace(control.run, folder, undefined);
  if (workspace?.source === undefined) return false;
  try {
    const pack = await packCommit(control, { ...order, env: withObjectsOf(workspace), settings: distrust });
    if (pack === undefined) return false;
    const { bytes: input, count } = pack;
    const { signal } = order;
    if (count >= manyObjects)
      await control.git(["index-pack", "--stdin", `--strict=${fsckSeverities}`], {
        input,
        writes: true,
        isLong: true,
        signal,
      });
    else if (count > 0) await unpackAside(control, input, signal);
    return true;
  } catch (error) {
    // Objects may be missing or refused; the caller's fetch reports why.
    if (error instanceof Fault && error.retry === "never") return false;
    throw error;
  }
}

interface PackOrder {
  readonly commit: string;
  /** Commits that the receiver has; most are ancestors of `commit`. */
  readonly known: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: readonly string[];
  readonly signal: AbortSignal | undefined;
}

interface Pack {
  readonly bytes: Buffer;
  readonly count: number;
}

/** Agents' commits and merges are small. Larger packs are left to `git fetch`. */
const maxBytes = 16 * 1024 * 1024;

/** A pack with a commit and the objects that the receiver lacks; undefined if it is too large. */
export async function packCommit(control: ControlGit, order: PackOrder): Promise<Pack | undefined> {
  const { commit, known, env = {}, settings = [], signal } = order;
  const lines = [commit, ...new Set(known.map((each) => `^${each}`))];
  const { isCut, stdout: bytes } = await control.git(["pack-objects", "--quiet", "--revs", "--stdout", "--window=0"], {
    input: Buffer.from(lines.map((line) => `${line}\n`).join("")),
    ...{ env, settings, signal, most: maxBytes, cuts: true, isLong: true },
  });
  return isCut ? undefined : { bytes, count: bytes.readUInt32BE(8) };
}

/** As in `git fetch`: few objects become loose files, many stay in a pack. */
const manyObjects = 100;

/**
 * Unpacks a few objects into loose files, because each further pack slows git down. They are moved in only after all of
 * them were checked: existing objects are not checked again. `checkWhole` makes their names durable.
 */
async function unpackAside(control: ControlGit, pack: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const folder = await mkdtemp(join(drafts, "objects-"));
  try {
    await writingTo(control, folder).git(["unpack-objects", "-q", `--strict=${fsckSeverities}`], {
      ...{ input: pack, writes: true, isLong: true, signal },
      settings: ["core.fsync=all"],
    });
    for (const part of (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
      const place = join(control.folder, "objects", part);
      await mkdir(place, { recursive: true });
      for (const name of await readdir(join(folder, part)))
        if (/^[0-9a-f]+$/.test(name) && !existsSync(join(place, name)))
          await rename(join(folder, part, name), join(place, name));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
