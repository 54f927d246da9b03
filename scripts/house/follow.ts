import { declares, type SourceFile } from "./sources.ts";
import type { Link, Station, Walk } from "./walks.ts";

export interface Followed {
  readonly walk: Walk;
  /** The distinct files, in the order in which they are first opened. */
  readonly files: readonly string[];
  readonly lines: number;
  /** How often a station is in another top folder than its predecessor. */
  readonly changes: number;
  /** Stations that do not exist, or that no earlier station leads to. */
  readonly problems: readonly string[];
}

/** Checks a walk against the sources: does each symbol exist, and does an earlier station lead to its file? */
export function follow(walk: Walk, sources: readonly SourceFile[]): Followed {
  const known = new Map(sources.map((source) => [source.file, source]));
  const stations = walk.legs.flatMap(({ stations }) => stations.map(readStation));
  const problems: string[] = [];
  const files: string[] = [];
  for (const { file, symbol, link } of stations) {
    const source = known.get(file);
    if (source === undefined) {
      problems.push(`${file} does not exist.`);
      continue;
    }
    if (!declares(source.text, symbol)) problems.push(`${file} does not declare ${symbol}.`);
    const isKnown = files.length === 0 || files.includes(file);
    if (!isKnown && !leads(link, source, files, known))
      problems.push(`${file} is not reached${link === undefined ? ": no earlier station imports it" : ` ${link}`}.`);
    if (!files.includes(file)) files.push(file);
  }
  const tops = stations.map(({ file }) => topOf(file));
  return {
    walk,
    files,
    lines: files.reduce((sum, file) => sum + ((known.get(file)?.text.split("\n").length ?? 1) - 1), 0),
    changes: tops.filter((top, i) => i > 0 && top !== tops[i - 1]).length,
    problems,
  };
}

export function readStation(station: Station): {
  readonly file: string;
  readonly symbol: string;
  readonly link: Link | undefined;
} {
  const { at, link } = typeof station === "string" ? { at: station, link: undefined } : station;
  const [file = "", symbol = ""] = at.split(": ");
  return { file, symbol, link };
}

/** How a reader gets from an earlier file to this one. */
function leads(
  link: Link | undefined,
  { file, imports }: SourceFile,
  before: readonly string[],
  known: ReadonlyMap<string, SourceFile>,
): boolean {
  const importedBy = (from: string) => known.get(from)?.imports.includes(file) ?? false;
  if (link === undefined) return before.some(importedBy);
  if (link === "over the socket") return before.includes("api/socket-request.ts") && file.startsWith("daemon/http/");
  if (link === "by the table of handlers") return importedBy("daemon/handlers.ts");
  if (link === "by an effect") return before.includes("daemon/perform.ts") && assemblers.some(importedBy);
  if (link === "as a program of its own") return file.startsWith("adapters/") && known.get(file) !== undefined;
  const isInterface = (each: string) =>
    link === "through a port" ? each.startsWith("ports/") : each === "daemon/core.ts";
  const named = new Set(before.flatMap((each) => [each, ...(known.get(each)?.imports ?? [])]).filter(isInterface));
  return imports.some((each) => named.has(each));
}

/** Files that assemble the tables of performers. */
const assemblers = [
  "app.ts",
  "daemon/create-core.ts",
  "daemon/git-parts.ts",
  "daemon/agents/agents.ts",
  "daemon/effects/workspace.ts",
];

function topOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : "src";
}
