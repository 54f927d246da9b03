import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { didYouMean } from "../engine/language/nearest.ts";
import { Fault } from "../fault.ts";
import type { Context } from "./context.ts";
import { packageRoot } from "./package-root.ts";

/** A workflow that somebody named, before anything is known about what is in its file. */
export interface Found {
  readonly name: string;
  readonly from: "built-in" | "user" | "file";
  /** Absolute. */
  readonly file: string;
  /** The file as the user would write it. */
  readonly shown: string;
}

/** A path where it looks like one, else a workflow of the user's, else a built-in one. */
export function findWorkflow({ home }: Pick<Context, "home">, reference: string): Found {
  if (reference.includes("/") || isWorkflowFile(reference)) return foundFile(home, reference);
  const found = listWorkflows(home).find(({ name }) => name === reference);
  if (found !== undefined) return found;
  if (existsSync(reference)) {
    throw new Fault("not-found", `There is no workflow "${reference}".`, {
      hint: `To use the file of that name, write ./${reference}`,
    });
  }
  throw notFound(`There is no workflow "${reference}".`, reference, home);
}

/** Every workflow that has a name. One of the user's hides a built-in one of the same name. */
export function listWorkflows(home: string): readonly Found[] {
  const user = workflowsIn(userFolder(home), "user");
  const own = new Set(user.map(({ name }) => name));
  return [...workflowsIn(builtInFolder(), "built-in").filter(({ name }) => !own.has(name)), ...user];
}

export function builtInWorkflows(): readonly Found[] {
  return workflowsIn(builtInFolder(), "built-in");
}

export function userFolder(home: string): string {
  return join(home, "workflows");
}

export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new Fault("unreadable", `The folder ${folder} cannot be read (${code}).`, {
      hint: "Look at SIGNALBOX_HOME and at the folder's permissions.",
      cause: error,
    });
  }
}

/** Relative to where the user is, unless that leads out of there. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === "" || path.startsWith("..") ? file : path;
}

function workflowsIn(folder: string, from: Found["from"]): readonly Found[] {
  return filesIn(folder)
    .filter((file) => file.endsWith(".yml") && !file.startsWith("."))
    .map((file) => {
      const path = resolve(folder, file);
      return { name: file.slice(0, -".yml".length), from, file: path, shown: shownPath(path) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function builtInFolder(): string {
  return join(packageRoot(), "workflows");
}

function foundFile(home: string, path: string): Found {
  const name = basename(path).replace(/\.ya?ml$/, "");
  if (!existsSync(path)) throw notFound(`There is no file ${path}.`, name, home);
  return { name, from: "file", file: resolve(path), shown: path };
}

function isWorkflowFile(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

function notFound(message: string, name: string, home: string): Fault {
  const names = listWorkflows(home).map((each) => each.name);
  return new Fault("not-found", message, {
    hint: `${didYouMean(name, names)}\nTo read about them: signalbox workflow list`,
  });
}
