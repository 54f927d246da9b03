import { closeSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { didYouMean } from "../../../engine/language/nearest.ts";
import { Fault } from "../../../fault.ts";
import type { Context } from "../../context.ts";
import { builtInWorkflows, listWorkflows, shownPath, userFolder } from "../../find-workflow.ts";
import { makeFolder } from "../../make-folder.ts";
import { readText } from "../../read-text.ts";
import { shellWord } from "../../shell-word.ts";
import { writeJson } from "../../write-json.ts";

export interface EjectFlags {
  readonly force: boolean;
  readonly json: boolean;
}

export function eject(this: Context, { force, json }: EjectFlags, source: string, newName = source) {
  const builtIn = findBuiltIn(this.home, source);
  checkName(newName);
  const file = join(userFolder(this.home), `${newName}.yml`);
  publish(file, renamed(readText(builtIn), newName), force, () => alreadyThere(source, newName, file));
  if (json) return this.print(writeJson({ name: newName, from: source, file }));
  this.print(file);
  this.say(`Edit it, then: signalbox workflow verify ${newName}`);
}

function findBuiltIn(home: string, name: string) {
  const all = builtInWorkflows();
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const own = listWorkflows(home).find((each) => each.name === name);
  const names = all.map((each) => each.name);
  throw new Fault("not-found", `There is no built-in workflow "${name}".`, {
    hint: own
      ? `"${name}" is yours already: ${own.shown}`
      : `${didYouMean(name, names)}\nTo read about them: signalbox workflow list`,
  });
}

function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return;
  throw new Fault("usage", `"${name}" cannot be the name of a workflow.`, {
    hint: "Use letters, digits, - and _, at most 64 of them, and begin with a letter or a digit; .yml is added by itself.",
  });
}

/** The label follows the new name; nothing else in the file changes. */
function renamed(text: string, name: string): string {
  return text.replace(/^name:.*$/m, `name: ${name}`);
}

/** Written whole or not at all, so that a full disk never leaves half a workflow. */
function publish(file: string, text: string, force: boolean, exists: () => Fault): void {
  const draft = `${file}.${process.pid}.draft`;
  makeFolder(dirname(file));
  try {
    writeFileSync(draft, text, { flush: true });
  } catch (error) {
    throw unwritable(file, error);
  }
  try {
    // Of two that want the name at once, one gets it.
    if (!force) closeSync(openSync(file, "wx"));
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw (error as NodeJS.ErrnoException).code === "EEXIST" && !force ? exists() : unwritable(file, error);
  }
}

function unwritable(file: string, error: unknown): Fault {
  const { code } = error as NodeJS.ErrnoException;
  return new Fault("unwritable", `${shownPath(file)} cannot be written (${code}).`, {
    hint: "Look at SIGNALBOX_HOME, at the folder's permissions and at the free space.",
    cause: error,
  });
}

function alreadyThere(source: string, name: string, file: string): Fault {
  return new Fault("exists", `You have a workflow "${name}" already: ${shownPath(file)}`, {
    hint: `Choose another name, or replace it: signalbox workflow eject ${source} ${shellWord(name)} --force`,
  });
}
