import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { syncNames } from "../lasting.ts";
import type { ControlGit } from "./control-git.ts";
import { draftsFolder } from "./open-control.ts";

/**
 * Objects that are made on the way to something. They are in memory while nobody but us needs them, and beside the
 * repository where git does; what is wanted in the end comes in as one pack, and is made to last once.
 */
export interface Drafts {
  /** Gives the id. */
  add(kind: Kind, content: Buffer): string;
  contentOf(id: string): Buffer | undefined;
  /** Git that writes beside the repository itself, and finds what is there. */
  readonly git: ControlGit;
  /** Lets `git` find everything that was added up to now. */
  writeOut(): Promise<void>;
  /** Brings in what `top` has and the others have not. Where nothing was written out, all that was added is part of it. */
  keep(top: string, others: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

type Kind = "commit" | "tree";

interface Draft {
  readonly kind: Kind;
  readonly content: Buffer;
}

export async function openDrafts(control: ControlGit, idLength: number): Promise<Drafts> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const folder = await mkdtemp(join(drafts, "merge-"));
  const git = writingTo(control, folder);
  const all = new Map<string, Draft>();
  const unwritten = new Map<string, Draft>();
  let isWritten = false;
  const algorithm = idLength === 64 ? "sha256" : "sha1";

  async function writeOut(): Promise<void> {
    isWritten = true;
    const written = [...unwritten];
    unwritten.clear();
    await Promise.all(written.map(([id, draft]) => writeLoose(folder, id, draft)));
  }

  return {
    git,
    writeOut,
    add(kind, content) {
      const id = createHash(algorithm).update(headOf(kind, content)).update(content).digest("hex");
      if (!all.has(id)) {
        all.set(id, { kind, content });
        unwritten.set(id, { kind, content });
      }
      return id;
    },
    contentOf: (id) => all.get(id)?.content,
    async keep(top, others) {
      const packs = join(control.folder, "objects", "pack");
      await mkdir(packs, { recursive: true });
      if (isWritten) {
        await writeOut();
        await packFrom(git, packs, top, others);
      } else {
        const input = await packOf([...all.values()], algorithm);
        // Git looks at each, and whether everything is there that they name.
        await control.git(["index-pack", "--stdin", "--strict"], { input, writes: true, isLong: true });
      }
      await syncNames(packs, control.folder);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Git that writes objects into another folder, finds those that are here too, and makes nothing last. */
export function writingTo(control: ControlGit, objects: string): ControlGit {
  const others = join(control.folder, "objects").replaceAll(/["\\]/g, "\\$&");
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${others}"` };
  return {
    ...control,
    git: (args, options = {}) =>
      control.git(args, {
        ...options,
        env: { ...options.env, ...env },
        // What is asked for comes last, and wins.
        settings: ["core.fsync=none", ...(options.settings ?? [])],
      }),
  };
}

async function packFrom(draft: ControlGit, packs: string, top: string, others: readonly string[]): Promise<void> {
  const wanted = [top, ...others.map((other) => `^${other}`)].map((line) => `${line}\n`).join("");
  await draft.git(["pack-objects", "--quiet", "--revs", "--window=0", join(packs, "pack")], {
    input: Buffer.from(wanted),
    writes: true,
    isLong: true,
    settings: ["core.fsync=all"],
  });
}

async function writeLoose(objects: string, id: string, { kind, content }: Draft): Promise<void> {
  const path = join(objects, id.slice(0, 2), id.slice(2));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, deflateSync(Buffer.concat([headOf(kind, content), content])));
}

function headOf(kind: Kind, content: Buffer): Buffer {
  return Buffer.from(`${kind} ${content.length}\0`);
}

/** As git sends objects: their number, each with kind and size, and a hash of it all. */
async function packOf(objects: readonly Draft[], algorithm: string): Promise<Buffer> {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [];
  for (const [index, { kind, content }] of objects.entries()) {
    // A thread of its own for each would cost five times as much; but others have to come in between.
    if (index % 50 === 49) await setImmediate();
    parts.push(packedHead(kind, content.length), deflateSync(content));
  }
  const pack = Buffer.concat([head, ...parts]);
  return Buffer.concat([pack, createHash(algorithm).update(pack).digest()]);
}

/** Kind and lowest four bits of the size, then seven bits each; the highest bit says that more follow. */
function packedHead(kind: Kind, size: number): Buffer {
  const bytes = [(kind === "commit" ? 0x10 : 0x20) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}
