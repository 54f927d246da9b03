import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { writerOf } from "../../durable-file.ts";
import type { SandboxPlan } from "../../ports/sandbox.ts";

/** What a program finds at a path. */
export type Mount =
  /** An empty folder of its own; `closed`: nothing can be created in it. */
  | { readonly kind: "empty" | "closed"; readonly at: string; readonly mode?: string }
  | { readonly kind: "read" | "write"; readonly at: string; readonly from: string }
  | { readonly kind: "link"; readonly at: string; readonly to: string }
  /** An empty file instead of what is there. */
  | { readonly kind: "blank"; readonly at: string };

/** The folders of the system that programs need: their own files, libraries and settings. */
const systemFolders = [
  ...["/usr", "/etc", "/opt", "/nix", "/gnu", "/snap", "/sys", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
  ...["/var/lib/ca-certificates", "/home/linuxbrew/.linuxbrew"],
];
/** Secrets of the system. Only root could read them anyway. */
const systemSecrets = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"].concat([
  "/etc/ssl/private",
]);

/** Everything that the program of a plan finds, folders before what is in them. Looks at the disk, and changes nothing. */
export function mountsOf(plan: SandboxPlan): readonly Mount[] {
  const { folder, home, closed, work } = plan;
  const worked = work === "write" ? { read: [], write: [folder] } : openFor(folder, work.files);
  const [reads, writes] = [
    [...plan.read, ...worked.read],
    [...plan.write, ...worked.write],
  ];
  const all: Mount[] = [
    ...systemMounts(),
    { kind: "empty", at: "/run" },
    ...["/tmp", "/var/tmp"].map((at) => ({ kind: "empty", at, mode: "1777" }) as const),
    ...(home === "/" ? [] : both(home).map((at) => ({ kind: "empty", at, mode: "0700" }) as const)),
    ...both(closed).map((at) => ({ kind: "closed", at, mode: "0700" }) as const),
    ...plan.own.flatMap(both).map((at) => ({ kind: "empty", at, mode: "0700" }) as const),
    ...reads.flatMap((path) => bound("read", path)),
    ...writes.flatMap((path) => bound("write", path)),
    ...plan.placed.flatMap(({ from, at }) =>
      exists(from) ? both(at).map((each): Mount => ({ kind: "write", at: each, from })) : [],
    ),
    ...plan.hidden.flatMap(blanks),
  ];
  const shown = [...concealed(plan, all), ...all];
  const byPath = new Map(shown.map((mount) => [mount.at, mount]));
  return withoutRepetitions(shown.filter((mount) => canBePlaced(mount, byPath)));
}

/** Only where they would be seen: elsewhere a mount would show that they exist. */
function concealed(plan: SandboxPlan, all: readonly Mount[]): readonly Mount[] {
  const byPath = new Map(all.map((mount) => [mount.at, mount]));
  return plan.concealed
    .filter(exists)
    .flatMap(both)
    .filter((at) => {
      const around = nearest(byPath, at);
      return around !== undefined && "from" in around && !systemFolders.includes(at);
    })
    .map((at) => ({ kind: "closed", at, mode: "0700" }));
}

/**
 * Parents first. Of several mounts at one path the last counts. A mount that gives no other access than the one around
 * it is left out.
 */
function withoutRepetitions(all: readonly Mount[]): readonly Mount[] {
  const byPath = new Map(all.map((mount) => [mount.at, mount]));
  const sorted = [...byPath.values()].sort((a, b) => depthOf(a.at) - depthOf(b.at));
  return sorted.filter((mount) => {
    if (mount.kind !== "read" && mount.kind !== "write") return true;
    const around = nearest(byPath, mount.at);
    return around?.kind !== mount.kind || !isSamePlace(around, mount);
  });
}

function isSamePlace(around: Mount, { at, from }: Mount & { readonly from: string }): boolean {
  return "from" in around && join(around.from, at.slice(around.at.length)) === from;
}

