import { closeSync, constants, existsSync, openSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { newestBackup, restoreHint, storeLoss } from "../../home/backups.ts";
import { accessProblem, type Check, error, type Finding, ok, warning } from "../../home/checks.ts";
import { damageOf, readDatabase } from "../../home/database.ts";
import { homePlaces, packageVersion } from "../../home/places.ts";
import { lookAtProjects, lookAtTasks, lookAtWorkflows, type Work, whyHeld } from "../../home/work-checks.ts";
import { isAlive } from "../connect.ts";
import { shownTask } from "../find.ts";
import type { FoundDaemon } from "../start-daemon.ts";
import { writeAgents, writeSize } from "../text.ts";

/** Checks the daemon, and the leftovers of a dead one. */
export function daemonCheck(home: string, found: FoundDaemon): Check {
  return { name: "daemon", look: () => lookAtDaemon(home, found) };
}

function lookAtDaemon(home: string, daemon: FoundDaemon): readonly Finding[] {
  const { socket, pid: file, log } = homePlaces(home);
  const pid = processIn(file);
  if (daemon.kind === "silent") {
    const who = daemon.pid === undefined ? "" : ` (process ${daemon.pid})`;
    const end = "If this continues, kill it, which loses nothing; unfinished effects are done again:";
    return error(`runs${who}, but does not answer`, `${end}\nsignalbox down --force\nThen read ${log}`);
  }
  // The check of the token says what is wrong with it.
  if (daemon.kind === "closed")
    return ok(`runs: version ${daemon.version}, process ${daemon.pid}; it tells more once your token is accepted`);
  if (daemon.kind === "answers") {
    const seen = daemon.status;
    const about = `runs: version ${seen.version}, process ${seen.pid}`;
    return seen.version === packageVersion
      ? ok(seen.address === "" ? about : `${about}, on http://${seen.address}`)
      : warning(`${about}; this command line is version ${packageVersion}`, "signalbox down && signalbox up");
  }
  const left = [
    ...(statSync(socket, { throwIfNoEntry: false }) === undefined ? [] : [socket]),
    ...(pid !== undefined && !isAlive(pid) ? [file] : []),
  ];
  if (left.length === 0) return ok("is not running; it is started when it is needed");
  return warning(`is not running; a dead daemon has left ${left.join(" and ")}`, "signalbox up", () => {
    for (const path of left) rmSync(path, { force: true });
    return `removed ${left.length > 1 ? "both" : "it"}`;
  });
}

function processIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}

const maxTasks = "1000";

/** Agents that need a person, or that are dead while their task waits for them. Only a running daemon knows. */
export function runCheck(call: Call | undefined): Check {
  return {
    name: "runs",
    look: () => (call === undefined ? ok("the daemon checks them when it runs") : lookAtRuns(call)),
  };
}

async function lookAtRuns(call: Call): Promise<readonly Finding[]> {
  // An older daemon does not report it.
  const { agents, terminalProblem: { reason, fix } = { reason: "", fix: "" } } = await call(routes.status, {
    query: {},
  });
  const mute = reason === "" ? [] : warning(reason, fix);
  const { tasks } = await call(routes.listTasks, { query: { open: "true", limit: maxTasks } });
  const { harnesses } = await call(routes.listHarnesses, { query: {} });
  const dead = tasks
    .filter(({ session, needsPerson }) => session === "dead" && needsPerson)
    .flatMap((task) => warning(`the agent of ${shownTask(task)} is dead`, `signalbox task respawn ${shownTask(task)}`));
  // Other held tasks are reported by the check of tasks.
  const troubled = tasks
    .filter(({ held, session }) => held === null && session !== "dead")
    .flatMap((task) =>
      task.needs
        .filter(({ reason }) => reason === "agent")
        .flatMap(({ brief, command }) => warning(`${shownTask(task)}: ${brief}`, command)),
    );
  const limited = harnesses
    .filter(({ limitedUntil }) => limitedUntil !== null)
    .flatMap(({ name, title, limitedUntil }) =>
      warning(`the limit of ${title} is reached until ${limitedUntil}`, `signalbox resume --harness ${name}`),
    );
  const found = [...mute, ...dead, ...troubled, ...limited];
  if (found.length > 0) return found;
  return ok(`agents: ${writeAgents(agents)}; none needs a person`);
}

/** What `doctor` needs to know about the stored data. */
export interface Stored extends Work {
  /** Why the file could not be read, which does not mean damage; missing if it was read. */
  readonly unread?: "in use" | { readonly why: string };
  /** The version of the database's schema; 0 if unknown. */
  readonly version: number;
  /** Empty if the database is sound. */
  readonly damage: readonly string[];
}

const pageSize = "1000";

/** Asks the running daemon. */
export async function askStored(call: Call, file: string): Promise<Stored> {
  // An older daemon does not report branches and unsaved workspaces.
  const { damage, stuck, branches = [], unsaved = [] } = await call(routes.check);
  const { projects } = await call(routes.listProjects);
  const troubled: Stored["troubled"][number][] = [];
  const held = new Set<string>();
  for (let before: string | undefined; ; ) {
    const query = { open: "true" as const, limit: pageSize, ...(before === undefined ? {} : { before }) };
    const { tasks, next } = await call(routes.listTasks, { query });
    for (const task of tasks) {
      if (task.held !== null) held.add(task.id);
      const name = `${task.project}#${task.number}`;
      // Questions and approvals are normal; agents in trouble are reported with the runs.
      const troubles = task.needs.filter(({ reason }) => !["question", "approval", "agent", "disk"].includes(reason));
      if (task.held !== null) troubled.push({ task: name, why: whyHeld(task.status, task.held.reason) });
      else for (const { brief } of troubles) troubled.push({ task: name, why: `needs you: ${brief}` });
    }
    if (next === null) break;
    before = String(next);
  }
  // A failed effect usually holds the task, which is already reported.
  for (const { task, action, reason } of stuck) {
    if (!held.has(task)) troubled.push({ task, why: `${action} failed: ${reason}` });
  }
  return { version: writtenVersion(file), damage, troubled, projects, branches, unsaved };
}

