import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import type { Route } from "../api/client.ts";
import type { PermissionsView } from "../api/projects.ts";
import type { ChangeView } from "../api/tasks.ts";
import { Fault } from "../fault.ts";
import { worktreeLimits } from "../home/work-checks.ts";
import type { Context } from "./context.ts";
import { exitCodes, tellChange, visible } from "./fast/tell.ts";
import { nameTask } from "./find.ts";
import { forEach } from "./tell.ts";
import { listed, wrap } from "./text.ts";

type AskRoute = Route<{ readonly project?: string }, Readonly<Record<never, never>>, ChangeView>;

/** Sends a request that takes only tasks, and prints the result. */
export function askChange(
  context: Context,
  route: AskRoute,
  references: readonly string[],
  json: boolean,
  hint = (_change: ChangeView): string => "",
): Promise<void> {
  return forEach(context, references, json, {
    act: async (_, call, reference) => call(route, { ...(await nameTask(call, reference)), body: {} }),
    tell: (own, change) => {
      tellChange(own, change);
      const more = hint(change);
      if (more !== "") own.say(more);
    },
  });
}

/** Whether a person still has to allow full permissions before agents are started. */
export function mustAllow({ allowed, needed }: PermissionsView): boolean {
  return !allowed && needed.length > 0;
}

/** Explains what full permissions mean, and asks for them; undefined if the person does not answer. */
export async function askPermissions(
  context: Context,
  project: string,
  permissions: PermissionsView,
): Promise<boolean | undefined> {
  const { bold } = context.talkPaint;
  const point = (text: string) => `  - ${wrap(text, context.columns - 4, "    ")}`;
  context.say(
    [
      bold(wrap(`Agents of ${project} work with full permissions in ${shownHarnesses(permissions)}.`, context.columns)),
      ...explanation(project, permissions).map(point),
    ].join("\n"),
  );
  return askYes("Allow this for the project?", false);
}

/** What a yes means, in sentences. */
export function explanation(project: string, { workspaces, sandboxed }: PermissionsView): readonly string[] {
  const folders =
    workspaces === "clone"
      ? "Their folders are clones, which share nothing with your repository."
      : `Their folders are worktrees. ${worktreeLimits}, which is noticed. Clones share nothing: signalbox project update ${project} --workspaces clone`;
  return [
    "They run commands, write files and use the network as you, without asking you first.",
    "Each task has its own folder and branch, and nothing is merged before its workflow allows it.",
    ...(sandboxed ? inSandbox : withoutSandbox),
    folders,
    `You are asked once. To revoke it: signalbox project update ${project} --full-permissions ask`,
  ];
}

const inSandbox = [
  "A sandbox confines them: they can change only their own folder, their caches and their program's login and conversations. They see nothing else of your home, such as keys and tokens, and neither your repository nor other tasks.",
];
const withoutSandbox = [
  "A folder does not confine them, and they have no sandbox here: what you can read, change or send from this machine, they can too. To see why there is none: signalbox doctor",
];

function shownHarnesses({ needed }: PermissionsView): string {
  return listed(needed.map(({ title, roles }) => `${title} (${listed(roles)})`));
}

/** Whether there is a terminal on which a person can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a person; undefined if they press Ctrl-C or Ctrl-D instead of answering. */
export async function ask(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)));
  const answer = await Promise.race([terminal.question(visible(`${question} `)), closed]);
  terminal.close();
  // The next question, or the shell's prompt, begins on a new line.
  if (answer === undefined) process.stderr.write("\n");
  return answer?.trim();
}

/** Asks for yes or no. Enter alone means `byDefault`; undefined if the person does not answer. */
export async function askYes(question: string, byDefault: boolean): Promise<boolean | undefined> {
  const answer = await ask(`${question} ${byDefault ? "[Y/n]" : "[y/N]"}`);
  if (answer === undefined) return undefined;
  return answer === "" ? byDefault : /^y(es)?$/i.test(answer);
}

/** Asks before something that cannot be undone. Without a terminal, `--yes` is required. */
export async function confirm(context: Context, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!canAsk()) {
    throw new Fault("usage", `${question} There is no terminal to answer on.`, {
      hint: "To do it without a question, add --yes",
    });
  }
  // A closed terminal is not a yes.
  if (await askYes(question, false)) return true;
  context.say("Nothing has changed.");
  context.process.exitCode = exitCodes.failed;
  return false;
}

export interface Draft {
  readonly path: string;
  readonly text: string;
  /** The file is kept until this is called, so that the person's text is not lost. */
  remove(): void;
}

