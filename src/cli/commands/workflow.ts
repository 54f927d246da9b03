import { join } from "node:path";
import { buildRouteMap } from "@stricli/core";
import { publishFile } from "../../durable-file.ts";
import { drawDot, drawMermaid, drawText } from "../../engine/draw/workflow.ts";
import { didYouMean, formatProblem } from "../../engine/language/problem.ts";
import { Fault } from "../../fault.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { homePlaces, shownPath } from "../../home/places.ts";
import {
  builtInWorkflows,
  describedAs,
  type Found,
  filesIn,
  findWorkflow,
  listWorkflows,
  projectFolder,
} from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import { oneLine } from "../../text.ts";
import type { Context } from "../context.ts";
import { describeWorkflow, workflowDocument } from "../describe-workflow.ts";
import { exitCodes } from "../fast/tell.ts";
import { loadFound, loadSound, readText, referenceTo, writeProblem } from "../findings.ts";
import { writeTable } from "../tables.ts";
import { count, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { exitCodeHelp, flag, json, oneWorkflow, optionalWord, workflows } from "./parameters.ts";
import { simulate, verify } from "./verify.ts";
import { diff } from "./workflow-diff.ts";

const eject = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          proposeCompletions: () => builtInWorkflows().map(({ name }) => name),
          placeholder: "NAME",
          brief: "A built-in workflow",
        },
        optionalWord("NEW_NAME", "The name of your copy; without one, the copy replaces the built-in workflow"),
      ],
    },
    flags: { force: flag("Replace your workflow that has this name"), json },
  },
  docs: {
    brief: "Copy a built-in workflow into your Signalbox home, to change it",
    fullDescription: `--json: { name, from, file }
Exit codes: 0 ok, 1 the file already exists or cannot be written, 2 wrong usage, 3 no such built-in workflow`,
  },
  func({ force, json }, source, newName = source) {
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
    if (builtInWorkflows().some(({ name }) => name === newName))
      this.say(
        `Your copy replaces the built-in workflow "${newName}" for new tasks in every project. To undo that: rm ${shellWord(file)}`,
      );
    this.say(`Edit it, then: signalbox workflow verify ${newName}`);
  },
});

function findBuiltIn(context: Context, name: string) {
  const all = builtInWorkflows();
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const own = listWorkflows(context).find((each) => each.name === name);
  const names = all.map((each) => each.name);
  throw new Fault("not-found", `There is no built-in workflow "${name}".`, {
    hint: own
      ? `"${name}" is already ${own.from === "project" ? "the repository's own" : "your own"}: ${own.shown}`
      : `${didYouMean(name, names)}\nList them with descriptions: signalbox workflow list`,
  });
}

function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return;
  throw new Fault("usage", `"${name}" cannot be the name of a workflow.`, {
    hint: "Use letters, digits, - and _, at most 64 of them, and begin with a letter or a digit; .yml is added for you.",
  });
}

/** Sets `name` to the new name; nothing else in the file changes. */
function renamed(text: string, name: string): string {
  return text.replace(/^name:.*$/m, `name: ${name}`);
}

function alreadyThere(source: string, name: string, file: string): Fault {
  return new Fault("exists", `You already have a workflow "${name}": ${shownPath(file)}`, {
    hint: `Choose another name, or replace it: signalbox workflow eject ${source} ${shellWord(name)} --force`,
  });
}

const draw = { mermaid: drawMermaid, dot: drawDot, text: drawText };

const graph = command({
  isForRuns: true,
  parameters: {
    positional: oneWorkflow,
    flags: {
      format: {
        kind: "enum",
        values: ["mermaid", "dot", "text"],
        optional: true,
        brief: "The format; the default is text on a terminal, otherwise mermaid",
      },
      json,
    },
  },
  docs: {
    brief: "Draw a workflow as text, for Mermaid or for Graphviz",
    fullDescription: `Escalations are drawn as ⇢ (text), ⚠ (mermaid) or dashed (dot).

Examples:
  signalbox workflow graph default --format dot | dot -Tsvg > default.svg
  signalbox workflow graph default --format mermaid > default.mmd

--json: { name, format, drawing }
${exitCodeHelp("the file has errors")}`,
  },
  func(flags, reference) {
    const found = findWorkflow(this, reference);
    const format = flags.format ?? (this.isTerminal && !flags.json ? "text" : "mermaid");
    const drawing = draw[format](loadSound(found));
    this.print(flags.json ? writeJson({ name: found.name, format, drawing }) : drawing);
  },
});

