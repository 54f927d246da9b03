import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Fault } from "../../fault.ts";
import { type Backup, listBackups } from "../../home/backups.ts";
import { type DatabaseLook, lookAtDatabase } from "../../home/database.ts";
import { homePlaces, type Places } from "../../home/places.ts";
import { acceptDatabase, beginEmpty, refuseInUse, restoreBackup, soundDatabase } from "../../home/restore.ts";
import { confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { count } from "../count.ts";
import { mayBeAgent } from "../credential.ts";
import { writeJson } from "../write-json.ts";
import { writeSize } from "../write-size.ts";
import { writeTime } from "../write-time.ts";

export interface RestoreFlags {
  readonly list: boolean;
  readonly empty: boolean;
  readonly "as-it-is": boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

export async function restore(this: Context, flags: RestoreFlags, name?: string): Promise<void> {
  const places = homePlaces(this.home);
  if (flags.list) return list(this, places, flags.json);
  if ([flags.empty, flags["as-it-is"], name !== undefined].filter(Boolean).length > 1) {
    throw new Fault("usage", "A backup, --empty and --as-it-is exclude each other.", { hint: "Choose one of them." });
  }
  if (mayBeAgent(places, globalThis.process.env, globalThis.process.cwd())) {
    throw new Fault("caller.denied", "Only a person may do this.", { hint: "Ask the person who runs Signalbox." });
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
  this.say(backup === undefined ? "The next command begins with nothing." : `${backup} is restored.`);
  if (setAside !== "") this.say(`What was there is in ${setAside}`);
  this.say("Start the daemon and look at how things are: signalbox up, then signalbox doctor");
}

async function accept(context: Context, places: Places, { yes, json }: RestoreFlags): Promise<void> {
  const question = `Go on with ${places.database} as it is (${contents(soundDatabase(places.database))})? What it lacks is forgotten.`;
  if (!(await confirm(context, question, yes))) return;
  acceptDatabase(places, new Date());
  if (json) return context.print(writeJson({ restored: places.database, setAside: null }));
  context.say("The database counts as whole. Start the daemon: signalbox up");
}

/** By its name in the folder of backups, or by its path; the newest where nothing is said. */
function chooseBackup(places: Places, name: string | undefined): string {
  if (name !== undefined) {
    const named = join(places.backups, name);
    return !name.includes("/") && existsSync(named) ? named : resolve(name);
  }
  const [newest] = listBackups(places);
  if (newest !== undefined) return newest.file;
  throw new Fault("not-found", `There is no backup in ${places.backups}.`, {
    hint: "Name a file: signalbox restore FILE\nTo begin with nothing: signalbox restore --empty",
  });
}

function backupQuestion(places: Places, backup: string): string {
  const from = contents(soundDatabase(backup));
  return `Restore ${backup} (${from})? ${present(places)} What happened since that backup is forgotten; work in git stays.`;
}

function emptyQuestion(places: Places): string {
  return `Begin with nothing? All projects, tasks and their history are forgotten; work in git stays. ${present(places)}`;
}

/** What becomes of what is there. */
function present({ database }: Places): string {
  if (!existsSync(database)) return "There is no database now.";
  const found = tryLook(database);
  return `The present database (${found === undefined ? "unreadable" : contents(found)}) is set aside, not deleted.`;
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
