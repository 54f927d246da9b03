import { formatProblem } from "../../../engine/language/problem.ts";
import { homePlaces } from "../../../home/places.ts";
import { shownPath } from "../../../home/shown-path.ts";
import { type Found, filesIn, listWorkflows, projectFolder } from "../../../home/workflows.ts";
import type { Context } from "../../context.ts";
import { loadFound } from "../../load-found.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";

export function list(this: Context, { json }: { json: boolean }) {
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
}

function readRow(found: Found) {
  const { workflow, problems } = loadFound(found);
  return {
    name: found.name,
    from: found.from,
    file: found.file,
    states: workflow && Object.keys(workflow.states).length,
    description: workflow?.description ?? "",
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
    ...strays.map(({ path, file }) => `\n${path} is not read; name it ${file.replace(/\.yaml$/, ".yml")}.`),
  ];
}