/**
 * A mount point cannot be a link in a folder that is mounted, nor be behind one: what it leads to is mounted instead. It
 * cannot be created in a folder that is mounted read-only either; and none is created in a writable folder for what comes
 * from elsewhere, because it would stay there.
 */
function canBePlaced(mount: Mount, byPath: ReadonlyMap<string, Mount>): boolean {
  const around = nearest(byPath, mount.at);
  if (around === undefined) return true;
  if (!canBePlaced(around, byPath)) return false;
  if (!("from" in around)) return true;
  const rest = mount.at.slice(around.at.length);
  const point = join(around.from, rest);
  if (exists(point)) return realOf(point) === join(realOf(around.from), rest);
  return mount.kind === "empty" ? around.kind === "write" : mount.kind !== "write";
}

function nearest(mounts: ReadonlyMap<string, Mount>, path: string): Mount | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    const found = mounts.get(at);
    if (found !== undefined || at === dirname(at)) return found;
  }
}

function depthOf(path: string): number {
  return path === "/" ? 0 : path.split(sep).length;
}

/** Under its own name and under its real one: programs use both. */
function both(path: string): readonly string[] {
  return [...new Set([path, realOf(path)])];
}

function bound(kind: "read" | "write", path: string): readonly Mount[] {
  if (kind === "read" && [path, realOf(path)].every(isOfSystem)) return [];
  return exists(path) ? both(path).map((at) => ({ kind, at, from: path })) : [];
}

/**
 * A working folder of which only some files can be changed. The daemon and agents replace a file by renaming, which needs
 * the folder around it. At the top of the working folder, that lets a program create files, but it cannot change what is
 * there. A file behind a link is not opened: it could be any other file.
 */
function openFor(folder: string, files: readonly string[]): { read: readonly string[]; write: readonly string[] } {
  const own = files.filter(
    (file) => file.startsWith(`${folder}${sep}`) && realOf(file) === join(realOf(folder), file.slice(folder.length)),
  );
  const below = own.map((file) => dirname(file)).filter((each) => each !== folder);
  const top = own.filter((file) => dirname(file) === folder);
  if (top.length === 0) return { read: [folder], write: below };
  const others = readdirSync(folder, { withFileTypes: true })
    // The daemon may be replacing the task file at this moment: its draft is gone before the program is started.
    .filter(({ name }) => top.every((file) => writerOf(name, basename(file)) === undefined))
    .filter((entry) => !entry.isSymbolicLink())
    .map(({ name }) => join(folder, name))
    .filter((path) => !top.includes(path) && !below.includes(path));
  return others.length > maxEntries
    ? { read: [folder], write: [...below, ...top] }
    : { read: others, write: [folder, ...below] };
}

/** Each entry costs a mount. */
const maxEntries = 500;

function blanks(path: string): readonly Mount[] {
  if (!exists(path)) return [];
  const isFolder = statSync(path).isDirectory();
  return both(path).map((at) => (isFolder ? { kind: "closed", at } : { kind: "blank", at }));
}

function isOfSystem(path: string): boolean {
  return systemFolders.some((folder) => path === folder || path.startsWith(`${folder}${sep}`));
}

function systemMounts(): readonly Mount[] {
  const folders = systemFolders.flatMap((at): readonly Mount[] => {
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return [found.isSymbolicLink() ? { kind: "link", at, to: readlinkSync(at) } : { kind: "read", at, from: at }];
  });
  // The settings for names of hosts are often elsewhere than in /etc.
  const names = realOf("/etc/resolv.conf");
  const outside: readonly Mount[] =
    names.startsWith("/etc/") || !exists(names) ? [] : [{ kind: "read", at: names, from: names }];
  return [...folders, ...outside, ...[...systemSecrets, ...hostKeys()].filter(isReadable).flatMap(blanks)];
}

function hostKeys(): readonly string[] {
  try {
    const names = readdirSync("/etc/ssh").filter((name) => /^ssh_host_.*_key$/.test(name));
    return names.map((name) => join("/etc/ssh", name));
  } catch {
    return [];
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** What this user cannot reach cannot be mounted either. */
function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
