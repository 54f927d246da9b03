import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import {
  acceptDatabase,
  type Backup,
  beginEmpty,
  listBackups,
  refuseInUse,
  restoreBackup,
  soundDatabase,
} from "../../home/backups.ts";
import { type DatabaseLook, lookAtDatabase } from "../../home/database.ts";
import { homePlaces, type Places } from "../../home/places.ts";
import { confirm } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { count, writeJson, writeSize, writeTime } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { flag, json, optionalWord } from "./parameters.ts";

const restoreFlags = {
  list: flag("Only show the backups, the newest first, and whether they are sound"),
  empty: flag("Start with an empty database"),
  "as-it-is": flag("Accept a database that has lost its newest entries"),
  yes: flag("Do not ask"),
  json,
} as const;

type RestoreFlags = FlagsOf<typeof restoreFlags>;

export const restore = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [optionalWord("BACKUP", "The name of a backup, or the path of a file; otherwise the newest")],
    },
    flags: restoreFlags,
  },
  docs: {
    brief: "Replace the database with a backup",
    fullDescription: `The daemon must not be running. The current database is moved to set-aside/ in your Signalbox home (~/.signalbox), never deleted. Projects, tasks and history from after the backup are lost. Work in git is not touched. You are asked first; agents cannot do this.

The daemon refuses to start if the database of a used home is missing or empty, or has lost entries. Then you decide with this command.

--json: { restored, setAside }, with --list { backups: [{ path, at, kind, bytes, projects, tasks, number, problem }] }
Exit codes: 0 ok, 1 you said no, the daemon runs, or the backup is damaged, 2 wrong usage, 3 no such backup`,
  },
  async func(flags, name): Promise<void> {
    const places = homePlaces(this.home);
    if (flags.list) return list(this, places, flags.json);
    if ([flags.empty, flags["as-it-is"], name !== undefined].filter(Boolean).length > 1) {
      throw new Fault("usage", "A backup, --empty and --as-it-is exclude each other.", { hint: "Choose one of them." });
    }
    refuseInUse(places);
    if (flags["as-it-is"]) return accept(this, places, flags);
    const backup = flags.empty ? undefined : chooseBackup(places, name);
    const question = backup === undefined ? emptyQuestion(places) : backupQuestion(places, backup);
    if (!(await confirm(this, question, flags.yes))) return;
    const now = new Date();
    const setAside = backup === undefined ? beginEmpty(places, now) : restoreBackup(places, backup, now);
    if (flags.json)
      return this.print(writeJson({ restored: backup ?? null, setAside: setAside === "" ? null : setAside }));
    this.say(backup === undefined ? "The next command starts with an empty database." : `${backup} is restored.`);
    if (setAside !== "") this.say(`The previous database is in ${setAside}`);
    this.say("Start the daemon and check it: signalbox up, then signalbox doctor");
  },
});

async function accept(context: Context, places: Places, { yes, json }: RestoreFlags): Promise<void> {
  const question = `Accept ${places.database} (${contents(soundDatabase(places.database))})? Entries that it lacks are lost.`;
  if (!(await confirm(context, question, yes))) return;
  acceptDatabase(places, new Date());
  if (json) return context.print(writeJson({ restored: places.database, setAside: null }));
  context.say("The database is accepted. Start the daemon: signalbox up");
}

/** A backup by its name or path; without either, the newest. */
function chooseBackup(places: Places, name: string | undefined): string {
  if (name !== undefined) {
    const named = join(places.backups, name);
    return !name.includes("/") && existsSync(named) ? named : resolve(name);
  }
  const [newest] = listBackups(places);
  if (newest !== undefined) return newest.file;
  throw new Fault("not-found", `There is no backup in ${places.backups}.`, {
    hint: "Name a file: signalbox restore FILE\nTo start with an empty database: signalbox restore --empty",
  });
}

function backupQuestion(places: Places, backup: string): string {
  const from = contents(soundDatabase(backup));
  return `Restore ${backup} (${from})? ${present(places)} Changes since that backup are lost; work in git is not touched.`;
}

function emptyQuestion(places: Places): string {
  return `Start with an empty database? All projects, tasks and their history are lost; work in git is not touched. ${present(places)}`;
}

/** What happens to the current database. */
function present({ database }: Places): string {
  if (!existsSync(database)) return "There is no database now.";
  const found = tryLook(database);
  return `The current database (${found === undefined ? "unreadable" : contents(found)}) is set aside, not deleted.`;
}

function contents({ projects, tasks, number }: DatabaseLook): string {
  return `${count(projects, "project")}, ${count(tasks, "task")}, ${number} entries of history`;
}

function tryLook(file: string): DatabaseLook | undefined {
  try {
    return lookAtDatabase(file);
  } catch {
    return undefined;
  }
}

function list(context: Context, places: Places, json: boolean) {
  const found = listBackups(places).map((backup) => describe(backup));
  if (json) return context.print(writeJson({ backups: found }));
  if (found.length === 0) return context.say(`There is no backup in ${places.backups}. One is made each day.`);
  for (const { path, at, kind, bytes, tasks, problem } of found) {
    const what = problem ?? `${count(tasks ?? 0, "task")}, ${writeSize(bytes)}`;
    context.print(`${at === null ? "?" : writeTime(at)}  ${kind.padEnd(7)}  ${what}\n  ${path}`);
  }
  context.say("To restore one: signalbox restore NAME");
}

function describe({ file, kind, at }: Backup) {
  const about = {
    path: file,
    at: at === undefined ? null : new Date(at).toISOString(),
    kind,
    bytes: statSync(file).size,
  };
  try {
    const { projects, tasks, number } = soundDatabase(file);
    return { ...about, projects, tasks, number, problem: null };
  } catch (error) {
    return { ...about, projects: null, tasks: null, number: null, problem: (error as Error).message };
  }
}

export const backup = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        optionalWord("FILE", "The new file; otherwise one in backups/ in your Signalbox home, named after the time"),
      ],
    },
    flags: { json },
  },
  docs: {
    brief: "Copy the database into a new file",
    fullDescription: `Work continues meanwhile. The copy is a consistent snapshot, is checked before it gets its name, and is readable only by you. Prints its path.

The daemon makes such backups by itself, once a day and before a new version migrates the database; it keeps seven of each kind. Backups that you make are never deleted.

--json: { path }
Exit codes: 0 ok, 1 the file already exists or cannot be written, 2 wrong usage`,
  },
  async func({ json }, file) {
    if (file !== undefined && existsSync(file)) {
      throw new Fault("exists", `${file} already exists.`, { hint: "Choose another name." });
    }
    const body = file === undefined ? {} : { path: resolve(file) };
    const answer = await createCall(this)(routes.backup, { body });
    this.print(json ? writeJson(answer) : answer.path);
  },
});
