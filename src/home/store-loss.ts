import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../fault.ts";
import { backupNames, restoreHint } from "./backups.ts";
import { type DatabaseLook, lookAtDatabase } from "./database.ts";
import type { Places } from "./places.ts";
import { readStoreNote } from "./store-note.ts";

/**
 * Why the store must not be opened: it is gone, empty, or has less in it than it had. Undefined where nothing speaks
 * against it. To be asked before SQLite opens the file, which would create what is missing and delete what is left of it.
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
    return new Fault("store.gone", `The database ${database} ${what}, but this home was used: ${traces.join(", ")}.`, {
      hint: restoreHint(places),
    });
  }
  if (note === undefined || found.number >= note.number) return undefined;
  const missing = note.number - found.number;
  return new Fault(
    "store.behind",
    `The database ${database} lacks the newest ${missing} of ${note.number} entries of its history, which it had at ${note.at}: ` +
      `its log ${database}-wal was deleted or cut short, or an older copy was put in its place.`,
    { hint: `${restoreHint(places)}\nTo go on with the database as it is: signalbox restore --as-it-is` },
  );
}

/** What is wrong with the file itself is told by whoever opens it. */
function tryLook(database: string): DatabaseLook | "in use" | "unreadable" {
  try {
    return lookAtDatabase(database);
  } catch (error) {
    return ((error as { errcode?: number }).errcode ?? 0) === busy ? "in use" : "unreadable";
  }
}

const busy = 5;

/** What a store that was in use has left behind elsewhere. */
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
