import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { damageOf, readDatabase } from "../home/database.ts";

/** What `doctor` wants to know of what is stored. */
export interface Stored {
  /** Why the file could not be read, which says nothing about damage; missing where it could. */
  readonly unread?: "in use" | { readonly why: string };
  /** Of the database's form; 0 where it is not known. */
  readonly version: number;
  /** Empty where it is sound. */
  readonly damage: readonly string[];
  /** Tasks that do not go on, and why. */
  readonly troubled: readonly { readonly task: string; readonly why: string }[];
  readonly projects: readonly { readonly name: string; readonly path: string }[];
}

const pageSize = "1000";

/** As the daemon tells it. */
export async function askStored(call: Call, file: string): Promise<Stored> {
  const { damage, stuck } = await call(routes.check);
  const { projects } = await call(routes.listProjects);
  const troubled: Stored["troubled"][number][] = [];
  const held = new Set<string>();
  for (let before: string | undefined; ; ) {
    const query = { open: "true" as const, limit: pageSize, ...(before === undefined ? {} : { before }) };
    const { tasks, next } = await call(routes.listTasks, { query });
    for (const task of tasks) {
      if (task.held !== null) held.add(task.id);
      const name = `${task.project}#${task.number}`;
      // A question and an approval are the course of things; an agent in trouble is told of with the runs.
      const troubles = task.needs.filter(({ reason }) => !["question", "approval", "agent", "disk"].includes(reason));
      if (task.held !== null) troubled.push({ task: name, why: whyHeld(task.status, task.held.reason) });
      else for (const { brief } of troubles) troubled.push({ task: name, why: `needs you: ${brief}` });
    }
    if (next === null) break;
    before = String(next);
  }
  // What failed usually holds the task, and is then said already.
  for (const { task, action, reason } of stuck) {
    if (!held.has(task)) troubled.push({ task, why: `${action} failed: ${reason}` });
  }
  return { version: writtenVersion(file), damage, troubled, projects };
}

/** As it stands in the file, which is not written to. Undefined where there is none. */
export function readStored(file: string): Stored | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readDatabase(file, (database) => {
      const damage = damageOf(database);
      const version = versionOf(database);
      // A file that the daemon has only just begun has no tables yet.
      const canTell = damage.length === 0 && version > 0;
      return { version, damage, ...(canTell ? contents(database) : nothing) };
    });
  } catch (problem) {
    const { errcode = 0, message } = problem as Error & { errcode?: number };
    const kind = errcode & 0xff;
    if (damaging.includes(kind)) return { version: 0, damage: [message], ...nothing };
    return { version: 0, damage: [], unread: kind === busy ? "in use" : { why: message }, ...nothing };
  }
}

/** SQLite's CORRUPT and NOTADB. Whatever else it says is about access to the file, not about what is in it. */
const damaging = [11, 26];
const busy = 5;

const nothing = { troubled: [], projects: [] };

/** What is known where nothing could be asked or read. */
export function storedUnread(why: string): Stored {
  return { version: 0, damage: [], unread: { why }, ...nothing };
}

/** What is known while a daemon has the database and does not answer. */
export const storedInUse: Stored = { version: 0, damage: [], unread: "in use", ...nothing };

/**
 * As it stands in the file's header: the daemon that runs lets nobody else open its database. 0 where the file is gone or
 * cannot be read, which the look at the database tells.
 */
function writtenVersion(file: string): number {
  const header = Buffer.alloc(64);
  try {
    const descriptor = openSync(file, "r");
    try {
      readSync(descriptor, header, 0, header.length, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return 0;
  }
  return header.readInt32BE(60);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("pragma user_version").get()?.user_version);
}

/** A task whose first open effect is due at no time cannot carry it out any more. */
function contents(database: DatabaseSync): Pick<Stored, "troubled" | "projects"> {
  const held = "json_extract(data, '$.held.reason')";
  const tasks = database.prepare(
    `select project || '#' || number as task, status, ${held} as reason from task
     where is_open = 1 and (${held} is not null or (owed is not null and due_at is null)) order by position desc`,
  );
  const projects = database.prepare("select name, json_extract(data, '$.path') as path from project order by name");
  return {
    troubled: tasks.all().map(({ task, status, reason }) => ({
      task: String(task),
      why: reason === null ? "something that it owes has failed" : whyHeld(String(status), String(reason)),
    })),
    projects: projects.all().map(({ name, path }) => ({ name: String(name), path: String(path) })),
  };
}

function whyHeld(status: string, reason: string): string {
  return `is held in "${status}": ${reason}`;
}
