import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { didYouMean, known } from "../engine/language/problem.ts";
import { Fault } from "../fault.ts";
import { oneLine } from "../text.ts";
import { homePlaces, packageRoot, repositoryPlaces, shownPath } from "./places.ts";

/** A workflow's name and file. The file has not been read yet. */
export interface Found {
  readonly name: string;
  readonly from: "built-in" | "user" | "project" | "file";
  /** Absolute. */
  readonly file: string;
  /** The path as the user would write it. */
  readonly shown: string;
}

/** Where to search for workflows. */
export interface Lookup {
  readonly home: string;
  readonly repository?: string | undefined;
}

/**
 * Finds a workflow by path if the reference looks like one, else by name: the repository's, the user's, a built-in one.
 */
export function findWorkflow(lookup: Lookup, reference: string): Found {
  if (isPath(reference)) return foundFile(lookup, reference);
  const found = listWorkflows(lookup).find(({ name }) => name === reference);
  if (found !== undefined) return found;
  if (existsSync(reference)) {
    throw new Fault("not-found", `There is no workflow "${reference}".`, {
      hint: `To use the file of that name, write ./${reference}`,
    });
  }
  throw notFound(`There is no workflow "${reference}".`, reference, lookup);
}

/** Whether a reference is the path of a file, not the name of a workflow. */
export function isPath(reference: string): boolean {
  return reference.includes("/") || /\.ya?ml$/.test(reference);
}

/**
 * Every workflow that has a name. Of several with the same name, only the one that `findWorkflow` returns is listed.
 */
export function listWorkflows(lookup: Lookup): readonly Found[] {
  const project = workflowsIn(projectFolder(lookup), "project");
  const user = without(project, workflowsIn(homePlaces(lookup.home).workflows, "user"));
  return [...without([...project, ...user], builtInWorkflows()), ...user, ...project];
}

/**
 * The workflows that a workflow may use for its children: every workflow that has a name and, for a file given by its
 * path, also the files beside it, so that a set of workflows can be tried before it is installed.
 */
export function childNames(lookup: Lookup, found: Pick<Found, "from" | "file">): readonly string[] {
  return [...new Set(childFiles(lookup, found).map(({ name }) => name))];
}

function childFiles(lookup: Lookup, { from, file }: Pick<Found, "from" | "file">): readonly Found[] {
  return [...listWorkflows(lookup), ...(from === "file" ? workflowsIn(dirname(file), "file") : [])];
}

/** The workflow that a workflow names for its children; undefined where there is none. */
export function findChild(lookup: Lookup, found: Pick<Found, "from" | "file">, name: string): Found | undefined {
  return childFiles(lookup, found).find((each) => each.name === name);
}

export function builtInWorkflows(): readonly Found[] {
  return workflowsIn(join(packageRoot(), "workflows"), "built-in");
}

/** What built-in workflows are for whose files stay as their authors wrote them, without a description. */
const descriptions: Readonly<Record<string, string>> = {
  classic:
    "A worker builds and hands over, a reviewer judges, a person merges; with states for questions and stuck agents.",
  minimal: "One agent works until it hands its work over, then a person reviews it.",
};

/** The description of a found workflow: the one in its file, else the one that its makers left out. */
export function describedAs({ name, from }: Pick<Found, "name" | "from">, written = ""): string {
  return written === "" && from === "built-in" ? (descriptions[name] ?? "") : written;
}

/** The folder of the repository's own workflows, if it has any. */
export function projectFolder({ home, repository }: Lookup): string | undefined {
  const folder = repository === undefined ? undefined : repositoryPlaces(home, repository)?.workflows;
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new Fault("unreadable", `The folder ${folder} cannot be read (${code}).`, {
      hint: "Check SIGNALBOX_HOME and the folder's permissions.",
      cause: error,
    });
  }
}

function workflowsIn(folder: string | undefined, from: Found["from"]): readonly Found[] {
  if (folder === undefined) return [];
  return (
    filesIn(folder)
      .filter((file) => file.endsWith(".yml") && !file.startsWith(".") && mayBeFile(join(folder, file)))
      // A repository's files can have any names. One with a line break would look like two.
      .filter((file) => file === oneLine(file))
      .map((file) => {
        const path = resolve(folder, file);
        return { name: file.slice(0, -".yml".length), from, file: path, shown: shownPath(path) };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  );
}

/** A repository can contain links to devices and pipes, and reading those would never end. */
function mayBeFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

function without(hiding: readonly Found[], all: readonly Found[]): readonly Found[] {
  const hidden = new Set(hiding.map(({ name }) => name));
  return all.filter(({ name }) => !hidden.has(name));
}

function foundFile(lookup: Lookup, path: string): Found {
  const name = basename(path).replace(/\.ya?ml$/, "");
  if (!existsSync(path)) throw notFound(`There is no file ${path}.`, name, lookup);
  return { name, from: "file", file: resolve(path), shown: path };
}

function notFound(message: string, name: string, lookup: Lookup): Fault {
  const names = listWorkflows(lookup).map((each) => each.name);
  return new Fault("not-found", message, {
    hint: [
      ...new Set([didYouMean(name, names), known(names)]),
      "List them with descriptions: signalbox workflow list",
    ].join("\n"),
  });
}
