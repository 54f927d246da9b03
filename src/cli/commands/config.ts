import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { buildRouteMap } from "@stricli/core";
import { type ProjectView, routes } from "../../api/routes.ts";
import { publishFile } from "../../durable-file.ts";
import { didYouMean, nearest } from "../../engine/language/problem.ts";
import { Fault } from "../../fault.ts";
import { builtInHarnesses } from "../../home/agent-fields.ts";
import { findField, formOf, resolveConfig, setConfig, writeConfigValue } from "../../home/config.ts";
import { configFields, configNames, type Field } from "../../home/config-fields.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { homePlaces, repositoryPlaces, shownPath } from "../../home/places.ts";
import { isTrusted, mayCount, readRepositoryConfig } from "../../home/trust.ts";
import { findWorkflow, isPath } from "../../home/workflows.ts";
import { sha256 } from "../../sha256.ts";
import { callRunning } from "../connect.ts";
import { type Context, configLayers, readSound } from "../context.ts";
import { projectAt } from "../find.ts";
import { personsCall } from "../start-daemon.ts";
import { writeTable } from "../tables.ts";
import { writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json } from "./parameters.ts";

const key = {
  parse: String,
  proposeCompletions: () => Object.values(configFields).map((field) => field.key),
  placeholder: "KEY",
  brief: "A key of the configuration, such as workflow or notify.webhook",
} as const;

/** Every key, with its form and its purpose. */
const keys = Object.values<Field>(configFields)
  .map((field) => `  ${field.key}: ${formOf(field)}\n      ${field.description}`)
  .join("\n");

const get = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...key, optional: true, brief: `${key.brief}; without one, all are shown` }],
    },
    flags: { json },
  },
  docs: {
    brief: "Show the effective values, and where they come from",
    fullDescription: `The first source that has a value counts: the environment (SIGNALBOX_ and the key in capitals), the repository (.signalbox/config.yml), the project's recorded settings, your config.yml (in your Signalbox home, ~/.signalbox), then the default. With a key, only its value is printed.

--json: { values: [{ key, value, source }], files: { user, repository } }
Exit codes: 0 ok, 1 a configuration is wrong, 2 wrong usage`,
  },
  async func({ json }, key) {
    const project = await recordedProject(this);
    const resolved = resolveConfig(configLayers(this, this.repository, project));
    const all = configNames.map((name) => ({ key: configFields[name].key, ...resolved[name] }));
    const wanted = key === undefined ? all : [{ ...valueAt(all, key), key }];
    const files = {
      user: homePlaces(this.home).config,
      repository: this.repository && repositoryPlaces(this.home, this.repository)?.config,
    };
    if (json) return this.print(writeJson({ values: wanted, files }));
    if (key !== undefined) return this.print(writeConfigValue(wanted[0]?.value));
    const columns = [{ title: "KEY", paint: this.paint.bold }, { title: "FROM" }, { title: "VALUE" }] as const;
    const rows = all.map(({ key, value, source }) => [key, source, writeConfigValue(value) || "–"]);
    this.print(writeTable(columns, rows, this.tableWidth));
    this.say(`\nYours: ${files.user}`);
    if (files.repository !== undefined) this.say(`The repository's: ${shownPath(files.repository)}`);
    this.say("To change a value: signalbox config set KEY VALUE");
    const own = this.repository && readRepositoryConfig(this.home, this.repository);
    if (own && own.choices.length > 0 && !isTrusted(homePlaces(this.home), own.hash))
      this.say(
        `The repository's ${own.choices.join(", ")} has no effect until you trust its file: signalbox trust --config`,
      );
    if (own && !mayCount(own, homePlaces(this.home)))
      this.say("The repository's file is not used for workspaces until you trust it: signalbox trust --config");
  },
});

/** The value of a key; of a key inside a map, such as `model_tiers.large.codex`, the value there. */
function valueAt(
  all: readonly { readonly key: string; readonly value: unknown; readonly source: string }[],
  key: string,
) {
  const found = findField(key);
  const whole = found && all.find((each) => each.key === found.field.key);
  const value = found?.steps.reduce<unknown>(
    (at, step) => (Object.hasOwn(Object(at), step) ? (at as Record<string, unknown>)[step] : undefined),
    whole?.value,
  );
  const { value: total, source } = whole ?? {};
  if (source !== undefined && (value !== undefined || found?.steps.length === 0))
    return { value: value ?? total, source };
  const known = all.map((each) => each.key);
  if (found === undefined)
    throw new Fault("usage", `There is no key "${key}" in a configuration.`, { hint: didYouMean(key, known) });
  throw new Fault("usage", `"${key}" is not set.`, { hint: `To set it: signalbox config set ${key} VALUE` });
}

