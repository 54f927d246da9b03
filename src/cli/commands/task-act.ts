import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import type { SalvagedView } from "../../api/workspaces.ts";
import { Fault } from "../../fault.ts";
import { askChange, handIn, readInput, readWords } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { tellChange } from "../fast/tell.ts";
import { type NamedTask, nameTask, shownTask } from "../find.ts";
import { pause, untilInterrupted } from "../screen.ts";
import { awaitWork, tellWork } from "../state-work.ts";
import { forEach, tellAsked, tellMerge, tellSaid, whileMerging } from "../tell.ts";
import { count, given, repositories, writeJson } from "../text.ts";
import { command } from "./command.ts";
import {
  changeForm,
  flag,
  json,
  optionalWord,
  severalForm,
  status,
  task,
  taskExitCodes,
  tasks,
  textFlag,
} from "./parameters.ts";

/** The parameters of commands that take only tasks. */
const parameters = { positional: tasks, flags: { json } };

/** The API's answer after a person commented on a task's work. */
const saidForm = `{ change: ${changeForm}, section, told: { run, how } }`;

const words = (brief: string) => ({ parse: String, optional: true, placeholder: "TEXT|-", brief }) as const;

const nowhere = "without it, your editor opens on a terminal; elsewhere the text is read from stdin";

const aliases = { m: "message" } as const;

const question = textFlag("ID", "The id of the question that you answer; without it, the task's present one");