const list = command({
  isForRuns: true,
  parameters: { flags: { json } },
  docs: {
    brief: "List the built-in workflows and your own",
    fullDescription: `Yours are the files workflows/*.yml in SIGNALBOX_HOME (~/.signalbox). A file with the name of a built-in workflow replaces it. In a repository, its own files .signalbox/workflows/*.yml come first.

--json: { folder, workflows: [{ name, from, file, states, description, hash, problems }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
  func({ json }) {
    const folder = homePlaces(this.home).workflows;
    const rows = listWorkflows(this).map(readRow);
    if (json) return this.print(writeJson({ folder, workflows: rows }));

    const isBroken = (row: number) => rows[row]?.states === undefined;
    const { bold, red } = this.paint;
    const columns = [
      { title: "NAME", paint: bold },
      { title: "FROM" },
      { title: "STATES", align: "right", paint: (cell: string, row: number) => (isBroken(row) ? red(cell) : cell) },
      { title: "DESCRIPTION" },
    ] as const;
    const cells = rows.map(({ name, from, states, description, problems }) => [
      name,
      from === "user" ? "you" : from,
      states === undefined ? "broken" : String(states),
      states === undefined && problems[0] !== undefined
        ? formatProblem({ ...problems[0], file: `${name}.yml` })
        : description,
    ]);
    this.print(writeTable(columns, cells, this.tableWidth));
    for (const hint of hints(folder, projectFolder(this), rows)) this.say(hint);
  },
});

function readRow(found: Found) {
  const { workflow, problems } = loadFound(found);
  return {
    name: found.name,
    from: found.from,
    file: found.file,
    states: workflow && Object.keys(workflow.states).length,
    description: describedAs(found, workflow?.description),
    hash: workflow?.hash,
    problems,
  };
}

function hints(
  folder: string,
  project: string | undefined,
  rows: readonly ReturnType<typeof readRow>[],
): readonly string[] {
  const shown = shownPath(folder);
  const broken = rows.find(({ states }) => states === undefined);
  const strays = [folder, ...(project === undefined ? [] : [project])].flatMap((each) =>
    filesIn(each).flatMap((file) => (file.endsWith(".yaml") ? [{ path: `${shownPath(each)}/${file}`, file }] : [])),
  );
  const own = rows.filter(({ from }) => from === "user").length;
  return [
    ...(own === 0 ? [`\nNone of your own in ${shown} yet. To make one: signalbox workflow eject default my-flow`] : []),
    ...(broken ? [`\nTo see everything that is wrong: signalbox workflow validate ${broken.name}`] : []),
    ...strays.map(
      ({ path, file }) => `\n${oneLine(path)} is not read; name it ${oneLine(file).replace(/\.yaml$/, ".yml")}.`,
    ),
  ];
}

const show = command({
  isForRuns: true,
  parameters: { positional: oneWorkflow, flags: { json } },
  docs: {
    brief: "Show all of a workflow, and what follows from it",
    fullDescription: `This includes the ways that rules imply, the engine's own ways at a limit (⇢), and which runs begin and end with each way.

--json: { name, description, hash, file, initial, unclear, settings, presets, roles, limits, pollInterval,
  states: [{ name, terminal, outcome, wait, unless, do, rules, limits, respawn, ask }],
  ways: [{ from, to, by, when, gates, hooks: [{ action, params }], implied, effects, runs: { ended, started, told } }],
  prompts, schemas, counters, sections, owners, promises }. Conditions are text; unset fields are null.
${exitCodeHelp("the file has errors")}`,
  },
  func({ json }, reference) {
    const found = findWorkflow(this, reference);
    const workflow = loadSound(found);
    if (json) return this.print(writeJson(workflowDocument(workflow, found.file)));
    this.print(describeWorkflow(workflow, found.shown, this.columns, this.paint));
  },
});

const validate = command({
  isForRuns: true,
  parameters: { positional: workflows, flags: { json } },
  docs: {
    brief: "Check that workflow files are well formed",
    fullDescription: `Problems are printed as file:line:column level: message. To find out whether every task can reach an end, use signalbox workflow verify.

--json: { workflows: [{ name, file, ok, problems: [{ level, file, line, column, message, fix }] }] }
${exitCodeHelp("errors were found")}`,
  },
  func({ json }, ...references) {
    const all = references.map((reference) => findWorkflow(this, reference));
    const checked = all.map((found) => ({ found, ...loadFound(found, this) }));
    if (checked.some(({ workflow }) => workflow === undefined)) this.process.exitCode = exitCodes.failed;
    if (json) {
      const workflows = checked.map(({ found, workflow, problems }) => ({
        name: found.name,
        file: found.file,
        ok: workflow !== undefined,
        problems,
      }));
      return this.print(writeJson({ workflows }));
    }
    for (const { problems } of checked) for (const problem of problems) this.print(writeProblem(this, problem));
    for (const { found, workflow, problems } of checked) {
      const errors = problems.filter(({ level }) => level === "error").length;
      const summary = `${found.name}: ${count(errors, "error")}, ${count(problems.length - errors, "warning")}`;
      this.print(workflow === undefined ? this.paint.red(summary) : this.paint.green(summary));
    }
    const sound = checked.filter(({ workflow }) => workflow !== undefined);
    if (sound.length > 0 && sound.length === checked.length) {
      this.say(`To prove that every task can end: signalbox workflow verify ${all.map(referenceTo).join(" ")}`);
    }
  },
});

export const workflowCommands = buildRouteMap({
  routes: { list, show, validate, verify, diff, graph, simulate, eject },
  aliases: { ls: "list" },
  docs: { brief: "Read, check, draw and rehearse workflows" },
});