/** The recorded settings of this folder's project; none without a daemon: the command must work if it cannot start. */
async function recordedProject(context: Context): Promise<ProjectView | undefined> {
  const answer = await callRunning(context, (call) => call(routes.listProjects));
  if (answer !== undefined) return projectAt(answer.projects, process.cwd());
  context.say("The daemon is not running, so the project's recorded settings are left out.");
  return undefined;
}

const set = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [key, { parse: String, placeholder: "VALUE", brief: "The new value" }],
    },
    flags: { repository: flag("Change the repository's configuration instead of yours") },
  },
  docs: {
    brief: "Change a value in your configuration, or in the repository's",
    fullDescription: `Comments and order are kept. The daemon notices a change of your file by itself. Prints the path of the file. Commands (setup, teardown, test_command, notify.command) run without a shell; if you need one, write [sh, -c, "a && b"].

Examples:
  signalbox config set harness codex
  signalbox config set test_command "python3 -m unittest"
  signalbox config set workflow my-flow --repository
  signalbox config set model_tiers.large.codex gpt-5.5

Keys and forms:
${keys}

Exit codes: 0 ok, 1 the file is wrong or cannot be written, 2 wrong usage, 3 no such workflow`,
  },
  async func({ repository }, key, value) {
    const file = repository ? repositoryFile(this) : homePlaces(this.home).config;
    const level = repository ? "project" : "user";
    // A person has to repair an invalid file first, because its values are unknown.
    readSound(file, level);
    checkName(this, key, value);
    // The error of an unknown name lists the known ones.
    if (key === "workflow" && !isPath(value)) findWorkflow({ home: this.home, repository: this.repository }, value);
    const text = setConfig(textOf(file), key, value, level);
    makeFolder(dirname(file));
    await announce(this, key, file, text);
    publishFile(file, text);
    // In your home folder, the relative path of your file is the name of a repository's file.
    this.print(repository ? shownPath(file) : file);
    this.say(`To see the effective value: signalbox config get ${key}`);
    if (key === "pool_size")
      this.say(
        `It applies to new projects; existing ones keep their own. To change one: signalbox project update NAME --pool-size ${value}`,
      );
  },
});

const announceTimeout = 2_000;

/** Tells a running daemon who changes the file. A person can change it even if the daemon does not listen. */
async function announce({ home }: Context, key: string, file: string, text: string): Promise<void> {
  const call = personsCall(homePlaces(home), () => announceTimeout);
  await call(routes.announceConfig, { body: { key, file, hash: sha256(text) } }).catch(() => undefined);
}

/** Refuses an unknown harness now, rather than when the next task starts. */
function checkName({ home }: Context, key: string, value: string): void {
  const [group, , harness] = key.split(".");
  const name = group === "model_tiers" ? harness : key === "harness" || key === "review_harness" ? value : undefined;
  if (name === undefined || name === "") return;
  const own = Object.keys(readSound(homePlaces(home).config, "user").harnesses ?? {});
  const known = [...builtInHarnesses, ...own];
  if (known.includes(name)) return;
  const close = nearest(name, known);
  throw new Fault("usage", `There is no harness "${name}".${close === undefined ? "" : ` Did you mean "${close}"?`}`, {
    hint: `Known harnesses: ${known.join(", ")}. To see what is installed: signalbox harness list`,
  });
}

function repositoryFile({ home, repository }: Context): string {
  const file = repository && repositoryPlaces(home, repository)?.config;
  if (file !== undefined) return file;
  throw new Fault("usage", "This folder is not in a git repository that can have its own configuration.", {
    hint: "Run the command in a repository, or leave --repository out.",
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** A repository's configuration with every key commented out and set to its default. */
export function configTemplate(): string {
  const fields = Object.values<Field>(configFields).filter(({ level }) => level === "project");
  const entries = fields.map(
    ({ key, description, default: value }) => `# ${description}.\n# ${key}: ${writeConfigValue(value) || '""'}\n`,
  );
  return [
    "# How Signalbox works in this repository. It overrides the project's recorded settings, and each",
    "# person's own configuration. To see the effective values: signalbox config get",
    "",
    ...entries,
  ].join("\n");
}

export const configCommands = buildRouteMap({
  routes: { get, set },
  docs: { brief: "Read and change the configuration" },
});
