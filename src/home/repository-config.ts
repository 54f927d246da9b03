import { sha256 } from "../engine/sha256.ts";
import { configFault, readConfig, readText } from "./config.ts";
import { configFields, configNames, type Field, type PartialConfig } from "./config-fields.ts";
import { repositoryPlaces } from "./places.ts";
import { isTrusted } from "./trust.ts";

/** A repository's own configuration, as its file is now. */
export interface RepositoryConfig {
  readonly file: string;
  readonly config: PartialConfig;
  readonly hash: string;
  /** The keys in it that name commands. Where there are any, the whole file counts only once it is trusted. */
  readonly commands: readonly string[];
}

const hashOfNothing = sha256("");

/** Undefined where the repository cannot have one. A file that is wrong is a Fault; one that is missing says nothing. */
export function readRepositoryConfig(home: string, repository: string): RepositoryConfig | undefined {
  const file = repositoryPlaces(home, repository)?.config;
  if (file === undefined) return undefined;
  // Read once: what is trusted and what counts must be the same text.
  const text = readText(file);
  // Most have none, and it is looked for with every request.
  if (text === "") return { file, config: {}, hash: hashOfNothing, commands: [] };
  const { config, problems } = readConfig(text, file, "project");
  if (problems.length > 0) throw configFault(file, problems);
  const fields = configNames.filter((name) => config[name] !== undefined).map((name): Field => configFields[name]);
  const commands = fields.filter(({ isCommand }) => isCommand).map(({ key }) => key);
  return { file, config, hash: sha256(text), commands };
}

/** Whether what the file says may be followed. */
export function mayCount({ commands, hash }: RepositoryConfig, places: { readonly trusted: string }): boolean {
  return commands.length === 0 || isTrusted(places, hash);
}
