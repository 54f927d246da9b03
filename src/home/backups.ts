import {
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { syncFolderSync } from "../durable-file.ts";
import { Fault } from "../fault.ts";
import {
  type DatabaseLook,
  damageOf,
  lookAtDatabase,
  readDatabase,
  readStoreNote,
  writeStoreNote,
} from "./database.ts";
import { isLocked, takeLock } from "./lock.ts";
import { makePrivateFolder } from "./make-folder.ts";
import type { Places } from "./places.ts";
import { filesIn } from "./workflows.ts";

/** Why a backup was made. The daemon deletes only the kinds that it makes by itself, daily and upgrade. */
type BackupKind = "asked" | "daily" | "upgrade";

export interface Backup {
  readonly file: string;
  readonly kind: BackupKind;
  /** Milliseconds since 1970; undefined if the file's name does not contain a time. */
  readonly at: number | undefined;
}

type HasBackups = Pick<Places, "backups">;

const endings: Readonly<Record<BackupKind, string>> = { asked: "", daily: "-daily", upgrade: "-before-upgrade" };

/** The path of a new backup. The name begins with the time, so that names sort by age. */
export function backupFile({ backups }: HasBackups, now: number, kind: BackupKind): string {
  return join(backups, `${new Date(now).toISOString().replace(/[:.]/g, "-")}${endings[kind]}.db`);
}

/** The newest first. */
export function listBackups(places: HasBackups): readonly Backup[] {
  return backupNames(places).map((name) => ({
    file: join(places.backups, name),
    kind: kindOf(name),
    at: timeOf(name),
  }));
}

/** The newest first. */
function backupNames({ backups }: HasBackups): readonly string[] {
  return filesIn(backups)
    .filter((file) => file.endsWith(".db"))
    .sort()
    .reverse();
}

export function newestBackup(places: HasBackups): string | undefined {
  return listBackups(places)[0]?.file;
}

/** How many automatic backups of each kind are kept. */
const maxBackups = 7;

/** Deletes the oldest automatic backups of this kind. */
export function pruneBackups(places: HasBackups, kind: "daily" | "upgrade"): void {
  const ofKind = listBackups(places).filter((each) => each.kind === kind);
  for (const { file } of ofKind.slice(maxBackups)) rmSync(file, { force: true });
}

/** The commands to suggest when the database cannot be used. Each of them asks before it changes anything. */
export function restoreHint(places: HasBackups): string {
  const [newest] = listBackups(places);
  const empty =
    "To start with an empty database, which forgets all projects, tasks and history (work in git stays, and the present files are set aside): signalbox restore --empty";
  if (newest === undefined) return `There is no backup in ${places.backups}.\n${empty}`;
  return `Restore the newest backup, ${newest.file}: signalbox restore\nSee all backups: signalbox restore --list\n${empty}`;
}

function kindOf(name: string): BackupKind {
  if (name.endsWith(`${endings.daily}.db`)) return "daily";
  return name.endsWith(`${endings.upgrade}.db`) ? "upgrade" : "asked";
}

function timeOf(name: string): number | undefined {
  const [, day, hour, minute, second, rest] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/.exec(name) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hour}:${minute}:${second}.${rest}Z`);
}

/**
 * Replaces the database with a backup. Returns the folder into which the old files were moved; empty if there were
 * none.
 */
export function restoreBackup(places: Places, backup: string, now: Date): string {
  const found = soundDatabase(backup);
  return alone(places, () => {
    // Copy before anything else is touched: the disk may be full.
    const draft = `${places.database}.restored`;
    rmSync(draft, { force: true });
    copyDurably(backup, draft);
    const aside = setAside(places, now);
    renameSync(draft, places.database);
    syncFolderSync(dirname(places.database));
    writeStoreNote(places, noteOf(found, now));
    return aside;
  });
}

/**
 * Sets the database aside, so that the next daemon starts empty. Returns the folder; empty if there was no database.
 */
export function beginEmpty(places: Places, now: Date): string {
  return alone(places, () => {
    const aside = setAside(places, now);
    writeStoreNote(places, { number: 0, projects: 0, at: now.toISOString(), isEmptyOnPurpose: true });
    return aside;
  });
}

/** Accepts the database as complete, although it has fewer entries than the note says. */
export function acceptDatabase(places: Places, now: Date): void {
  const found = soundDatabase(places.database);
  if (found.version === 0) {
    throw new Fault("store.empty", `There is nothing in ${places.database}.`, {
      hint: "To start with an empty database: signalbox restore --empty",
    });
  }
  alone(places, () => writeStoreNote(places, noteOf(found, now)));
}

/** Summarises a database that opens and passes the integrity check; otherwise throws a Fault that says why not. */
export function soundDatabase(file: string): DatabaseLook {
  if (!existsSync(file)) {
    throw new Fault("not-found", `There is no file ${file}.`, { hint: "List the backups: signalbox restore --list" });
  }
  try {
    const [damage] = readDatabase(file, damageOf);
    if (damage === undefined) return lookAtDatabase(file);
    throw new Error(damage);
  } catch (error) {
    throw new Fault("store.corrupt", `${file} is not an intact database: ${(error as Error).message}.`, {
      hint: "Choose another backup: signalbox restore --list",
      cause: error,
    });
  }
}

function noteOf({ number, projects }: DatabaseLook, now: Date) {
  return { number, projects, at: now.toISOString() };
}

/** Holds the daemon's lock during `run`: no process may use the database meanwhile, and no daemon may start. */
function alone<T>(places: Places, run: () => T): T {
  for (const folder of [dirname(places.database), places.run]) makePrivateFolder(folder);
  const lock = takeLock(places.lock);
  if (lock === undefined) throw inUse();
  try {
    return run();
  } finally {
    lock.release();
  }
}

/** Throws while the daemon runs. Call this before asking a person to confirm something that would then fail. */
export function refuseInUse(places: Places): void {
  if (isLocked(places.lock)) throw inUse();
}

function inUse(): Fault {
  return new Fault("daemon.running", "The daemon is running and uses the database.", {
    hint: "Stop it first: signalbox down",
  });
}

/** Moves the database with its log into a new folder. A log left behind would be replayed into the next database. */
function setAside({ database, storeNote, setAside: folder }: Places, now: Date): string {
  const files = [database, `${database}-wal`, `${database}-shm`, storeNote].filter((file) => existsSync(file));
  if (files.length === 0) return "";
  const target = join(folder, now.toISOString().replace(/[:.]/g, "-"));
  for (const each of [folder, target]) makePrivateFolder(each);
  for (const file of files) renameSync(file, join(target, file.slice(dirname(file).length + 1)));
  for (const each of [target, dirname(database)]) syncFolderSync(each);
  return target;
}

function copyDurably(from: string, to: string): void {
  try {
    copyFileSync(from, to);
    const descriptor = openSync(to, "r+");
    try {
      // The copy has the permissions of the original, which may come from elsewhere.
      fchmodSync(descriptor, 0o600);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    rmSync(to, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${to} cannot be written (${code}). Nothing was changed.`, {
      hint: "Check the folder's permissions and the free space.",
      cause: error,
    });
  }
}