export const answer = command({
  parameters: {
    positional: { kind: "tuple", parameters: [task, words(`Your answer; - reads it from stdin; ${nowhere}`)] },
    flags: {
      message: textFlag("TEXT|-", "The same, as a flag"),
      status: status("Move the task to this state; needed only if no agent asks, or if several agents could continue"),
      question,
      json,
    },
    aliases,
  },
  docs: {
    brief: "Answer the questions of a task's agent, and let it continue",
    fullDescription: `Your answer is appended to ## Answers in the task file, and the task moves where its workflow says. A live agent is told to read it; otherwise an agent is started. A refused answer changes nothing. An answer is refused if no agent has questions and the state asks for none, because an answer is not an approval. An answer to a question that is no longer open is refused with who answered what. The command prints the question after it is answered; to read it first: signalbox chat TASK

Examples:
  signalbox task answer coffee#12 -m "Arabica, and no sugar"
  signalbox task answer coffee#12 - < answers.md

--json: { change: ${changeForm}, section, told: { run, how }, question: { id, text } }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func(flags, reference, argument) {
    const { message, status: to, json } = flags;
    const call = createCall(this);
    const named = await nameTask(call, reference);
    let { question } = flags;
    const words = await readWords(this, given({ message, argument }), async () => {
      if (to === undefined) await mustBeAllowed(call, named, "answer");
      const { task, blocked } = await call(routes.explainTask, named);
      const [asked] = (await call(routes.listQuestions, { query: { task: task.id } })).questions;
      // The answer is for the question that the person reads now, whatever is asked when the editor is closed.
      question ??= asked?.id;
      const about = `Your answer for ${shownTask(task)} ${task.summary}, which is in ${task.status}.`;
      return [about, "", ...(asked === undefined ? blocked.map(({ reason }) => reason) : [asked.text])].join("\n");
    });
    const said = await handIn(this, words, (text) =>
      call(routes.answerTask, { ...named, body: given({ text, to, question }) }),
    );
    if (!json) tellAsked(this, said.question);
    tellSaid(this, said, json);
  },
});

export const approve = command({
  parameters: {
    positional: tasks,
    flags: {
      commit: textFlag("SHA", "Approve only if the work is still at this commit, the one that you reviewed"),
      unreviewed: flag("Also approve commits that nobody has reviewed, if signalbox task diff has shown them to you"),
      json,
    },
  },
  docs: {
    brief: "Approve a task's work, or say yes to its question",
    fullDescription: `The task moves where its workflow says. If that requires a merge, the commit that you approve is merged first, as signalbox task merge does it; later commits are not merged. Your approval is for the commit that task diff or merge --dry-run showed you last: if the work has moved since, look at it again. If the workflow itself merges, the command waits until the work of the state has ended, as signalbox task merge does, and says what is pushed, not tested or left open. Commits since the last verdict must then have been shown to you (task diff --since-review), or you say --unreviewed. The task's history records the commit.

--json: { commit, change: ${changeForm}, merge, empty, merges, warnings, work: { word, reason, task } }. The change or the merge is null; a merge is as in signalbox task merge. The work is null unless the workflow merges. ${severalForm}
${taskExitCodes("refused, not merged, or not merged yet; the task stays where it is")}`,
  },
  func({ commit, unreviewed, json }, ...references) {
    return forEach(this, references, json, {
      act: async (own, call, reference, later) => {
        const about = await nameTask(call, reference);
        const asking = call(routes.approveTask, { ...about, body: given({ commit, unreviewed }) });
        const goesOn = "Your approval counts, and a merge that it needs goes on.";
        const leaving = { reference, goesOn, later, verb: "approve" };
        const answer = await whileMerging(own, call, about, leaving, asking);
        const { change, merges, warnings } = answer;
        if (!json && answer.commit !== "") own.say(`Approved at commit ${answer.commit.slice(0, 10)}.`);
        if (!json) for (const warning of warnings) own.say(own.talkPaint.yellow(warning));
        if (change === null || !merges) return { ...answer, work: null };
        const stop = `To stop it, cancel the task: signalbox task cancel ${reference}`;
        return { ...answer, work: await whileMerging(own, call, about, { ...leaving, stop }, awaitWork(call, change)) };
      },
      isFailed: ({ merge, work }) =>
        (merge !== null && merge.state !== "merged") || (work !== null && work.word !== "ok"),
      tell: (own, { change, work, merge, empty }) => {
        if (change !== null && work === null) tellChange(own, change);
        if (change !== null && empty)
          own.say(`The branch of ${shownTask(change.task)} has no commits of its own, so nothing is merged.`);
        if (change !== null && work !== null) tellWork(own, change.from, work);
        if (merge !== null) tellMerge(own, merge);
      },
    });
  },
});

const pollInterval = 150;

/** How long cancel waits, in milliseconds, to report what was salvaged. The task itself is cancelled immediately. */
const reportTimeout = 8_000;

export const cancel = command({
  parameters: {
    positional: tasks,
    flags: { tree: flag("Also cancel the tasks that were created below it, with --parent"), json },
  },
  docs: {
    brief: "Cancel tasks, and report what was salvaged",
    fullDescription: `The task moves to the state that its workflow has for cancelled tasks. Its agents are ended and its workspace is released. Uncommitted work is salvaged first: the command prints its name, and how to restore it.

The parts of its plan, which its workflow has made, always end with it: without their parent they have no branch to go to. Tasks that were created with --parent are tasks of their own; --tree cancels these too, also after their parent has ended. Without it, the command names those that stay open. It also names the open tasks that depend on the task.

--json: { kind, from, task, why, entry, effects, salvaged: [{ ref, project, task, at, files, size, on, repositories, commit }], unsaved: [TEXT], waiting: [{ name, command }], hasCommits, below: [TASK], left: [TASK], awaitedBy: [TASK] }. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
  func({ json, tree }, ...references) {
    return forEach(this, references, json, {
      act: async (_, call, reference) => {
        const about = await nameTask(call, reference);
        // This request comes first: an earlier request could fail, and then the task would not be cancelled.
        const change = await call(routes.cancelTask, { ...about, body: tree ? { tree } : {} });
        const until = Date.now() + reportTimeout;
        const task = change.task.workspace === "" ? change.task : await afterRelease(call, change.task, until);
        const rest = Promise.all([
          leftWaiting(call, task),
          salvagedOf(call, task),
          hasCommits(call, task),
          unsavedOf(call, task),
        ]);
        const told = new AbortController();
        const late = pause(Math.max(until - Date.now(), 2_000), told.signal).then(() => [[], [], false, []] as const);
        const [waiting, salvaged, isCommitted, unsaved] = await Promise.race([rest, late]).finally(() => told.abort());
        return { ...change, task, salvaged, unsaved, waiting, hasCommits: isCommitted };
      },
      tell: (own, change) => {
        tellChange(own, change);
        if (change.kind === "moved") tellSalvaged(own, change.task, change.salvaged);
        for (const reason of change.unsaved) own.say(`${own.talkPaint.yellow("warning:")} ${reason}`);
        if (change.kind === "moved" && change.hasCommits)
          own.say(`To continue from its commits in a new task: signalbox task create --from ${change.task.id}`);
        if (change.below.length > 0) own.say(`Below it, ${count(change.below.length, "task")} cancelled.`);
        if (change.left.length > 0)
          own.say(
            `${count(change.left.length, "task")} below it ${change.left.length === 1 ? "stays" : "stay"} open: ${change.left.join(", ")}. To cancel below it too: signalbox task cancel ${change.task.id} --tree`,
          );
        if (change.awaitedBy.length > 0)
          own.say(
            `Still waiting for it, because of --depends-on: ${change.awaitedBy.join(", ")}. To see what to do: signalbox task explain ${change.awaitedBy[0]}`,
          );
        for (const { name, command } of change.waiting)
          own.say(`${name} waits for the free slot and does not start by itself: ${command}`);
      },
    });
  },
});

/** Prints what the task left behind, and how to restore it. */
function tellSalvaged({ say }: Context, task: TaskView, salvaged: readonly SalvagedView[]): void {
  for (const { ref, files, repositories: inside } of salvaged) {
    const left = `${count(files, "uncommitted file")}`;
    const parts = [...(files === 0 ? [] : [left]), ...(inside.length === 0 ? [] : [repositories(inside)])];
    const what = parts.length === 0 ? "commits that are on no branch" : parts.join(", and ");
    say(`Salvaged ${what}. To restore ${files + inside.length === 1 ? "it" : "them"}:`);
    say(`  signalbox salvage restore ${ref} --to FOLDER`);
  }
  if (salvaged.length === 0 && task.workspace !== "" && task.held === null)
    say("Its workspace is still being saved in the background. To see the result later: signalbox salvage list");
}

async function hasCommits(call: Call, { id }: TaskView): Promise<boolean> {
  // Not `text: "false"`, which the daemon takes for a list that the person sees.
  const about = { params: { task: id }, query: { files: "true", committed: "true" } } as const;
  const diff = await call(routes.diffTask, about).catch(() => undefined);
  return diff !== undefined && diff.commit !== diff.base;
}

/** Waits until the workspace is released, which happens after its agents have ended. */
async function afterRelease(call: Call, cancelled: TaskView, until: number): Promise<TaskView> {
  const ending = untilInterrupted();
  let task = cancelled;
  while (Date.now() < until && !ending.aborted) {
    if (task.held !== null || (task.phase === "over" && task.workspace === "")) return task;
    await pause(pollInterval, ending);
    task = (await call(routes.getTask, { params: { task: cancelled.id }, query: {} })).task;
  }
  return task;
}

/** Includes work salvaged before the cancel, such as the commits of a detached HEAD: no other copy is left. */
async function salvagedOf(call: Call, { id, project }: TaskView): Promise<readonly SalvagedView[]> {
  const { salvaged } = await call(routes.listSalvage, { query: { project } }).catch(() => ({ salvaged: [] }));
  return salvaged.filter(({ task }) => task === id);
}

/** What could not be saved when the workspace was released, a sentence each. */
async function unsavedOf(call: Call, { id }: TaskView): Promise<readonly string[]> {
  const query = { task: id, type: "effect.failed", before: "end", limit: "20" };
  const { events } = await call(routes.listEvents, { query }).catch(() => ({ events: [] }));
  const own = events.filter(({ data }) => data.action === "release_workspace");
  return [...new Set(own.map(({ data }) => String(data.reason)).filter((reason) => reason.startsWith("Not saved")))];
}

/** Tasks that could use the free slot, but that only their workflow or a person starts. */
async function leftWaiting(call: Call, { project }: TaskView) {
  const { tasks } = await call(routes.listTasks, { query: { project, needs: "true" } }).catch(() => ({ tasks: [] }));
  return tasks.flatMap((task) => {
    const { command } = task.needs.find((need) => need.command === `signalbox task spawn ${task.id}`) ?? {};
    return command === undefined ? [] : [{ name: shownTask(task), command }];
  });
}

export const reply = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [task, optionalWord("TEXT|-", "Your answer; without it, or with -, it is read from stdin")],
    },
    flags: { question, json },
  },
  docs: {
    brief: "Answer a task's agent in a dialogue",
    fullDescription: `If the agent asks you to confirm, yes ends the dialogue; any other answer goes back to the agent. Without a dialogue, a reply is refused with the command to use instead. A reply to a question that is no longer open is refused with who answered what. The command prints the question after it is answered; to read it first, and to stay in the conversation, use signalbox chat TASK; to talk to an agent in a terminal, signalbox task send TASK.

--json: { kind, from, task, why, entry, effects, question: { id, text } }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func({ question, json }, reference, words = "-") {
    const text = words === "-" ? await readInput(this, "-") : words;
    const call = createCall(this);
    const about = await nameTask(call, reference);
    const change = await call(routes.replyTask, { ...about, body: given({ text, question }) });
    if (json) return this.print(writeJson(change));
    tellAsked(this, change.question);
    tellChange(this, change);
  },
});

export const requestChanges = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [task, words(`What to change; - reads it from stdin; ${nowhere}`)],
    },
    flags: {
      message: textFlag("TEXT|-", "The same, as a flag"),
      status: status("Send the task to this state; needed if a person can send it to several"),
      json,
    },
    aliases,
  },
  docs: {
    brief: "Say what to change, and send a task back to its agent",
    fullDescription: `Your text is appended to ## Feedback in the task file, and the task moves to the state in which an agent works on it again. That agent is told, or started. A refused request changes nothing.

Examples:
  signalbox task request-changes coffee#12 -m "The cup is too small"
  signalbox task request-changes coffee#12 - < review.md

--json: ${saidForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func(flags, reference, argument) {
    const { message, status: to, json } = flags;
    const call = createCall(this);
    const named = await nameTask(call, reference);
    const words = await readWords(this, given({ message, argument }), async () => {
      if (to === undefined) await mustBeAllowed(call, named, "request-changes");
      const { task } = await call(routes.getTask, named);
      return `What to change in ${shownTask(task)} ${task.summary}, which is in ${task.status}.`;
    });
    const said = await handIn(this, words, (text) =>
      call(routes.requestChanges, { ...named, body: given({ text, to }) }),
    );
    tellSaid(this, said, json);
  },
});

