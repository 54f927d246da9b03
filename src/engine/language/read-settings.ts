import type { AnswerSchema } from "../../answers/read-answer.ts";
import { variablesOf } from "../template.ts";
import type { Setting, Settings, SettingValue } from "../workflow.ts";
import { type Context, didYouMean, type Fix, type Path, suggest } from "./problem.ts";
import { isEngineField } from "./read-action.ts";

/** Reads settings and presets; a preset is a named set of settings and must keep their types and bounds. */
export function readSettings(context: Context): {
  settings: Readonly<Record<string, Setting>>;
  presets: Readonly<Record<string, Settings>>;
} {
  const settings: Record<string, Setting> = Object.create(null);
  for (const [name, source] of Object.entries(context.source.settings ?? {})) {
    const path: Path = ["settings", name];
    const setting: Setting = {
      default: source.default,
      description: source.description ?? "",
      oneOf: source.one_of,
      min: source.min,
      max: source.max,
    };
    if (!/^[a-z][a-z0-9_]*$/.test(name)) {
      context.error(path, `"${name}" cannot name a setting.`, "Use lower case letters, digits and _.", { key: true });
    }
    if (isEngineField(name)) {
      context.error(path, `"${name}" is counted by the engine, and cannot be a setting.`, "Choose another name.", {
        key: true,
      });
    }
    const problem = settingProblem(name, setting, source.default);
    if (problem !== undefined) context.error([...path, "default"], problem, "");
    settings[name] = setting;
  }

  const presets: Record<string, Settings> = Object.create(null);
  for (const [name, values] of Object.entries(context.source.presets ?? {})) {
    for (const [key, value] of Object.entries(values)) {
      const path: Path = ["presets", name, key];
      const setting = settings[key];
      if (setting === undefined) {
        context.error(path, `There is no setting "${key}".`, suggest(key, Object.keys(settings)), {
          key: true,
        });
        continue;
      }
      const problem = settingProblem(key, setting, value);
      if (problem !== undefined) context.error(path, problem, "");
    }
    presets[name] = values;
  }
  return { settings, presets };
}

/** Why a setting cannot have a value; undefined where it can. */
export function settingProblem(name: string, setting: Setting, value: unknown): string | undefined {
  const wanted = typeName(setting.default);
  const given = typeName(value as SettingValue);
  if (wanted !== given) return `The setting "${name}" must be ${wanted}, but is ${given}.`;
  if (setting.oneOf && !setting.oneOf.includes(value as never)) {
    return `The setting "${name}" must be one of ${setting.oneOf.join(", ")}, but is ${String(value)}.`;
  }
  if (typeof value !== "number") return undefined;
  if (setting.min !== undefined && value < setting.min)
    return `The setting "${name}" must be at least ${setting.min}, but is ${value}.`;
  if (setting.max !== undefined && value > setting.max)
    return `The setting "${name}" must be at most ${setting.max}, but is ${value}.`;
  return undefined;
}

/**
 * The value of a setting that is written as text: lists a,b and maps key:value,key:value. A text that is no such value stays
 * text, and is refused later.
 */
export function parseSetting({ default: value }: Pick<Setting, "default">, text: string): SettingValue {
  if (typeof value === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (typeof value === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (typeof value === "string") return text;
  const items = text.split(",").filter((item) => item !== "");
  if (Array.isArray(value)) return items;
  const pairs = items.map((item) => item.split(":"));
  return pairs.every((pair) => pair.length === 2) ? Object.fromEntries(pairs) : text;
}

function typeName(value: SettingValue | undefined): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value === "boolean") return "true or false";
  return typeof value === "number" ? "a number" : "text";
}

/** The variables besides settings, counters and results. The reference documents each. */
export const builtInVariables: Readonly<Record<string, string>> = {
  id: "the task's id",
  number: "the task's number in its project",
  project: "the project's name",
  branch: "the task's branch",
  default_branch: "the project's default branch",
  base: "the commit or branch the work starts from",
  summary: "the task's summary",
  requirement:
    "what is to be built: the confirmed message of a dialogue, else the summary and what was said; for a part, its parent's",
  title: "the title of the part",
  description: "the description of the part",
  workflow: "the workflow's name",
  status: "the state the task is in",
  previous_status: "the state it was in before",
  harness: "the worker's harness",
  review_harness: "the reviewer's harness",
  review_round: "how many reviews there have been",
  crash_count: "failures in a row in this state",
  workspace: "the folder of the workspace",
  tmux_session: "the terminal session's name",
  pr_url: "the pull request",
  review_at: "the pull request, or the branch and the command that shows its change",
  labels: "the task's labels",
  priority: "the task's priority",
  cli: "the command that agents call",
  task_file: "the run's own task file",
  slug: "the summary as a short word for names",
  uuid8: "eight random characters, the same for the whole task",
  agent_number: "the slot of the part among the children of its parent, from 1",
  port: "the port leased to the workspace",
  reason: "why the last thing ended as it did; for a part that is tried again, why the earlier try failed",
  log: "the talk so far",
  diff: "the change against the base",
  conflicts: "the files in conflict",
  merge_command:
    "the command that merges the other branch in the workspace, after `conflict` or `tests` of a merge with a parent or a child",
  tests: "what the tests printed",
  documents: "the documents handed over: path, title, type and state of each",
  messages: "the messages for this state: from where, priority and text of each",
  findings: "the open and approved findings of reviews, with their ids",
  approved: "the findings a person approved",
  refused: "why the agent's earlier answer in this state was refused; empty where none was",
  closed_findings: "the findings that are fixed, dismissed or only noted, with their ids, states and reasons",
  ticket: "the ticket's id",
  context: "what the person wrote as the task's context",
  repo_url: "the address of the project's remote without a password, or the folder of its repository",
  previous_stages: "the states that the task has been in, in the order of the first time",
  next_stages: "the states that follow if all goes well, as the settings choose them",
  tools: "the tools that the workflow gives the run; empty where it names none",
};

/** Reports unknown variables. */
export function checkVariables(context: Context, text: string, path: Path): void {
  for (const { name } of variablesOf(text)) {
    const problem = variableProblem(context, name);
    if (problem !== undefined) context.error(path, problem.message, problem.fix, { find: `{${name}}` });
  }
}

function variableProblem(context: Context, name: string): { message: string; fix: Fix } | undefined {
  const [head = "", ...rest] = name.split(".");
  if (rest.length > 0 && context.schemas.includes(head)) {
    const schema = context.source.schemas?.[head] as AnswerSchema | undefined;
    const fields = Object.keys(schema?.properties ?? {});
    const [field = ""] = rest;
    if (fields.length === 0 || fields.includes(field)) return undefined;
    return { message: `The schema "${head}" has no field "${field}".`, fix: suggest(field, fields) };
  }
  const isParents = head === "parent" && rest.length === 1;
  const plain = isParents ? (rest[0] ?? "") : name;
  const known = [
    ...Object.keys(builtInVariables),
    ...Object.keys(context.settings),
    ...context.counters,
    ...(isParents ? [] : context.schemas),
  ];
  if (known.includes(plain)) return undefined;
  return {
    message: `There is no variable "${name}".`,
    fix: () => `${didYouMean(plain, known)} To print it literally, write {{${name}}}.`,
  };
}
