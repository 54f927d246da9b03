import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { homePlaces } from "../src/home/places.ts";

/**
 * A home of an older version (commit 531e728) with its repositories, as a power cut left it: the daemon, its tmux server and
 * all agents were killed while 27 tasks of four workflows were in as many states as scripted agents can bring them to. `database`
 * is SQL. In texts, `{base}` stands for the folder that has the home and the repositories, `{node}` and `{program}` for programs.
 */
interface OldHome {
  readonly database: string;
  /** Files by their paths, and empty folders, whose paths end with a slash. */
  readonly entries: Readonly<Record<string, string | { readonly base64: string } | { readonly link: string }>>;
}

/** The number of migrations that the version which made the home knew. */
export const oldVersion = 2;

const { database, entries } = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, "fixtures/old-home.json.gz"))).toString(),
) as OldHome;

/** Writes the database of the old home into a new file. `base` takes the place of the folder in which the home was made. */
export function writeOldDatabase(file: string, base: string): void {
  const made = new DatabaseSync(file);
  made.exec(`begin; ${filled(database, base)} commit`);
  made.close();
}

/** Unpacks the old home and its repositories into a folder, which may have an empty home already. */
export function unpackOldHome(base: string): void {
  for (const [path, content] of Object.entries(entries)) {
    const file = join(base, path);
    mkdirSync(path.endsWith("/") ? file : dirname(file), { recursive: true, mode: 0o700 });
    if (path.endsWith("/")) continue;
    if (typeof content === "string") writeFileSync(file, filled(content, base));
    else if ("link" in content) symlinkSync(filled(content.link, base), file);
    else writeFileSync(file, Buffer.from(content.base64, "base64"));
  }
  writeOldDatabase(homePlaces(join(base, "home")).database, base);
}

function filled(text: string, base: string): string {
  return text
    .replaceAll("{base}", base)
    .replaceAll("{node}", process.execPath)
    .replaceAll("{program}", join(base, "old-program"));
}
