import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { readInput } from "../ask.ts";
import { createCall } from "../connect.ts";
import { nameTask, shownTask } from "../find.ts";
import { forEach, tellMerge, tellStopped, whileMerging, whoResolves } from "../tell.ts";
import { count, given, listed, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, oneTask, pullRequestForm, severalForm, taskExitCodes, tasks, textFlag } from "./parameters.ts";

const noGiveBack = flag("On a conflict, leave the task where it is, and do not tell its agent");

export const merge = command({
  parameters: {
    positional: tasks,
    flags: {
      strategy: {
        kind: "enum",
        values: ["merge", "ff"],
        optional: true,
        brief: "merge: always a merge commit (the default); ff: never one",
      },
      local: flag("Merge here, even if the task has a pull request"),
      "dry-run": flag("Only say what would be merged, or with --undo what would be undone"),
      "no-give-back": noGiveBack,
      unreviewed: flag("Also merge commits that nobody has reviewed, if signalbox task diff has shown them to you"),
      undo: flag("Undo the task's merges, with a new commit for each"),
      cancel: flag("Stop a merge that you asked for and that is not published yet"),
      json,
    },
  },
  docs: {
    brief: "Merge a task's work into the default branch, and end the task",
    fullDescription: `Each branch has a merge queue; nothing is checked out for a merge. Your own checkout is updated if your changes are in other files; otherwise the merge waits, and continues by itself. If the project has a remote, the branch is pushed first, with your own commits in it that were not pushed yet; push_merges: false in your configuration prevents that. The commit that the work is at when you ask is merged; later commits are not, and they keep the task where it is. If the work has moved since its review, it is merged only with --unreviewed. The task moves only when its work is in the branch. On a conflict the task goes back to its agent, with the conflicts under ## Feedback in the task file, if its workflow has exactly one way for a person to send it there.

The daemon merges: Ctrl-C stops only the waiting, and the merge goes on; of several tasks, those after it are then not asked for. To stop the merge itself, use --cancel. A task that is moved or cancelled before its merge is published is not merged either.

--json: { state, reason, files, target, commit, before, after, givenBack: { to, run, how }, empty, commits, changed, dryRun, untested, pushed: { remote, commits }, warnings, task }. ${severalForm}
${taskExitCodes("not merged, or not yet")}`,
  },
  func(flags, ...references) {
    const { strategy, local, undo, cancel, unreviewed, json } = flags;
    const dryRun = flags["dry-run"];
    const onlyForMerges = given({
      strategy,
      local: local || undefined,
      "no-give-back": flags["no-give-back"] || undefined,
      unreviewed: unreviewed || undefined,
    });
    const [useless] = undo || cancel ? Object.keys(onlyForMerges) : [];
    const which = undo ? "--undo" : "--cancel";
    if (useless !== undefined)
      throw new Fault("usage", `--${useless} is about how a merge is made, and ${which} makes none.`, {
        hint: `Leave --${useless} or ${which} out.`,
      });
    if (cancel && (undo || dryRun))
      throw new Fault("usage", `--cancel cannot be combined with ${undo ? "--undo" : "--dry-run"}.`, {
        hint: "--cancel stops a merge before it is published; --undo reverts one that was.",
      });
    const body = given({ strategy, local, dryRun, giveBack: !flags["no-give-back"], unreviewed });
    return forEach(this, references, json, {
      act: async (own, call, reference, later) => {
        const about = await nameTask(call, reference);
        if (undo) return call(routes.undoMerge, { ...about, body: { dryRun } });
        if (cancel) return call(routes.cancelMerge, { ...about, body: {} });
        const asking = call(routes.mergeTask, { ...about, body });
        return dryRun
          ? asking
          : whileMerging(own, call, about, { reference, goesOn: "The merge goes on.", later, verb: "merge" }, asking);
      },
      isFailed: ({ state }) => (cancel ? state === "merged" : state !== "merged" && state !== "undone"),
      tell: cancel ? tellStopped : tellMerge,
    });
  },
});

export const sync = command({
  parameters: {
    positional: tasks,
    flags: {
      from: textFlag("BRANCH", "Merge this branch instead of the default branch"),
      "no-give-back": noGiveBack,
      json,
    },
  },
  docs: {
    brief: "Merge new commits of the default branch into a task's branch",
    fullDescription: `The merge happens in the task's workspace. If uncommitted changes are in the way, nothing changes. On a conflict the branch stays where it is, and the task's agent has to resolve it: the conflicts are listed under ## Feedback in the task file; a live agent is told, a dead one is started.

--json: { from, commit, commits, files, givenBack: { to, run, how }, task }. ${severalForm}
${taskExitCodes("refused, or a conflict")}`,
  },
  func(flags, ...references) {
    const body = given({ from: flags.from, giveBack: !flags["no-give-back"] });
    return forEach(this, references, flags.json, {
      act: async (_, call, reference) => call(routes.syncTask, { ...(await nameTask(call, reference)), body }),
      isFailed: ({ givenBack }) => givenBack !== null,
      tell: (own, { commits, task, files, givenBack, from }) => {
        if (givenBack !== null) {
          own.say(`${own.talkPaint.red("Not merged.")} ${from} conflicts with ${task.branch} in ${listed(files)}.`);
          return own.say(`${shownTask(task)} is in ${givenBack.to}. ${whoResolves(givenBack)}`);
        }
        if (commits === 0) return own.say(`${shownTask(task)} already has every commit of ${from}.`);
        own.print(`Merged ${count(commits, "commit")} of ${from} into ${task.branch}`);
      },
    });
  },
});

export const createPr = command({
  parameters: {
    positional: oneTask,
    flags: {
      title: textFlag("TEXT", "Its title; otherwise the task's summary"),
      body: textFlag("TEXT|-", "Its description, instead of the summary; - reads it from stdin"),
      draft: flag("Open it as a draft"),
      json,
    },
  },
  docs: {
    brief: "Push a task's branch and open its pull request",
    fullDescription: `The task stays where it is. A task that has an open pull request keeps it: its branch is pushed, and the same address is printed. Details of the task, such as the evidence that passed gates, are added to your text. If the remote is not on GitHub, the branch is pushed, and the pull request is recorded only here. Without a remote the command is refused.

Prints the address.

--json: ${pullRequestForm}
${taskExitCodes("refused, or the remote or the forge failed")}`,
  },
  async func(flags, reference) {
    const { title, draft, json } = flags;
    const text = flags.body === "-" ? await readInput(this, "-") : flags.body;
    const call = createCall(this);
    const named = await nameTask(call, reference);
    const body = given({ title, body: text, draft: draft ? true : undefined });
    const pullRequest = await call(routes.openPullRequest, { ...named, body });
    if (json) return this.print(writeJson(pullRequest));
    const { url, number, head, base } = pullRequest;
    if (url !== "") return this.print(url);
    this.print(`${number}`);
    this.say(
      `Pushed ${head}. Its remote is not a GitHub that you are logged in to, so no pull request was opened there.`,
    );
    this.say(
      `It is recorded here as ${number}, from ${head} into ${base}. To merge it here: signalbox task merge ${reference}`,
    );
  },
});
