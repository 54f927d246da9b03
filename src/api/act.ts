import { shellWord } from "../shell-quote.ts";
import type { Call, Given } from "./client.ts";
import { mergeTold, stopTold, type Told, undoCommand } from "./merge-answer.ts";
import { routes } from "./routes.ts";
import type { ActionView } from "./tasks.ts";

/** What a person has seen and written when they act. */
export interface ActionInput {
  /** The revision of the task that was on the screen: a task that has changed since is not touched. */
  readonly revision: number;
  readonly text?: string;
  /** The commit that was shown. */
  readonly commit?: string;
  /** The state that the person chose for the task, where its question offers several. */
  readonly to?: string;
  /** The question that was shown. */
  readonly question?: string;
}

/** An action that is done with one request. */
export interface Act {
  /** What the person writes first. */
  readonly asksText?: string;
  /** What always follows from it, which the person must confirm; `dangerOf` has what follows in the task's state. */
  readonly danger?: string;
  /** Resolves with what came of it. */
  send(call: Call, task: string, action: ActionView, input: ActionInput): Promise<string | Told>;
}

const given = (task: string, { revision }: ActionInput): Given<never, never> => ({ params: { task }, revision });
const moved = ({ kind, task, why }: { kind: string; task: { status: string }; why: string }) =>
  kind === "ignored" ? why : kind === "moved" ? `It is in ${task.status} now.` : `It stays in ${task.status}.`;
const toldOf = (told: { run: string; how: "message" | "start" } | null) =>
  told === null ? "" : told.how === "message" ? ` ${told.run} is told.` : ` ${told.run} is started with it.`;

/** What is told after an action with which the workflow merges: whether it has succeeded is known later. */
const undoLater = (task: string, { consequence }: ActionView): readonly string[] =>
  consequence === "merge" ? [`To undo the merge: ${undoCommand(task)}`] : [];
const toldLines = (...lines: readonly string[]) => lines.filter((line) => line !== "").join("\n");