/** Reads the file without writing to it. Undefined if there is none. */
export function readStored(file: string): Stored | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readDatabase(file, (database) => {
      const damage = damageOf(database);
      const version = versionOf(database);
      // A file that the daemon has just created has no tables yet.
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

/** SQLite's CORRUPT and NOTADB. Other errors are about access to the file, not about its contents. */
const damaging = [11, 26];
const busy = 5;

const nothing = { troubled: [], projects: [] };

/** The result if the store could not be read. */
export function storedUnread(why: string): Stored {
  return { version: 0, damage: [], unread: { why }, ...nothing };
}

/** The result while a daemon that does not answer has the database open. */
export const storedInUse: Stored = { version: 0, damage: [], unread: "in use", ...nothing };

/**
 * The version in the file's header: a running daemon locks its database. 0 if the file is gone or cannot be read, which
 * the check of the database reports.
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

/** A task is stuck if its first open effect has no due time: that effect has failed. */
function contents(database: DatabaseSync): Pick<Stored, "troubled" | "projects"> {
  const held = "json_extract(data, '$.held.reason')";
  const tasks = database.prepare(
    `select project || '#' || number as task, status, ${held} as reason from task
     where is_open = 1 and (${held} is not null or (owed is not null and due_at is null)) order by position desc`,
  );
  // A store of an older version has no kind yet; opening it writes `worktree` down.
  const kind = "coalesce(json_extract(data, '$.workspaces'), 'worktree') as workspaces";
  const projects = database.prepare(
    `select name, json_extract(data, '$.path') as path, json_extract(data, '$.workflow') as workflow, ${kind}
     from project order by name`,
  );
  return {
    troubled: tasks.all().map(({ task, status, reason }) => ({
      task: String(task),
      why: reason === null ? "an effect has failed" : whyHeld(String(status), String(reason)),
    })),
    projects: projects.all().map(({ name, path, workspaces, workflow }) => ({
      ...{ name: String(name), path: String(path), workspaces: String(workspaces), workflow: String(workflow ?? "") },
    })),
  };
}

/** Checks of the stored data, and of the projects and workflows. */
export function workChecks(home: string, stored: Stored | undefined, daemon: FoundDaemon): readonly Check[] {
  return [
    { name: "database", look: () => lookAtDatabase(home, stored, daemon) },
    { name: "tasks", look: () => lookAtTasks(stored) },
    { name: "projects", look: () => lookAtProjects(stored) },
    { name: "workflows", look: () => lookAtWorkflows(home, stored?.projects) },
  ];
}

function lookAtDatabase(home: string, stored: Stored | undefined, daemon: FoundDaemon): readonly Finding[] {
  const places = homePlaces(home);
  const { database } = places;
  const backup = newestBackup(places);
  // A running daemon checks this itself; an older one does not report it.
  const lost = daemon.kind === "answers" ? (daemon.status.storeProblem ?? "") : "";
  if (lost !== "") {
    const found = `${lost} The daemon still has the lost file open: earlier data can be read and copied, but nothing new is saved`;
    return error(found, `signalbox backup\nsignalbox down\n${restoreHint(places)}`);
  }
  const loss = daemon.kind === "none" ? storeLoss(places) : undefined;
  if (loss !== undefined) return error(loss.message, `signalbox down\n${loss.hint}`);
  if (stored === undefined) return ok("does not exist yet; it is created when it is needed");
  if (stored.unread === "in use") return ok("in use by a daemon that does not answer");
  if (stored.unread !== undefined) {
    const why = accessProblem(database, constants.R_OK);
    return error(
      `${database} cannot be read: ${why?.reason ?? stored.unread.why}. It is not known to be damaged`,
      why?.fix ?? "Check the owner and the permissions of the file and its folder, and the disk",
    );
  }
  // SQLite prints a title above its findings.
  const [damage, ...others] = stored.damage.flatMap((text) => text.split("\n")).filter((line) => !/^\*{3}/.test(line));
  if (damage !== undefined) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : "";
    return error(`${database} is damaged: ${damage}${more}`, `signalbox down\n${restoreHint(places)}`);
  }
  // The latest writes are still in the write-ahead log.
  const bytes = ["", "-wal"].map((end) => statSync(`${database}${end}`, { throwIfNoEntry: false })?.size ?? 0);
  const saved = backup === undefined ? "no backup yet (signalbox backup)" : `newest backup ${relative(home, backup)}`;
  const version = stored.version === 0 ? "" : `version ${stored.version}, `;
  const found = `sound: ${version}${writeSize(Math.max(...bytes))}; ${saved}`;
  const unwritable = [database, `${database}-wal`, dirname(database)]
    .filter((path) => existsSync(path))
    .flatMap((path) => accessProblem(path, constants.W_OK) ?? [])[0];
  return unwritable === undefined
    ? ok(found)
    : error(`cannot be written: ${unwritable.reason}; ${found}`, unwritable.fix);
}
