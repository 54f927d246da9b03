import { findProgram } from "../../find-program.ts";
import type { Detected, HarnessOrder, Obstacle } from "../../ports/harness.ts";
import type { Commands } from "../../ports/system.ts";
import { shellQuote } from "../../shell-quote.ts";

/** What every agent program that we know by name can do. */
export const programCan = {
  session: true,
  turn: true,
  resume: true,
  model: true,
  reduced: "enforced",
  acknowledges: "hook",
  tokens: true,
} as const;

export interface DetectPorts {
  readonly commands: Commands;
  /** The environment in which agents are started. */
  readonly env: Readonly<Record<string, string>>;
}

const versionTimeout = 60_000;

/** Searches the PATH for a program, and asks it for its version. */
export async function detectProgram(
  program: string,
  { commands, env }: DetectPorts,
  howToInstall: string,
): Promise<Detected> {
  const path = findProgram(program, env.PATH ?? "");
  if (path === "") return { found: false, path: "", version: "", hint: howToInstall };
  const unknown = `"${path}" does not report its version. Run "${path} --version" to see why.`;
  try {
    const { code, output } = await commands.run({ argv: [path, "--version"], cwd: "/", env, timeout: versionTimeout });
    const version = code === 0 ? (/\d+\.\d+[\w.+-]*/.exec(output)?.[0] ?? "") : "";
    return { found: true, path, version, hint: version === "" ? unknown : "" };
  } catch {
    return { found: true, path, version: "", hint: unknown };
  }
}

/** The prompt, plus the instructions and the schema that this harness takes in no other way. */
export function promptText(order: HarnessOrder, { system }: { readonly system: boolean }): string {
  const parts = [
    ...(system && order.system !== "" ? [order.system] : []),
    order.prompt,
    ...(order.schema === undefined ? [] : [schemaText(order.schema)]),
  ];
  return parts.join("\n\n");
}

/** Operating systems limit the length of an argument, and programs take a leading dash for an option. */
export function fitsArgument(prompt: string): boolean {
  return prompt !== "" && !prompt.startsWith("-") && Buffer.byteLength(prompt) <= 64 * 1024;
}

function schemaText(schema: unknown): string {
  return [
    "End your answer with one JSON value that fits this JSON schema, in a fence marked json, and with nothing after it:",
    "```json",
    JSON.stringify(schema),
    "```",
  ].join("\n");
}

/** Git commands that change nothing, whatever arguments follow. */
const readOnlyGit = ["status", "log", "diff", "show", "blame", "rev-parse", "rev-list", "ls-files", "ls-tree"]
  .concat(["cat-file", "merge-base", "describe", "shortlog", "name-rev", "stash list", "branch --list", "tag --list"])
  .map((each) => `git ${each}`);
/** Git commands that change something if a name follows. */
const bareGit = ["git branch", "git branch -a", "git branch -v", "git branch -vv", "git branch --show-current"].concat([
  "git tag",
  "git remote -v",
]);
/** Without `sort`, `uniq`, `find` and `sed`: they can write files or run programs. */
const readers = ["cat", "head", "tail", "wc", "ls", "pwd", "grep", "echo"];
/**
 * Our commands that a run with reduced permissions may run. Not the program's name alone: `task shell` would run any
 * command.
 */
export function ownCommands({ cli }: Pick<HarnessOrder, "cli">): readonly string[] {
  const verbs = ["update", "show", "explain", "diff", "history", "comment"];
  return cli === "" ? [] : verbs.map((verb) => `${cli} task ${verb}`);
}

/** The prefixes of all shell commands that a run with reduced permissions may run. */
export function reducedPrefixes(order: Pick<HarnessOrder, "cli" | "testCommand">): readonly string[] {
  const { testCommand } = order;
  const test = testCommand.length === 0 ? [] : [shellQuote(testCommand)];
  return [...readOnlyGit, ...readers, ...ownCommands(order), ...test];
}

/** Commands that may run only exactly as they are written here. */
export const reducedExactly: readonly string[] = bareGit;

/**
 * Matches a whole shell command that a run with reduced permissions may run: listed programs, in sequence or in a pipe,
 * with plain or quoted words. No redirections, expansions, definitions or assignments. The harnesses' own rules check
 * only the parts of a command that they recognise, and `(git log) > file` hides some of them.
 */
export function reducedCommand(order: Pick<HarnessOrder, "cli" | "testCommand">): RegExp {
  const plain = "[^\\s'\"<>(){}$`\\\\;&|*?[\\]]";
  const single = "'(?!-)[^'\\n]*'";
  const double = '"(?!-)[^"$`\\\\!\\n]*"';
  // `--output` writes a file and `--ext-diff` runs a program; quotes inside a word could hide them.
  const option = `-(?!-ou|-ext)${plain}*(?:(?<==)(?:${single}|${double}))?`;
  const word = `(?:${option}|${single}|${double}|(?!-)${plain}+)(?=[\\s;&|]|$)`;
  const open = reducedPrefixes(order).map(escaped).join("|");
  const bare = reducedExactly.map(escaped).join("|");
  const one = `(?:(?:${open})(?: +${word})*|(?:${bare}))(?: +2>(?:&1|/dev/null))? *`;
  // Longer commands are refused unread: on a very long run of spaces the pattern would backtrack for ever.
  return new RegExp(`^(?![^]{4001})\\s*${one}(?:(?:&&|\\|\\|?|;) *${one})*;?\\s*$`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** How a program words an obstacle. */
export type ObstacleForm = readonly [form: RegExp, obstacle: Obstacle];

/** Only the last lines count: a dialog is at the end of a screen, and agents may print anything above it. */
const lastLines = 40;

/** The obstacle of the first form that matches the end of the text. */
export function findObstacle(text: string, forms: readonly ObstacleForm[]): Obstacle | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const end = lines.slice(-lastLines).join("\n");
  return forms.find(([form]) => form.test(end))?.[1];
}

export function notLoggedIn(title: string, command: string): Obstacle {
  return { kind: "login", told: `${title} is not logged in. Log in: ${command}` };
}

export function notTrusted(title: string): Obstacle {
  return { kind: "trust", told: `${title} asks whether it may trust the folder. Answer it in its window.` };
}

export function outdated(title: string, command: string): Obstacle {
  return { kind: "update", told: `${title} asks for an update before it starts. Update it: ${command}` };
}

export function noSuchSession(title: string): Obstacle {
  return { kind: "session", told: `${title} does not know the session that it should resume.` };
}
