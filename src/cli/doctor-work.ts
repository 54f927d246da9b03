import { constants, existsSync, statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { formatProblem } from "../engine/language/problem.ts";
import { newestBackup, restoreHint } from "../home/backups.ts";
import { findRepository } from "../home/find-repository.ts";
import { homePlaces } from "../home/places.ts";
import { storeLoss } from "../home/store-loss.ts";
import { listWorkflows } from "../home/workflows.ts";
import { accessProblem } from "./access-problem.ts";
import { count } from "./count.ts";
import { type Check, error, type Finding, ok, warning } from "./doctor-finding.ts";
import type { Stored } from "./doctor-stored.ts";
import type { FoundDaemon } from "./find-daemon.ts";
import { loadFound } from "./load-found.ts";
import { shellWord } from "./shell-word.ts";
import { writeSize } from "./write-size.ts";

/** What is stored, and what it leads to. */
export function workChecks(home: string, stored: Stored | undefined, daemon: FoundDaemon): readonly Check[] {
  return [
    { name: "database", look: () => lookAtDatabase(home, stored, daemon) },
    { name: "tasks", look: () => lookAtTasks(stored) },
    { name: "projects", look: () => lookAtProjects(stored) },
    { name: "workflows", look: () => lookAtWorkflows(home) },
  ];
}

function lookAtDatabase(home: string, stored: Stored | undefined, daemon: FoundDaemon): readonly Finding[] {
  const places = homePlaces(home);
  const { database } = places;
  const backup = newestBackup(places);
  // A daemon that runs looks after that itself; one of an older version does not tell of it.
  const lost = daemon.kind === "answers" ? (daemon.status.storeProblem ?? "") : "";
  if (lost !== "") {
    const found = `${lost} The daemon still has the lost file open: what was saved before can be read and copied, and nothing new is saved`;
    return error(found, `signalbox backup\nsignalbox down\n${restoreHint(places)}`);
  }
  const loss = daemon.kind === "none" ? storeLoss(places) : undefined;
  if (loss !== undefined) return error(loss.message, `signalbox down\n${loss.hint}`);
  if (stored === undefined) return ok("not there yet; it is made when it is needed");
  if (stored.unread === "in use") return ok("in use by a daemon that does not answer");
  if (stored.unread !== undefined) {
    const why = accessProblem(database, constants.R_OK);
    return error(
      `${database} cannot be read: ${why?.reason ?? stored.unread.why}. Nothing says that it is damaged`,
      why?.fix ?? "Look at who owns the file and its folder, at their permissions and at the disk",
    );
  }
  // SQLite puts a title above what it found.
  const [damage, ...others] = stored.damage.flatMap((text) => text.split("\n")).filter((line) => !/^\*{3}/.test(line));
  if (damage !== undefined) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : "";
    return error(`${database} is damaged: ${damage}${more}`, `signalbox down\n${restoreHint(places)}`);
  }
  // What was written last is still in the log beside the file.
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

const mostShown = 5;

function lookAtTasks(stored: Stored | undefined): readonly Finding[] {
  const { troubled = [] } = stored ?? {};
  if (troubled.length === 0) return ok("none is held");
  const shown = troubled.slice(0, mostShown).flatMap(({ task, why }) => {
    const [line = ""] = why.split("\n");
    return warning(`${task} ${line}`, `signalbox task explain ${task}`);
  });
  const rest = troubled.length - mostShown;
  return rest > 0 ? [...shown, ...warning(`and ${count(rest, "other")}`, "signalbox task list --all")] : shown;
}

function lookAtProjects(stored: Stored | undefined): readonly Finding[] {
  const { projects = [] } = stored ?? {};
  const wrong = projects.flatMap(({ name, path }) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder && findRepository(path) !== undefined) return [];
    const what = isFolder ? "is no git repository" : "is gone";
    return error(
      `${path}, the repository of ${name}, ${what}`,
      `signalbox project update ${name} --path PATH\nor, to forget it with its tasks and their history: signalbox project remove ${name}`,
    );
  });
  if (wrong.length > 0) return wrong;
  return ok(
    projects.length === 0 ? "none yet; in a repository: signalbox init" : projects.map(({ name }) => name).join(", "),
  );
}

function lookAtWorkflows(home: string): readonly Finding[] {
  const own = listWorkflows({ home }).filter(({ from }) => from === "user");
  const wrong = own.flatMap((found) => {
    const [problem] = loadFound(found, { home }).problems.filter(({ level }) => level === "error");
    if (problem === undefined) return [];
    return error(
      `${found.name} does not load: ${formatProblem(problem)}`,
      `signalbox workflow validate ${shellWord(found.name)}`,
    );
  });
  if (wrong.length > 0) return wrong;
  return ok(own.length === 0 ? "the built-in ones" : `yours load: ${own.map(({ name }) => name).join(", ")}`);
}
