import { statSync } from "node:fs";
import { relative } from "node:path";
import { formatProblem } from "../engine/language/problem.ts";
import { findRepository } from "../home/find-repository.ts";
import { homePlaces } from "../home/places.ts";
import { newestBackup, restoreHint } from "../home/restore-hint.ts";
import { listWorkflows } from "../home/workflows.ts";
import { count } from "./count.ts";
import { type Check, error, type Finding, ok, warning } from "./doctor-finding.ts";
import type { Stored } from "./doctor-stored.ts";
import { loadFound } from "./load-found.ts";
import { shellWord } from "./shell-word.ts";
import { writeSize } from "./write-size.ts";

/** What is stored, and what it leads to. */
export function workChecks(home: string, stored: Stored | undefined): readonly Check[] {
  return [
    { name: "database", look: () => lookAtDatabase(home, stored) },
    { name: "tasks", look: () => lookAtTasks(stored) },
    { name: "projects", look: () => lookAtProjects(stored) },
    { name: "workflows", look: () => lookAtWorkflows(home) },
  ];
}

function lookAtDatabase(home: string, stored: Stored | undefined): readonly Finding[] {
  const places = homePlaces(home);
  const { database } = places;
  const backup = newestBackup(places);
  if (stored === undefined) {
    if (backup === undefined) return ok("not there yet; it is made when it is needed");
    return warning(`${database} is gone`, `signalbox down\ncp "${backup}" "${database}"`);
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
  return ok(`sound: version ${stored.version}, ${writeSize(Math.max(...bytes))}; ${saved}`);
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
      `signalbox project update ${name} --path PATH\nor signalbox project remove ${name}`,
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
