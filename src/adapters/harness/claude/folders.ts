import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { HarnessFolders } from "../../../ports/harness.ts";

interface ClaudePlaces {
  /** Claude Code's folder: `~/.claude`. */
  readonly folder: string;
  /** Its own file: `~/.claude.json`. */
  readonly config: string;
  readonly runFolder: string;
  /** The folders with the conversations that the run continues or begins. */
  readonly conversations: readonly string[];
}

/** What Claude Code obeys or runs in every session of the user. */
const obeyed = ["agents", "commands", "output-styles", "plugins", "rules", "skills"];
const obeyedFiles: Readonly<Record<string, string>> = { "settings.json": "{}\n", "CLAUDE.md": "" };
const login = ".credentials.json";
/** What a Claude Code that refreshes the login leaves for the others, and for itself if it is killed meanwhile. */
const isLock = (name: string) => /\.lock(\.owner)?$/.test(name);
/** The prompts of all the user's conversations. */
const history = "history.jsonl";

/**
 * Claude Code's files in a sandbox. It refreshes the user's login by writing a new file into its folder and renaming it, so
 * the folder is writable, and so are the locks by which all Claude Codes of the user refresh it one after the other. Everything
 * else in it is read-only or replaced by an empty folder: another project's conversations, and what would run outside of the
 * sandbox. What does not exist yet is created, so that no agent can.
 */
export async function claudeFolders(places: ClaudePlaces): Promise<HarnessFolders> {
  const { folder, config, runFolder, conversations } = places;
  for (const name of [...obeyed, "projects"]) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(obeyedFiles)) {
    await writeFile(join(folder, name), text, { flag: "wx", mode: 0o600 }).catch(unlessThere);
  }
  for (const each of conversations) await mkdir(each, { recursive: true, mode: 0o700 });
  // Every run changes this file, each time as a whole; together they would lose each other's changes.
  const copy = join(runFolder, "claude.json");
  await copyFile(config, copy).catch(unlessMissing);
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !isLock(name));
  const at = (names: readonly string[]) => names.map((name) => join(folder, name));
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const files = entries.filter((entry) => !entry.isDirectory() && entry.name !== login);
  // A link cannot be kept from being replaced in a writable folder. In an empty one Claude Code writes its login in place.
  const hasLinks = files.some((entry) => entry.isSymbolicLink());
  return {
    write: [...(hasLinks ? [] : [folder]), join(folder, login), ...conversations],
    read: at([
      ...folders.filter((name) => obeyed.includes(name) || name === "local"),
      ...files.map(({ name }) => name).filter((name) => name !== history && name !== basename(config)),
    ]),
    own: [...(hasLinks ? [folder] : []), ...at(folders.filter((name) => !obeyed.includes(name) && name !== "local"))],
    hidden: at([history]),
    placed: [{ from: copy, at: config }],
  };
}

/** Long names of folders are cut in a way that cannot be foreseen: then all conversations are visible. */
export function conversationFolder(folder: string, name: string): string {
  return name.length > 150 ? join(folder, "projects") : join(folder, "projects", name);
}

/** The folder of a conversation that was begun elsewhere; none if there is no such conversation. */
export function folderOfConversation(transcript: string): readonly string[] {
  return transcript === "" ? [] : [dirname(transcript)];
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
