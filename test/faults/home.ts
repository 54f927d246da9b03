import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { homePlaces, type Places } from "../../src/home/places.ts";
import { removeFolder } from "../remove-folder.ts";
import { endAllWith } from "./look-at-system.ts";

/** A home folder, with a repository beside it. */
export interface Home {
  /** The folder above both; hooks may write here. */
  readonly base: string;
  readonly folder: string;
  readonly places: Places;
  readonly repository: string;
  /** The user that daemons run as; missing for the one who runs the tests. */
  readonly uid?: number;
  /** The environment of daemons and commands of this home. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends every process of this home, and deletes everything. */
  remove(): void;
}

/** `isEmpty`: the caller makes the repository's first commit itself. */
export function createHome(
  workflows: (base: string) => Readonly<Record<string, string>> = () => ({}),
  { isEmpty = false } = {},
): Home {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-faults-")));
  const folder = join(base, "home");
  const repository = join(base, "coffee");
  const temporary = join(base, "tmp");
  mkdirSync(folder, { mode: 0o700 });
  mkdirSync(repository);
  mkdirSync(temporary);
  execFileSync("git", ["init", "--quiet", repository]);
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const first = ["-C", repository, ...author, "commit", "--quiet", "--allow-empty", "-m", "first"];
  if (!isEmpty) execFileSync("git", first);
  const places = homePlaces(folder);
  for (const [name, text] of Object.entries(workflows(base))) {
    mkdirSync(places.workflows, { recursive: true });
    writeFileSync(join(places.workflows, `${name}.yml`), text);
  }
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: base,
    SIGNALBOX_HOME: folder,
    // Without it, starts take twice as long.
    NODE_COMPILE_CACHE: resolve(import.meta.dirname, "../../node_modules/.cache/compiled"),
    NO_COLOR: "1",
    // A killed daemon leaves its temporary folders behind; here they are deleted with the home.
    TMPDIR: temporary,
  };
  const remove = () => {
    // Commands start detached daemons, and a daemon that lost the lock may still be ending.
    endAllWith(`HOME=${base}`);
    removeFolder(base);
  };
  return { base, folder, places, repository, env, remove };
}

/** The same home, moved to another folder. */
export function movedTo(home: Home, folder: string): Home {
  return { ...home, folder, places: homePlaces(folder), env: { ...home.env, SIGNALBOX_HOME: folder } };
}