/** Opens a text in the person's editor and returns the edited text. `instead` is the command that needs no editor. */
export async function editText(
  { process: { env } }: Context,
  text: string,
  name: string,
  instead: string,
): Promise<Draft> {
  const editor = env?.VISUAL || env?.EDITOR || (process.stdin.isTTY ? "vi" : "");
  if (editor === "") {
    throw new Fault("usage", "There is no terminal for an editor, and neither VISUAL nor EDITOR names one.", {
      hint: `Without an editor: ${instead}`,
    });
  }
  // Only this user can read the folder: the text is private.
  const path = join(mkdtempSync(join(tmpdir(), "signalbox-edit-")), name);
  writeFileSync(path, text, { mode: 0o600 });
  const remove = () => rmSync(dirname(path), { recursive: true, force: true });
  const failure = await runEditor(editor, path);
  if (failure !== undefined) {
    const isKept = existsSync(path) && readFileSync(path, "utf8") !== text;
    if (!isKept) remove();
    throw new Fault("editor", `The editor ${editor} ${failure}. Nothing has changed.`, {
      hint: isKept ? `Your text is kept in ${path}` : "Name another one, such as: export EDITOR=nano",
    });
  }
  return { path, text: readFileSync(path, "utf8"), remove };
}

/** Like git, lets the shell parse an editor that is more than one word. */
function runEditor(editor: string, path: string): Promise<string | undefined> {
  const isWord = /^[\w./+:@-]+$/.test(editor);
  const [command, args] = isWord ? [editor, [path]] : ["sh", ["-c", `${editor} "$@"`, editor, path]];
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit" });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`cannot be started (${error.code})`));
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  });
}

/** The contents of a file, or of stdin for `-`. */
export async function readInput({ say }: Pick<Context, "say">, path: string): Promise<string> {
  if (path !== "-") return readGiven(path);
  if (process.stdin.isTTY) say("Write, then press Ctrl-D on an empty line.");
  return text(process.stdin);
}

function readGiven(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new Fault("not-found", `There is no file ${path}.`, {
        hint: "Check its name, or give - to read from stdin.",
        cause: error,
      });
    throw new Fault("unreadable", `${path} cannot be read (${code}).`, {
      hint: "Check its permissions.",
      cause: error,
    });
  }
}

const spans: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time from a duration before now, or a local date or time: `24h`, `2026-11-15`, `2026-11-15T08:00`. */
export function readSince(text: string, now: number): string {
  const [, count, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  // JavaScript would read a date alone as UTC.
  const at =
    count === undefined
      ? Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text)
      : now - Number(count) * (spans[unit] ?? 0);
  if (!Number.isNaN(at) && /^\d+[mhd]$|^\d{4}-/.test(text)) return new Date(at).toISOString();
  throw new Fault("usage", `--since: "${text}" is not a time.`, {
    hint: "Write it as 2026-11-15, 2026-11-15T08:00, 90m, 24h or 7d.",
  });
}

interface Words {
  readonly text: string;
  /** The draft from an editor, kept until the text is delivered. */
  readonly draft?: Draft;
}

/**
 * Reads a person's text: from a flag, an argument, stdin, or their editor, which opens with notes that
 * are not part of the text.
 */
export async function readWords(
  context: Context,
  given: { readonly message?: string; readonly argument?: string },
  notes: () => Promise<string>,
): Promise<Words> {
  const { message, argument } = given;
  if (message !== undefined && argument !== undefined) {
    throw new Fault("usage", "The text is given twice: with --message, and as an argument.", {
      hint: "Leave one of them out.",
    });
  }
  const said = message ?? argument;
  if (said !== undefined && said !== "-") return { text: said };
  if (said === "-" || !process.stdin.isTTY) return { text: await readInput(context, "-") };
  const draft = await editText(context, `\n${line}\n${commented(await notes())}`, "message.md", 'add -m "Your text"');
  const [text = ""] = draft.text.split(line);
  if (text.trim() !== "") return { text, draft };
  draft.remove();
  throw new Fault("editor.empty", "The text is empty, so nothing has changed.");
}

/** Sends the text. If that fails, a text from the editor is kept. */
export async function handIn<T>(
  context: Context,
  { text, draft }: Words,
  take: (text: string) => Promise<T>,
): Promise<T> {
  try {
    const answer = await take(text);
    draft?.remove();
    return answer;
  } catch (error) {
    if (draft !== undefined) context.say(`Your text is kept in ${draft.path}`);
    throw error;
  }
}

const line = "# ------ Write above this line. Everything below is ignored. ------";

function commented(notes: string): string {
  return notes
    .split("\n")
    .map((each) => `# ${each}`.trimEnd())
    .join("\n");
}
