import { basename } from "node:path";
import { folders } from "./folders.ts";
import { type Followed, follow, readStation } from "./follow.ts";
import { type Repeated, repeatedPlaces } from "./repeated.ts";
import { folderOf, readSources } from "./sources.ts";
import { walks } from "./walks.ts";

export interface Measured {
  readonly folder: string;
  readonly files: number;
  readonly lines: number;
  readonly median: number;
  readonly p90: number;
  readonly largest: number;
}

export interface House {
  /** By folder, in the order of `folders`. */
  readonly folders: readonly Measured[];
  readonly total: Measured;
  readonly repeated: readonly Repeated[];
  readonly walks: readonly Followed[];
  /** Errors in the lists of `folders.ts` and `walks.ts`. */
  readonly problems: readonly string[];
}

export function measureHouse(): House {
  const sources = readSources();
  const sizes = new Map<string, number[]>();
  for (const { file, text } of sources) {
    const folder = rowOf(folderOf(file));
    sizes.set(folder, [...(sizes.get(folder) ?? []), text.split("\n").length - 1]);
  }
  const known = Object.keys(folders);
  const followed = walks.map((walk) => follow(walk, sources));
  return {
    folders: known.flatMap((folder) => {
      const lines = sizes.get(folder);
      return lines === undefined ? [] : [measured(folder, lines)];
    }),
    total: measured("src", [...sizes.values()].flat()),
    repeated: repeatedPlaces(sources),
    walks: followed,
    problems: [
      ...[...sizes.keys()].filter((each) => !known.includes(each)).map((each) => `folders.ts does not name ${each}.`),
      ...known.filter((each) => !sizes.has(each)).map((each) => `folders.ts names ${each}, which has no files.`),
      ...followed.flatMap(({ walk, problems }) => problems.map((problem) => `${walk.title}: ${problem}`)),
    ],
  };
}

/** The part of ARCHITECTURE.md about folders and walks, in Markdown. */
export function houseTable({ folders: rows, total, repeated, walks: followed }: House): string {
  const row = ({ folder, files, median, largest }: Measured, what: string) =>
    `| ${folder === total.folder ? "all" : `\`${folder === "" ? "src" : folder}\``} | ${what} | ${files} | ${median} | ${largest} |`;
  return [
    "| folder | what it is | files | median | largest |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map((each) => row(each, folders[each.folder] ?? "")),
    row(total, `pairs of places with six or more identical lines: ${repeated.length}`),
    "",
    ...followed.flatMap(walkLines),
  ]
    .join("\n")
    .trimEnd();
}

const begin = "<!-- npm run house -- --write -->";
const end = "<!-- end of npm run house -->";

/** The document with the current table between the markers. */
export function withHouseTable(document: string, house: House): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The document has no ${begin} with ${end} below it.`);
  return `${document.slice(0, from + begin.length)}\n\n${houseTable(house)}\n\n${document.slice(to)}`;
}

function walkLines({ walk, files, changes }: Followed): readonly string[] {
  const seen = new Set<string>();
  const legs = walk.legs.map(({ title, stations }) => {
    let folder: string | undefined;
    const names = stations.map(readStation).flatMap(({ file, link }) => {
      if (seen.has(file)) return [];
      seen.add(file);
      // In the same folder as the previous station, the file name is enough.
      const shown = folderOf(file) === folder ? basename(file) : file;
      folder = folderOf(file);
      return [`${link === undefined ? "" : `_${link}_ `}\`${shown}\``];
    });
    return `- ${title}: ${names.join(", ")}`;
  });
  return [`**${walk.title}**: ${countsOf({ walk, files, changes })}`, "", ...legs, ""];
}

export function countsOf({ walk, files, changes }: Pick<Followed, "walk" | "files" | "changes">): string {
  const over = files.length - walk.limit;
  return `${files.length} files of at most ${walk.limit}${over > 0 ? ` (${over} too many)` : ""}, ${changes} changes of layer`;
}

/** The folder itself, or its nearest parent with a row; a new folder of `src` has none. */
function rowOf(folder: string): string {
  if (Object.hasOwn(folders, folder) || !folder.includes("/")) return folder;
  return rowOf(folder.slice(0, folder.lastIndexOf("/")));
}

function measured(folder: string, lines: readonly number[]): Measured {
  const sorted = lines.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const sum = sorted.reduce((a, b) => a + b, 0);
  return { folder, files: sorted.length, lines: sum, median: at(0.5), p90: at(0.9), largest: sorted.at(-1) ?? 0 };
}