/** The actions that are one request, by their names on the command line. */
export const acts: Readonly<Record<string, Act>> = {
  answer: {
    asksText: "Your answer",
    async send(call, task, _, input) {
      const { text = "", question, to } = input;
      const body = { text, ...(question === undefined ? {} : { question }), ...(to === undefined ? {} : { to }) };
      const { change, told } = await call(routes.answerTask, { ...given(task, input), body });
      return moved(change) + toldOf(told);
    },
  },
  reply: {
    asksText: "Your reply",
    async send(call, task, _, input) {
      const body = { text: input.text ?? "", ...(input.question === undefined ? {} : { question: input.question }) };
      return moved(await call(routes.replyTask, { ...given(task, input), body }));
    },
  },
  approve: {
    async send(call, task, action, input) {
      const body = input.commit === undefined || input.commit === "" ? {} : { commit: input.commit };
      const { change, merge, warnings } = await call(routes.approveTask, { ...given(task, input), body });
      if (merge !== null) {
        const { text, tone } = mergeTold(merge);
        return { text: toldLines(text, ...warnings), tone };
      }
      const said = change === null ? "Approved." : moved(change);
      return { text: toldLines(said, ...undoLater(task, action), ...warnings), tone: "good" };
    },
  },
  "request-changes": {
    asksText: "What should change",
    async send(call, task, { command }, input) {
      // Where several states can take the task back, each is an action of its own.
      const [, to] = / --status (\S+)$/.exec(command) ?? [];
      const body = { text: input.text ?? "", ...(to === undefined ? {} : { to }) };
      const { change, told } = await call(routes.requestChanges, { ...given(task, input), body });
      return moved(change) + toldOf(told);
    },
  },
  send: {
    asksText: "Your message",
    async send(call, task, _, input) {
      const { to, waitsFor } = await call(routes.sendMessage, {
        ...given(task, input),
        body: { text: input.text ?? "" },
      });
      return waitsFor === "" ? `The message to ${to} is on its way.` : `${to} gets the message later: ${waitsFor}`;
    },
  },
  merge: {
    danger: "Its work becomes part of the branch that it was started from, and the task ends.",
    send: async (call, task, _, input) => mergeTold(await call(routes.mergeTask, { ...given(task, input), body: {} })),
  },
  "merge-cancel": {
    send: async (call, task, _, input) => stopTold(await call(routes.cancelMerge, { ...given(task, input), body: {} })),
  },
  continue: {
    async send(call, task, action, input) {
      const body = action.command.endsWith(" --yes") ? { unanswered: true } : {};
      const answer = await call(routes.continueTask, { ...given(task, input), body });
      return toldLines(moved(answer), ...undoLater(task, action), ...answer.warnings);
    },
  },
  retry: {
    async send(call, task, _, input) {
      const { retried } = await call(routes.retryTask, { ...given(task, input), body: {} });
      return retried === 1 ? "The failed effect is tried again." : `${retried} failed effects are tried again.`;
    },
  },
  spawn: {
    send: async (call, task, _, input) => moved(await call(routes.spawnTask, { ...given(task, input), body: {} })),
  },
  respawn: {
    send: async (call, task, _, input) => moved(await call(routes.respawnTask, { ...given(task, input), body: {} })),
  },
  sync: {
    async send(call, task, _, input) {
      const { from, commits, files } = await call(routes.syncTask, { ...given(task, input), body: {} });
      if (files.length > 0) return `It conflicts with ${from} in ${files.join(", ")}. The branch has not moved.`;
      return commits === 0
        ? `It has everything of ${from} already.`
        : `${commits} commits of ${from} are in its branch.`;
    },
  },
  "create-pr": {
    danger: "Its branch is pushed to the remote, where others can see it.",
    async send(call, task, _, input) {
      const { number, url } = await call(routes.openPullRequest, { ...given(task, input), body: {} });
      return `Pull request #${number} ${url}`;
    },
  },
  fetch: {
    async send(call, task, _, input) {
      const { branch, repository } = await call(routes.fetchTask, { ...given(task, input), body: {} });
      return `${branch} is in ${repository}.`;
    },
  },
  cancel: {
    danger:
      "Its agents are ended, and the task with the parts of its plan is over. Its work is kept, and stays unmerged.",
    async send(call, task, _, input) {
      const { left } = await call(routes.cancelTask, { ...given(task, input), body: {} });
      return left.length === 0 ? "Cancelled." : `Cancelled. Below it stay open: ${left.join(", ")}`;
    },
  },
  move: {
    danger: "The task leaves its state by your word, past what its workflow would do next.",
    async send(call, task, action, input) {
      const answer = await call(routes.moveTask, { ...given(task, input), body: { to: action.to } });
      return toldLines(moved(answer), ...undoLater(task, action));
    },
  },
  kill: {
    danger: "The agent's program is ended at once. What it has not committed is kept in the workspace.",
    async send(call, task, { command }, input) {
      const run = command.slice(command.lastIndexOf("/") + 1);
      const way = given(task, input);
      return moved(await call(routes.killRun, { ...way, params: { task, run }, body: {} }));
    },
  },
  delete: {
    danger: "The task and its parts are forgotten. Their history is moved to the trash folder.",
    async send(call, task, _, input) {
      const { kept } = await call(routes.deleteTask, given(task, input));
      return `Deleted. Its history is in ${kept}`;
    },
  },
  comment: {
    asksText: "Your comment",
    async send(call, task, _, input) {
      await call(routes.commentTask, { ...given(task, input), body: { text: input.text ?? "" } });
      return "The comment is in its history.";
    },
  },
};

/** What the person must confirm before the action is taken; undefined where it is taken at once. */
export function dangerOf({ name, consequence }: Pick<ActionView, "name" | "consequence">): string | undefined {
  const own = Object.hasOwn(acts, name) ? acts[name]?.danger : undefined;
  const follows = consequences[consequence];
  // The others say what follows from them in their own words.
  if (own === undefined || name !== "move") return own ?? follows;
  return follows === undefined ? own : `${own} ${follows}`;
}

const consequences: Readonly<Record<ActionView["consequence"], string | undefined>> = {
  none: undefined,
  merge: "With that its work is merged into the branch that it was started from, or its pull request is merged.",
  push: "With that its branch is pushed to the remote, where others can see it.",
  end: "With that the task ends.",
};

/** Whether a merge follows from the action, so that the person sees first what would be merged and pushed. */
export function isMerging({ name, consequence }: Pick<ActionView, "name" | "consequence">): boolean {
  return name === "merge" || consequence === "merge";
}

/** The command that does the same, with what the person wrote. */
export function commandWith({ command }: Pick<ActionView, "command">, text: string | undefined): string {
  return text === undefined
    ? command
    : command.replace(/"Your (?:answer|message|comment)"|"What should change"|yes$/, () => shellWord(text));
}

export { actionKeys, moveKeys } from "../engine/action-keys.ts";
