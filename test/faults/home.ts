import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { homePlaces, type Places } from "../../src/home/places.ts";
import { removeFolder } from "../remove-folder.ts";
import { endAllWith } from "./look-at-system.ts";

/** A user's folder, with a repository beside it. */
export interface Home {
  /** Holds everything else; hooks may write here. */
  readonly base: string;
  readonly folder: string;
  readonly places: Places;
  readonly repository: string;
  /** What daemons and commands of this home are started with. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends whatever still runs here, and takes everything away. */
  remove(): void;
}

export function createHome(workflows: (base: string) => Readonly<Record<string, string>> = () => ({})): Home {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-faults-")));
  const folder = join(base, "home");
  const repository = join(base, "coffee");
  mkdirSync(folder, { mode: 0o700 });
  mkdirSync(repository);
  execFileSync("git", ["init", "--quiet", repository]);
  const places = homePlaces(folder);
  for (const [name, text] of Object.entries(workflows(base))) {
    mkdirSync(places.workflows, { recursive: true });
    writeFileSync(join(places.workflows, `${name}.yml`), text);
  }
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: base,
    SIGNALBOX_HOME: folder,
    // Starts would take twice as long without it.
    NODE_COMPILE_CACHE: resolve(import.meta.dirname, "../../node_modules/.cache/compiled"),
    NO_COLOR: "1",
  };
  const remove = () => {
    // Commands start daemons that are nobody's child, and one that lost against another may still be on its way.
    endAllWith(`HOME=${base}`);
    removeFolder(base);
  };
  return { base, folder, places, repository, env, remove };
}

/** The same home, with another folder for the user's files. */
export function movedTo(home: Home, folder: string): Home {
  return { ...home, folder, places: homePlaces(folder), env: { ...home.env, SIGNALBOX_HOME: folder } };
}
