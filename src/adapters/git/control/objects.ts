import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { Fault } from "../../../fault.ts";
import { createMemo } from "../../../keyed.ts";
import { syncNames } from "../lasting.ts";
import { draftsFolder } from "./control.ts";
import type { ControlGit } from "./control-git.ts";

/**
 * Objects that are created during a merge. They stay in memory while only we need them, and are written beside the
 * repository if git does. In the end the wanted ones are added as one pack, with one fsync.
 */
export interface Drafts {
  /** Returns the id. */
  add(kind: Kind, content: Buffer): string;
  contentOf(id: string): Buffer | undefined;
  /** Git that writes objects beside the repository, and reads both places. */
  readonly git: ControlGit;
  /** Writes all added objects, so that `git` finds them. */
  writeOut(): Promise<void>;
  /** Adds the objects that `top` reaches and the others do not. If nothing was written out, adds all drafts. */
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
        // Git checks each object, and that everything it refers to exists.
        await control.git(["index-pack", "--stdin", "--strict"], { input, writes: true, isLong: true });
      }
      await syncNames(packs, control.folder);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Git that writes objects into another folder, also reads those of the control repository, and does not fsync. */
export function writingTo(control: ControlGit, objects: string): ControlGit {
  const others = join(control.folder, "objects").replaceAll(/["\\]/g, "\\$&");
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${others}"` };
  return {
    ...control,
    git: (args, options = {}) =>
      control.git(args, {
        ...options,
        env: { ...options.env, ...env },
        // The caller's settings come last, and win.
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

/** Git's pack format: the number of objects, each with kind and size, and a hash of it all. */
async function packOf(objects: readonly Draft[], algorithm: string): Promise<Buffer> {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [];
  for (const [index, { kind, content }] of objects.entries()) {
    // The thread pool would take five times as long, so yield to the event loop now and then.
    if (index % 50 === 49) await nextTurn();
    parts.push(packedHead(kind, content.length), deflateSync(content));
  }
  const pack = Buffer.concat([head, ...parts]);
  return Buffer.concat([pack, createHash(algorithm).update(pack).digest()]);
}

/** Kind and the lowest four bits of the size, then seven bits each; a set highest bit means that more bytes follow. */
function packedHead(kind: Kind, size: number): Buffer {
  const bytes = [(kind === "commit" ? 0x10 : 0x20) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}

/** A cache of trees: each is read once. */
export interface KnownTrees {
  treeOf(commit: string): Promise<string>;
  /** Undefined if git would write the same tree with other bytes. */
  readTree(id: string): Promise<Tree | undefined>;
}

export function knownTrees(contentOf: (id: string) => Promise<Buffer>): KnownTrees {
  const trees = createMemo<Tree | undefined>({ max: Number.POSITIVE_INFINITY });
  return {
    async treeOf(commit) {
      const start = "tree ".length;
      return (await contentOf(commit)).toString("latin1", start, start + commit.length);
    },
    readTree: (id) => trees.get(id, async () => readTree(await contentOf(id), id.length)),
  };
}

/** One long-running `git cat-file`, because starting git takes longer than reading an object. */
export interface ObjectReader {
  /** Throws `git.incomplete` if there is no such object. */
  read(id: string): Promise<Buffer>;
  close(): Promise<void>;
}

interface Asked {
  readonly id: string;
  resolve(content: Buffer): void;
  reject(error: unknown): void;
}

export function openReader(control: ControlGit): ObjectReader {
  const questions = new PassThrough();
  const asked: Asked[] = [];
  /** Requests of the same turn of the event loop, which are sent together. */
  let unsent = "";
  let failure: unknown;
  let rest: Buffer = Buffer.alloc(0);
  const ended = control
    .git(["cat-file", "--batch"], { input: questions, onOutput: take, isLong: true })
    .then(() => fail(gone()), fail);
  return {
    read(id) {
      if (failure !== undefined) return Promise.reject(failure);
      return new Promise((resolve, reject) => {
        asked.push({ id, resolve, reject });
        if (unsent === "") setImmediate(send);
        unsent += `${id}\n`;
      });
    },
    close() {
      questions.end(unsent);
      unsent = "";
      return ended;
    },
  };

  function send(): void {
    if (unsent !== "") questions.write(unsent);
    unsent = "";
  }

  function fail(error: unknown): void {
    failure = error;
    for (const { reject } of asked.splice(0)) reject(error);
  }

  /** `<id> <kind> <size>`, a line end, the content, a line end; or `<id> missing`. */
  function take(chunk: Buffer): void {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      const [, kind = "", size] = rest.toString("latin1", 0, end).split(" ");
      const after = end + 1 + (size === undefined ? 0 : Number(size) + 1);
      if (rest.length < after) return;
      const content = rest.subarray(end + 1, after - 1);
      rest = rest.subarray(after);
      const question = asked.shift();
      if (size === undefined) question?.reject(missing(question.id, kind, control.folder));
      else question?.resolve(content);
    }
  }
}

function missing(id: string, word: string, folder: string): Fault {
  return new Fault("git.incomplete", `The object ${id} is ${word} in ${folder}.`, {
    hint: "List the missing objects: git fsck",
  });
}

function gone(): Fault {
  return new Fault("git.failed", '"git cat-file" ended before it had answered.', { retry: "later" });
}

/** A tree object. Names have one character for each byte. */
export type Tree = ReadonlyMap<string, TreeEntry>;

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

export const folderMode = "40000";

/** Files, executables, links, submodules, folders. */
const knownModes = new Set(["100644", "100755", "120000", "160000", folderMode]);

/**
 * Undefined if git would write the same tree with other bytes: old tools have written other modes, another order or
 * empty folders.
 */
export function readTree(bytes: Buffer, idLength: number): Tree | undefined {
  const tree = new Map<string, TreeEntry>();
  const size = idLength / 2;
  let last = "";
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1 || end + 1 + size > bytes.length) return undefined;
    const mode = bytes.toString("latin1", at, space);
    const name = bytes.toString("latin1", space + 1, end);
    at = end + 1 + size;
    const id = bytes.toString("hex", end + 1, at);
    const key = sortKey(name, mode);
    const isPlain = knownModes.has(mode) && name !== "" && key > last && !tree.has(name) && !emptyTrees.has(id);
    if (!isPlain) return undefined;
    tree.set(name, { mode, id });
    last = key;
  }
  return tree;
}

export function writeTree(tree: Tree): Buffer {
  const sorted = [...tree].map(([name, entry]) => ({ key: sortKey(name, entry.mode), name, entry }));
  sorted.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, entry: { mode, id } }) => [
      Buffer.from(`${mode} ${name}\0`, "latin1"),
      Buffer.from(id, "hex"),
    ]),
  );
}

/** Git sorts folders as if their names ended with a slash. */
function sortKey(name: string, mode: string): string {
  return mode === folderMode ? `${name}/` : name;
}

/** The empty tree in SHA-1 and SHA-256. Git knows both without storing them. */
const emptyTrees = new Set([
  "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
]);
