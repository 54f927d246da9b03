import { join } from "node:path";
import { didYouMean } from "../../../engine/language/nearest.ts";
import { Fault } from "../../../fault.ts";
import { makeFolder } from "../../../home/make-folder.ts";
import { homePlaces } from "../../../home/places.ts";
import { publishFile } from "../../../home/publish-file.ts";
import { shownPath } from "../../../home/shown-path.ts";
import { builtInWorkflows, listWorkflows } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { readText } from "../../read-text.ts";
import { shellWord } from "../../shell-word.ts";
import { writeJson } from "../../write-json.ts";

export interface EjectFlags {
  readonly force: boolean;
  readonly json: boolean;
}

export function eject(this: Context, { force, json }: EjectFlags, source: string, newName = source) {
  const builtIn = findBuiltIn(this, source);
  checkName(newName);
  const folder = homePlaces(this.home).workflows;
  const file = join(folder, `${newName}.yml`);
  makeFolder(folder, 0o700);
  try {
    publishFile(file, renamed(readText(builtIn), newName), { replace: force });
  } catch (error) {
    throw error instanceof Fault && error.code === "exists" ? alreadyThere(source, newName, file) : error;
  }
  if (json) return this.print(writeJson({ name: newName, from: source, file }));
  this.print(file);
  this.say(`Edit it, then: signalbox workflow verify ${newName}`);
}

function findBuiltIn(context: Context, name: string) {
  const all = builtInWorkflows();
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const own = listWorkflows(context).find((each) => each.name === name);
  const names = all.map((each) => each.name);
  throw new Fault("not-found", `There is no built-in workflow "${name}".`, {
    hint: own
      ? `"${name}" is ${own.from === "project" ? "the repository's own" : "yours already"}: ${own.shown}`
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

function alreadyThere(source: string, name: string, file: string): Fault {
  return new Fault("exists", `You have a workflow "${name}" already: ${shownPath(file)}`, {
    hint: `Choose another name, or replace it: signalbox workflow eject ${source} ${shellWord(name)} --force`,
  });
}
