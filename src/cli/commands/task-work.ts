import { spawn } from "node:child_process";
import { basename, join } from "node:path";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import type { DiffPart, DiffView } from "../../api/work.ts";
import { describeProtected } from "../../engine/protected-lines.ts";
import { Fault } from "../../fault.ts";
import { homePlaces } from "../../home/places.ts";
import { shellWord } from "../../shell-quote.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { nameTask, shownTask, workspaceOf } from "../find.ts";
import { runInTerminal, showPaged } from "../screen.ts";
import { paintPatch, writeStat } from "../tell.ts";
import { count, given, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, oneTask, taskExitCodes, textFlag } from "./parameters.ts";

/** A part of a diff, as the API returns it. */
const part = "{ files: [{ path, from, added, deleted }], text, isCut }";

export const diff = command({
  isForRuns: true,
  parameters: {
    positional: oneTask,
    flags: {
      stat: flag("Only show how many lines of each file have changed"),
      "name-only": flag("Only name the files that have changed"),
      committed: flag("Leave out uncommitted changes"),
      "since-review": flag("Begin at the commit that was reviewed last"),
      json,
    },
  },
  docs: {
    brief: "Show what a task has changed",
    fullDescription: `The diff begins at the merge base with the target branch. Uncommitted changes in the workspace follow as a separate part. For a task that is over, what it merged is shown. On a terminal your pager is used (PAGER, otherwise less).

Examples:
  signalbox task diff coffee#12
  signalbox task diff coffee#12 --committed > coffee.patch

--json: { target, base, commit, committed: ${part}, uncommitted, protectedChanges, workspace }. uncommitted has the same form as committed, or is null
${taskExitCodes("failed")}`,
  },
  async func(flags, reference) {
    const { stat, "name-only": names, committed, json } = flags;
    if (stat && names)
      throw new Fault("usage", "--stat and --name-only cannot both be given.", { hint: "Leave one of them out." });
    const call = createCall(this);
    const { params, query } = await nameTask(call, reference);
    const { task } = await call(routes.getTask, { params, query });
    const text = stat || names ? "false" : "true";
    const sinceReview = flags["since-review"] ? "true" : "false";
    const about = {
      params: { task: task.id },
      query: { text, committed: committed ? "true" : "false", sinceReview },
    } as const;
    const view = await call(routes.diffTask, about);
    if (json) return this.print(writeJson(view));
    if (flags["since-review"] && task.judged !== null) this.say(reviewedLine(shownTask(task), view, task.judged));
    else this.say(headline(shownTask(task), view));
    if (view.protectedChanges.length > 0) this.say(this.talkPaint.yellow(describeProtected(view.protectedChanges)));
    const write = (part: DiffPart) =>
      stat ? writeStat(part, this) : names ? namesOf(part) : paintPatch(part.text, this);
    const parts = [write(view.committed)];
    if (view.uncommitted !== null)
      parts.push(`${this.paint.yellow(`# Not committed yet, in ${view.workspace}:`)}\n`, write(view.uncommitted));
    await showPaged(this, parts.join(""));
    if (view.committed.isCut || view.uncommitted?.isCut)
      // Commits of a clone are not in the user's repository.
      this.say(`The diff is cut. To see all of it: git -C ${controlOf(this, task)} diff ${view.base} ${view.commit}`);
    if (view.committed.isCut && !stat && !names)
      this.say(
        `A cut diff does not count as shown to you. Once you have seen all of it: signalbox task diff ${task.id}${flags["since-review"] ? " --since-review" : ""} --stat`,
      );
  },
});

function controlOf({ home }: Context, { project }: TaskView): string {
  return shellWord(join(homePlaces(home).control, `${project}.git`));
}

export const fetch = command({
  parameters: {
    positional: oneTask,
    flags: {
      as: textFlag("BRANCH", "The name of the branch in your repository; otherwise that of the task's branch"),
      json,
    },
  },
  docs: {
    brief: "Bring a task's branch into your repository, to look at it or test it there",
    fullDescription: `The commits of a task that works in a clone are not in your repository before they are merged. This creates the branch there, or fast-forwards it; what is not committed stays in the workspace. Run it again for newer commits. A branch with the task's own name is deleted after the merge, any other is yours.

Examples:
  signalbox task fetch coffee#12
  git log -p main..signalbox/abcde

--json: { branch, commit, repository, how }. how is created, forwarded or there
${taskExitCodes("it has no commit yet, or your branch and the task's have diverged")}`,
  },
  async func(flags, reference) {
    const call = createCall(this);
    const about = await nameTask(call, reference);
    const answer = await call(routes.fetchTask, { ...about, body: given({ as: flags.as }) });
    if (flags.json) return this.print(writeJson(answer));
    const { branch, commit, repository, how } = answer;
    this.print(`${branch}  ${commit.slice(0, 10)}`);
    const said = { created: "was created", forwarded: "was fast-forwarded", there: "was up to date" };
    this.say(
      `The branch ${said[how]} in ${repository}. To see it: git -C ${shellWord(repository)} log ${shellWord(branch)}`,
    );
  },
});

function reviewedLine(
  name: string,
  { commit, committed, uncommitted }: DiffView,
  { commit: reviewed, role }: NonNullable<TaskView["judged"]>,
): string {
  const since = `${reviewed.slice(0, 10)}, which ${role === "human" ? "you have" : `${role} has`} reviewed`;
  if (commit !== reviewed)
    return `${name} changes ${count(committed.files.length, "file")} since ${since}, at commit ${commit.slice(0, 10)}.`;
  return `${name} has no commits since ${since}${uncommitted === null ? "" : ", but uncommitted changes"}.`;
}

function headline(name: string, { target, base, commit, committed, uncommitted }: DiffView): string {
  if (commit === "") return `${name} has no commit yet${uncommitted === null ? "" : ", but uncommitted changes"}.`;
  const [changed, at] = [count(committed.files.length, "file"), commit.slice(0, 10)];
  if (base === commit) return `${name} has no commits that ${target} lacks, at commit ${at}.`;
  return `${name} changes ${changed} against ${target}, at commit ${at}.`;
}

function namesOf({ files }: DiffPart): string {
  return files.map(({ path }) => `${path}\n`).join("");
}

export const open = command({
  parameters: { positional: oneTask },
  docs: {
    brief: "Open a task's workspace in your editor",
    fullDescription: `The editor is VISUAL or EDITOR. The command does not wait for an editor with its own window, such as code.

${taskExitCodes("the task has no workspace, or the editor failed")}`,
  },
  async func(_flags, reference) {
    const { task, folder } = await workspaceOf(this, reference);
    const { VISUAL, EDITOR } = process.env;
    const editor = VISUAL || EDITOR;
    if (!editor) {
      throw new Fault("usage", "Neither VISUAL nor EDITOR names an editor.", {
        hint: `Set one, such as: VISUAL=code signalbox task open ${task.id}`,
      });
    }
    const failure = await openFolder(editor, folder);
    if (failure === undefined) return this.say(`Opened the workspace of ${shownTask(task)}: ${folder}`);
    throw new Fault("editor", `The editor ${editor} ${failure}.`, { hint: "Check VISUAL and EDITOR." });
  },
});

export const path = command({
  parameters: { positional: oneTask },
  docs: {
    brief: "Print the folder of a task's workspace",
    fullDescription: `Example:
  cd "$(signalbox task path coffee#12)"

${taskExitCodes("the task has no workspace, or its folder is gone")}`,
  },
  async func(_flags, reference) {
    const { folder } = await workspaceOf(this, reference);
    // Not `print`, which would alter unusual names: a shell must get the exact path.
    this.process.stdout.write(`${folder}\n`);
  },
});

/** The variables that make a command act for a run. */
const ofRuns = { SIGNALBOX_TOKEN: undefined, SIGNALBOX_RUN: undefined, SIGNALBOX_PROCESS: undefined };

export const shell = command({
  parameters: { positional: oneTask },
  docs: {
    brief: "Open a shell in a task's workspace",
    fullDescription: `The shell is SHELL, with SIGNALBOX_TASK set. In a workspace, signalbox refuses a person's commands, because the caller could be the agent: leave the shell before you use it.

${taskExitCodes("the task has no workspace, or the shell cannot be started")}`,
  },
  async func(_flags, reference) {
    const { task, folder } = await workspaceOf(this, reference);
    const program = process.env.SHELL || "sh";
    this.say(`You are in the workspace of ${shownTask(task)}, ${folder}. To come back: exit`);
    this.say("Here signalbox refuses a person's commands: leave this shell before you use it.");
    const failure = await runInTerminal([program], { ...ofRuns, SIGNALBOX_TASK: task.id }, folder);
    // The exit code of the shell's last command is not a failure of ours.
    if (failure === undefined || failure.startsWith("ended")) return;
    throw new Fault("shell", `The shell ${program} ${failure}.`, { hint: "Set SHELL to an installed shell." });
  },
});

/** Editors with their own windows. For commit messages they are often set up with a flag that makes them wait. */
const withWindows = ["code", "code-insiders", "codium", "cursor", "windsurf", "zed", "subl", "atom", "gvim", "mvim"];

const waiting = ["--wait", "-w", "--nofork", "-f"];

/** Opens a folder in an editor; waits only for an editor in the terminal. Returns what went wrong. */
function openFolder(editor: string, folder: string): Promise<string | undefined> {
  const words = editor.split(/\s+/).filter((word) => word !== "");
  const [program = "", ...args] = words;
  // Like git, let the shell parse anything but plain words.
  if (!words.every((word) => /^[\w./+:@=-]+$/.test(word)))
    return runInTerminal(["sh", "-c", `${editor} "$@"`, editor, folder], {}, folder);
  if (!withWindows.includes(basename(program))) return runInTerminal([...words, folder], {}, folder);
  return start(program, [...args.filter((arg) => !waiting.includes(arg)), folder], folder);
}

function start(program: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true, cwd });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`cannot be started (${error.code})`));
    child.on("spawn", () => {
      child.unref();
      resolve(undefined);
    });
  });
}
