import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import type { Tails } from "../../src/ports/tail.ts";

/** Files below this folder exist in memory only, and answer immediately. */
export const memoryRoot = "/signalbox-simulated";

interface Node {
  /** Undefined for a folder. */
  text: string | undefined;
  mode: number;
}

const nodes = new Map<string, Node>();
const descriptors = new Map<number, string>();
const firstDescriptor = 1_000_000_000;
let isInstalled = false;

/** Deletes all files. */
export function emptyMemoryFiles(): void {
  nodes.clear();
  descriptors.clear();
  nodes.set(memoryRoot, folderNode());
}

export function makeMemoryFolder(path: string): void {
  for (let at = path; !nodes.has(at) && at.startsWith(memoryRoot); at = dirname(at)) nodes.set(at, folderNode());
}

/**
 * Makes Node's own file functions use the memory folder. A life must be deterministic, and the timing of disks is not.
 */
export function installMemoryFiles(): void {
  if (isInstalled) return;
  isInstalled = true;
  emptyMemoryFiles();
  for (const [name, inMemory] of Object.entries(sync)) replace(fs, name, inMemory);
  for (const [name, syncName] of Object.entries(promised)) {
    const inMemory = sync[syncName] as (...args: unknown[]) => unknown;
    replace(fs.promises, name, async (...args: unknown[]) => inMemory(...args));
  }
  syncBuiltinESMExports();
}

function replace(target: object, name: string, inMemory: (...args: never[]) => unknown): void {
  const real = Reflect.get(target, name) as (...args: unknown[]) => unknown;
  const chosen = (...args: unknown[]) => (isOurs(args[0]) ? inMemory(...(args as never[])) : real.apply(target, args));
  Reflect.set(target, name, Object.assign(chosen, real));
}

function isOurs(what: unknown): boolean {
  if (typeof what === "number") return what >= firstDescriptor;
  return typeof what === "string" && (what === memoryRoot || what.startsWith(`${memoryRoot}/`));
}

const promised = {
  readFile: "readFileSync",
  writeFile: "writeFileSync",
  mkdir: "mkdirSync",
  stat: "statSync",
  readdir: "readdirSync",
  rm: "rmSync",
  access: "accessSync",
  realpath: "realpathSync",
} as const satisfies Readonly<Record<string, keyof typeof sync>>;

const sync = {
  existsSync: (path: string) => nodes.has(path),
  accessSync: (path: string) => void mustHave(path),
  realpathSync: (path: string) => {
    mustHave(path);
    return path;
  },
  readFileSync: (path: string, how?: unknown) => {
    const { text } = mustHave(path);
    if (text === undefined) throw failure("EISDIR", path);
    return how === undefined ? Buffer.from(text) : text;
  },
  writeFileSync: (to: string | number, text: string) => {
    const path = typeof to === "number" ? (descriptors.get(to) ?? "") : to;
    if (!nodes.has(dirname(path))) throw failure("ENOENT", path);
    nodes.set(path, { text: String(text), mode: nodes.get(path)?.mode ?? 0o600 });
  },
  statSync: look,
  lstatSync: look,
  mkdirSync: (path: string, how?: { readonly recursive?: boolean }) => {
    if (nodes.has(path) && how?.recursive !== true) throw failure("EEXIST", path);
    makeMemoryFolder(path);
  },
  readdirSync: (path: string) => {
    mustHave(path);
    return [...nodes.keys()].filter((each) => dirname(each) === path).map((each) => each.slice(path.length + 1));
  },
  rmSync: (path: string) => {
    const node = nodes.get(path);
    if (node?.text !== undefined) nodes.delete(path);
    // A missing folder has no entries.
    if (node === undefined || node.text !== undefined) return;
    for (const each of [...nodes.keys()]) if (each === path || each.startsWith(`${path}/`)) nodes.delete(each);
  },
  renameSync: (from: string, to: string) => {
    nodes.set(to, mustHave(from));
    nodes.delete(from);
  },
  linkSync: (from: string, to: string) => {
    if (nodes.has(to)) throw failure("EEXIST", to);
    nodes.set(to, mustHave(from));
  },
  chmodSync: (path: string, mode: number) => {
    mustHave(path).mode = mode;
  },
  openSync: (path: string, flags: string) => {
    if (flags === "r") mustHave(path);
    else if (!nodes.has(path)) nodes.set(path, { text: "", mode: 0o600 });
    const descriptor = firstDescriptor + descriptors.size;
    descriptors.set(descriptor, path);
    return descriptor;
  },
  closeSync: () => undefined,
  fsyncSync: () => undefined,
  fchmodSync: () => undefined,
};

function look(path: string, how?: { readonly throwIfNoEntry?: boolean }) {
  const node = nodes.get(path);
  if (node === undefined && how?.throwIfNoEntry === false) return undefined;
  const { text, mode } = mustHave(path);
  return {
    size: text?.length ?? 0,
    mode,
    uid: process.getuid?.() ?? 0,
    mtimeMs: 0,
    isFile: () => text !== undefined,
    isDirectory: () => text === undefined,
    isSymbolicLink: () => false,
  };
}

function folderNode(): Node {
  return { text: undefined, mode: 0o700 };
}

function mustHave(path: string): Node {
  const node = nodes.get(path);
  if (node === undefined) throw failure("ENOENT", path);
  return node;
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** Line files in memory, and their readers, which follow them as they grow. */
export interface MemoryTails extends Tails {
  append(path: string, line: string): void;
}

export function createMemoryTails(): MemoryTails {
  const files = new Map<string, string[]>();
  const listeners = new Map<string, Set<() => void>>();
  return {
    append(path, line) {
      files.set(path, [...(files.get(path) ?? []), line]);
      for (const listener of [...(listeners.get(path.slice(0, path.lastIndexOf("/"))) ?? [])]) listener();
    },
    open(path, position) {
      let offset = position?.offset ?? 0;
      return {
        async read() {
          const lines = (files.get(path) ?? []).slice(offset).map((text) => ({ text, isCut: false }));
          offset += lines.length;
          return { lines, position: { offset, before: "" }, hasMore: false, isAnew: false };
        },
      };
    },
    watch(folder, listener) {
      const own = listeners.get(folder) ?? new Set();
      listeners.set(folder, own.add(listener));
      return () => void own.delete(listener);
    },
  };
}
