import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "./places.ts";
import { filesIn } from "./workflows.ts";

/** Why a backup was made. Only those that are made by themselves are ever deleted by themselves. */
export type BackupKind = "asked" | "daily" | "upgrade";

export interface Backup {
  readonly file: string;
  readonly kind: BackupKind;
  /** Milliseconds since 1970; undefined where the name does not say it. */
  readonly at: number | undefined;
}

type HasBackups = Pick<Places, "backups">;

const endings: Readonly<Record<BackupKind, string>> = { asked: "", daily: "-daily", upgrade: "-before-upgrade" };

/** The name of a new one, after its time, so that names sort by age. */
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
export function backupNames({ backups }: HasBackups): readonly string[] {
  return filesIn(backups)
    .filter((file) => file.endsWith(".db"))
    .sort()
    .reverse();
}

export function newestBackup(places: HasBackups): string | undefined {
  return listBackups(places)[0]?.file;
}

/** How many of each kind stay that were made by themselves. */
export const keptBackups = 7;

/** Deletes the oldest of a kind that was made by itself. */
export function pruneBackups(places: HasBackups, kind: "daily" | "upgrade"): void {
  const ofKind = listBackups(places).filter((each) => each.kind === kind);
  for (const { file } of ofKind.slice(keptBackups)) rmSync(file, { force: true });
}

/** What to type where the database cannot be used. Each command says what it does before it does it. */
export function restoreHint(places: HasBackups): string {
  const [newest] = listBackups(places);
  const empty =
    "To begin with nothing, which forgets all projects, tasks and history (work in git stays, and what is there is set aside): signalbox restore --empty";
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
