import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolderSync } from "../durable-file.ts";
import { Fault } from "../fault.ts";
import { sha256 } from "../sha256.ts";
import { oneLine } from "../text.ts";
import { configFault, readConfig, readText } from "./config.ts";
import { configFields, configNames, type Field, type PartialConfig } from "./config-fields.ts";
import { type Places, repositoryPlaces } from "./places.ts";

/** A repository's own configuration, as its file is now. */
interface RepositoryConfig {
  readonly file: string;
  readonly config: PartialConfig;
  readonly hash: string;
  /** The keys in it that name commands. If there are any, the whole file has no effect until the user trusts it. */
  readonly commands: readonly string[];
  /** The keys in it that choose a harness or a model. They alone have no effect until the user trusts the file. */
  readonly choices: readonly string[];
}

const hashOfNothing = sha256("");

/** Undefined if the repository cannot have one. An invalid file is a Fault; a missing file counts as empty. */
export function readRepositoryConfig(home: string, repository: string): RepositoryConfig | undefined {
  const file = repositoryPlaces(home, repository)?.config;
  if (file === undefined) return undefined;
  // Read once: the text that is checked for trust must be the text that is used.
  const text = readText(file);
  // Most repositories have no file, and every request asks for it.
  if (text === "") return { file, config: {}, hash: hashOfNothing, commands: [], choices: [] };
  const { config, problems } = readConfig(text, file, "project");
  if (problems.length > 0) throw configFault(file, problems);
  const fields = configNames.filter((name) => config[name] !== undefined).map((name): Field => configFields[name]);
  const commands = fields.filter(({ isCommand }) => isCommand).map(({ key }) => key);
  const choices = fields.filter(({ isChoice }) => isChoice).map(({ key }) => key);
  return { file, config, hash: sha256(text), commands, choices };
}

/** The values of a repository's file that count for new tasks: without its choices, unless the user trusts the file. */
export function trustedChoices(
  { config, choices, hash }: Pick<RepositoryConfig, "config" | "choices" | "hash">,
  places: Pick<Places, "trusted">,
): PartialConfig {
  if (choices.length === 0 || isTrusted(places, hash)) return config;
  const counting = configNames.filter((name) => !choices.includes(configFields[name].key));
  return Object.fromEntries(counting.map((name) => [name, config[name]]));
}

/** Whether the file may take effect: it names no commands, or the user trusts it. */
export function mayCount({ commands, hash }: RepositoryConfig, places: { readonly trusted: string }): boolean {
  return commands.length === 0 || isTrusted(places, hash);
}

/** Whether the user has trusted the content with this hash. */
export function isTrusted(places: Pick<Places, "trusted">, hash: string): boolean {
  return trustedHashes(readTrusted(places.trusted)).has(hash);
}

/**
 * Records that the user trusts the content with this hash. `note` is for people who read the file. The home must exist.
 */
export function trust(places: Pick<Places, "trusted">, hash: string, note: string): void {
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw new Fault("usage", `"${hash}" is not the hash of a workflow.`, {
      hint: "To see hashes: signalbox workflow list --json",
    });
  }
  const before = readTrusted(places.trusted);
  if (trustedHashes(before).has(hash)) return;
  // An interrupted write may have left half a line; begin a new one.
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  append(places.trusted, `${start}${hash} ${oneLine(note)}\n`);
}

function trustedHashes(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^([0-9a-f]{64})(?: |$)/gm)].map(([, hash = ""]) => hash));
}

function readTrusted(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new Fault("unreadable", `${file} cannot be read (${code}).`, {
      hint: "Check the file's permissions. It lists the workflows that you trust.",
      cause: error,
    });
  }
}

function append(file: string, line: string): void {
  try {
    const descriptor = openSync(file, "a", 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      writeFileSync(descriptor, line);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncFolderSync(dirname(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${file} cannot be written (${code}).`, {
      hint: "Check SIGNALBOX_HOME, the folder's permissions and the free space.",
      cause: error,
    });
  }
}