/**
 * Why the store must not be opened: it is gone, empty, or has lost entries. Undefined if it may be opened. Call this
 * before SQLite opens the file: SQLite would create a missing file, and delete the log of an empty one.
 */
export function storeLoss(places: Places): Fault | undefined {
  const { database } = places;
  const note = readStoreNote(places);
  const size = statSync(database, { throwIfNoEntry: false })?.size;
  const found = size === undefined || size === 0 ? undefined : tryLook(database);
  if (found === "in use") return new Fault("store.busy", `Another process has the database ${database} open.`);
  if (found === "unreadable") return undefined;
  if (found === undefined || found.version === 0) {
    if (note?.isEmptyOnPurpose === true) return undefined;
    const traces = tracesOf(places, note?.number ?? 0, note?.projects ?? 0);
    if (traces.length === 0) return undefined;
    const what = size === undefined ? "is gone" : "is empty";
    return new Fault(
      "store.gone",
      `The database ${database} ${what}, but Signalbox has already used this home: ${traces.join(", ")}.`,
      {
        hint: restoreHint(places),
      },
    );
  }
  if (note === undefined || found.number >= note.number) return undefined;
  const missing = note.number - found.number;
  return new Fault(
    "store.behind",
    `The database ${database} lacks the newest ${missing} of ${note.number} entries of its history, which it had at ${note.at}: ` +
      `its log ${database}-wal was deleted or cut short, or an older copy was put in its place.`,
    { hint: `${restoreHint(places)}\nTo continue with the database as it is: signalbox restore --as-it-is` },
  );
}

/** Damage to the file itself is reported by the code that opens it. */
function tryLook(database: string): DatabaseLook | "in use" | "unreadable" {
  try {
    return lookAtDatabase(database);
  } catch (error) {
    return ((error as { errcode?: number }).errcode ?? 0) === busy ? "in use" : "unreadable";
  }
}

const busy = 5;

/** Evidence elsewhere in the home that a store was in use. */
function tracesOf(places: Places, number: number, projects: number): readonly string[] {
  const count = (many: number, what: string, plural = `${what}s`) =>
    many === 0 ? [] : [`${many} ${many === 1 ? what : plural}`];
  return [
    ...(number + projects === 0
      ? []
      : [`${count(projects, "project").join("") || "no project"} and ${number} entries of history were noted`]),
    ...count(foldersIn(places.control).length, "control repository", "control repositories"),
    ...count(foldersIn(places.workspaces).flatMap((each) => foldersIn(each)).length, "workspace"),
    ...count(foldersIn(places.runs).length, "folder of a run", "folders of runs"),
    ...count(backupNames(places).length, "backup"),
  ];
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((each) => each.isDirectory() && !each.name.startsWith("."))
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}
