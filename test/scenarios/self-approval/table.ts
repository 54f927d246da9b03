import type { Measured, Outcome } from "./way.ts";

/** The ways of one kind, as they were measured in one column. */
export interface Group {
  readonly title: string;
  readonly measured: readonly Measured[];
}

const begin = "<!-- npm run self-approval -- --write -->";
const end = "<!-- end of npm run self-approval -->";

/**
 * The document with the table of what was measured. Where no sandbox can be made, `confined` is undefined, and the cells of
 * that column stay as they are.
 */
export function withTable(document: string, free: readonly Group[], confined: readonly Group[] | undefined): string {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The document lacks the line ${begin} or ${end}.`);
  const written = cellsOf(document.slice(from, to));
  const tables = free.map(({ title, measured }) => {
    const others = confined?.find((group) => group.title === title)?.measured;
    const rows = measured.map(({ way, outcome }) => {
      const other = others?.find((each) => each.way === way)?.outcome ?? written.get(`${title}|${way}`) ?? "unknown";
      return `| ${way} | ${outcome} | ${other} |`;
    });
    return [`**${title}**`, "", "| attempt | without | in a sandbox |", "| --- | --- | --- |", ...rows].join("\n");
  });
  const text = [begin, "", countsOf(free, confined ?? []), "", tables.join("\n\n"), "", ""].join("\n");
  return document.slice(0, from) + text + document.slice(to);
}

/** The cells of the last column, by table and row. */
function cellsOf(text: string): ReadonlyMap<string, string> {
  const cells = new Map<string, string>();
  let title = "";
  for (const line of text.split("\n")) {
    title = /^\*\*(.*)\*\*$/.exec(line)?.[1] ?? title;
    const row = /^\| (.*) \| \w+ \| (\w+) \|$/.exec(line);
    if (row !== null) cells.set(`${title}|${row[1]}`, row[2] ?? "");
  }
  return cells;
}

function countsOf(free: readonly Group[], confined: readonly Group[]): string {
  const count = (groups: readonly Group[], outcome: Outcome) =>
    groups.flatMap(({ measured }) => measured).filter((each) => each.outcome === outcome).length;
  const said = (groups: readonly Group[]) =>
    `${count(groups, "holds")} hold, ${count(groups, "noticed")} noticed, ${count(groups, "open")} open`;
  const all = free.flatMap(({ measured }) => measured).length;
  return `${all} attempts. Without a sandbox: ${said(free)}. In a sandbox: ${said(confined)}.`;
}