/** Refuses before the editor opens: nobody is to write a text that will not be taken. */
async function mustBeAllowed(call: Call, named: NamedTask, name: string): Promise<void> {
  const { task, actions } = await call(routes.listActions, named);
  const action = actions.find((each) => each.name === name);
  if (action === undefined || action.allowed) return;
  throw new Fault("refused", action.why, { hint: `To see what you can do: signalbox task actions ${task.id}` });
}

export const respawn = command({
  parameters: { positional: tasks, flags: { json } },
  docs: {
    brief: "Restart a task's dead agent",
    fullDescription: `The task stays where it is. The agent resumes its session if its harness can do that; otherwise it begins again from the task file. A deleted workspace or branch is restored first from the collected commits, even if no agent is to be started. The daemon collects the commits of a working agent within seconds; a commit after the last collected one, and uncommitted changes, are lost with the folder. The event workspace.restored names that commit.

--json: ${changeForm}. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
  func({ json }, ...references) {
    const hint = ({ task, effects }: { readonly task: TaskView; readonly effects: readonly string[] }) => {
      const isRestored = effects.includes("acquire_workspace");
      const next =
        task.runs.length > 0 ? whereItWorks(task) : `To see when that is done: signalbox task explain ${task.id}`;
      return isRestored ? `${restoring}\n${next}` : next;
    };
    return askChange(this, routes.respawnTask, references, json, hint);
  },
});

const restoring =
  "Its workspace is made again from the last commit that was saved. A commit of the last few seconds, and uncommitted changes, may be missing.";

export const retry = command({
  parameters,
  docs: {
    brief: "Retry the failed effects of a task",
    fullDescription: `To see what failed: signalbox task show TASK

--json: { retried, task }. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
  func({ json }, ...references) {
    return forEach(this, references, json, {
      act: async (_, call, reference) => call(routes.retryTask, { ...(await nameTask(call, reference)), body: {} }),
      tell: (own, { retried, task }) => {
        if (retried > 0) {
          own.print(`${count(retried, "effect")} of ${shownTask(task)} ${retried === 1 ? "is" : "are"} being retried`);
          return own.say(`To see the result: signalbox task show ${task.id}`);
        }
        own.say(`No effect of ${shownTask(task)} has failed, so there is nothing to retry.`);
        if (task.held !== null) own.say(`The task is held. To try again: signalbox task continue ${task.id}`);
      },
    });
  },
});

export const spawn = command({
  parameters: { positional: tasks, flags: { json } },
  docs: {
    brief: "Start a task that waits for a slot, or for a person to start it",
    fullDescription: `The task starts whether or not it would start by itself. If there is no room for its agent now, the agent waits; signalbox task explain TASK says for what.

--json: ${changeForm}. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
  func({ json }, ...references) {
    return askChange(this, routes.spawnTask, references, json, ({ task }) => whereItWorks(task));
  },
});

/** Where a person sees the agent that is started, or why it is not started yet. */
function whereItWorks({ id, paused, runs }: TaskView): string {
  if (paused !== "") return `Its agent is not started yet. ${paused}`;
  // Only an interactive agent has a terminal.
  if (runs.length === 0) return `To see when its agent is at work: signalbox task explain ${id}`;
  const isElsewhere = runs.every(({ mode }) => mode !== "session");
  return `To see its agent at work: signalbox task ${isElsewhere ? `logs ${id} --follow` : `attach ${id}`}`;
}
