import type { Given } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { ActionView } from "../../api/tasks.ts";
import { shellWord } from "../../shell-quote.ts";
import { call } from "../data/client.ts";
import type { TaskPartName } from "../search.ts";
import { mergeTold, stopTold, type Told } from "./merge-answer.ts";

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

/** How the page takes an action. */
export type Way =
  /** It is done with one request. `asksText`: what the person writes first. `danger`: what follows, which the person must confirm. */
  | {
      readonly kind: "ask-daemon";
      readonly asksText?: string;
      readonly danger?: string;
      send(task: string, action: ActionView, input: ActionInput): Promise<string | Told>;
    }
  /** A part of the task's page shows it. */
  | { readonly kind: "show"; readonly part: TaskPartName }
  /** It needs a terminal or an editor: the page shows the command. */
  | { readonly kind: "terminal" };

const given = (task: string, { revision }: ActionInput): Given<never, never> => ({ params: { task }, revision });
const moved = ({ kind, task, why }: { kind: string; task: { status: string }; why: string }) =>
  kind === "ignored" ? why : kind === "moved" ? `It is in ${task.status} now.` : `It stays in ${task.status}.`;
const toldOf = (told: { run: string; how: "message" | "start" } | null) =>
  told === null ? "" : told.how === "message" ? ` ${told.run} is told.` : ` ${told.run} is started with it.`;

/** Every action that a task can offer, by its name on the command line. */
export const ways: Readonly<Record<string, Way>> = {
  answer: {
    kind: "ask-daemon",
    asksText: "Your answer",
    async send(task, _, input) {
      const { text = "", question, to } = input;
      const body = { text, ...(question === undefined ? {} : { question }), ...(to === undefined ? {} : { to }) };
      const { change, told } = await call(routes.answerTask, { ...given(task, input), body });
      return moved(change) + toldOf(told);
    },
  },
  reply: {
    kind: "ask-daemon",
    asksText: "Your reply",
    async send(task, _, input) {
      const body = { text: input.text ?? "", ...(input.question === undefined ? {} : { question: input.question }) };
      return moved(await call(routes.replyTask, { ...given(task, input), body }));
    },
  },
  approve: {
    kind: "ask-daemon",
    async send(task, _, input) {
      const body = input.commit === undefined || input.commit === "" ? {} : { commit: input.commit };
      const { change, merge, warnings } = await call(routes.approveTask, { ...given(task, input), body });
      const { text, tone } =
        merge === null
          ? { text: change === null ? "Approved." : moved(change), tone: "good" as const }
          : mergeTold(merge);
      return { text: [text, ...warnings].join("\n"), tone };
    },
  },
  "request-changes": {
    kind: "ask-daemon",
    asksText: "What should change",
    async send(task, { command }, input) {
      // Where several states can take the task back, each is an action of its own.
      const [, to] = / --status (\S+)$/.exec(command) ?? [];
      const body = { text: input.text ?? "", ...(to === undefined ? {} : { to }) };
      const { change, told } = await call(routes.requestChanges, { ...given(task, input), body });
      return moved(change) + toldOf(told);
    },
  },
  send: {
    kind: "ask-daemon",
    asksText: "Your message",
    async send(task, _, input) {
      const { to, waitsFor } = await call(routes.sendMessage, {
        ...given(task, input),
        body: { text: input.text ?? "" },
      });
      return waitsFor === "" ? `The message to ${to} is on its way.` : `${to} gets the message later: ${waitsFor}`;
    },
  },
  merge: {
    kind: "ask-daemon",
    danger: "Its work becomes part of the branch that it was started from, and the task ends.",
    send: async (task, _, input) => mergeTold(await call(routes.mergeTask, { ...given(task, input), body: {} })),
  },
  "merge-cancel": {
    kind: "ask-daemon",
    send: async (task, _, input) => stopTold(await call(routes.cancelMerge, { ...given(task, input), body: {} })),
  },
  continue: {
    kind: "ask-daemon",
    async send(task, { command }, input) {
      const body = command.endsWith(" --yes") ? { unanswered: true } : {};
      const answer = await call(routes.continueTask, { ...given(task, input), body });
      return [moved(answer), ...answer.warnings].join("\n");
    },
  },
  retry: {
    kind: "ask-daemon",
    async send(task, _, input) {
      const { retried } = await call(routes.retryTask, { ...given(task, input), body: {} });
      return retried === 1 ? "The failed effect is tried again." : `${retried} failed effects are tried again.`;
    },
  },
  spawn: {
    kind: "ask-daemon",
    send: async (task, _, input) => moved(await call(routes.spawnTask, { ...given(task, input), body: {} })),
  },
  respawn: {
    kind: "ask-daemon",
    send: async (task, _, input) => moved(await call(routes.respawnTask, { ...given(task, input), body: {} })),
  },
  sync: {
    kind: "ask-daemon",
    async send(task, _, input) {
      const { from, commits, files } = await call(routes.syncTask, { ...given(task, input), body: {} });
      if (files.length > 0) return `It conflicts with ${from} in ${files.join(", ")}. The branch has not moved.`;
      return commits === 0
        ? `It has everything of ${from} already.`
        : `${commits} commits of ${from} are in its branch.`;
    },
  },
  "create-pr": {
    kind: "ask-daemon",
    danger: "Its branch is pushed to the remote, where others can see it.",
    async send(task, _, input) {
      const { number, url } = await call(routes.openPullRequest, { ...given(task, input), body: {} });
      return `Pull request #${number} ${url}`;
    },
  },
  fetch: {
    kind: "ask-daemon",
    async send(task, _, input) {
      const { branch, repository } = await call(routes.fetchTask, { ...given(task, input), body: {} });
      return `${branch} is in ${repository}.`;
    },
  },
  cancel: {
    kind: "ask-daemon",
    danger:
      "Its agents are ended, and the task with the parts of its plan is over. Its work is kept, and stays unmerged.",
    async send(task, _, input) {
      const { left } = await call(routes.cancelTask, { ...given(task, input), body: {} });
      return left.length === 0 ? "Cancelled." : `Cancelled. Below it stay open: ${left.join(", ")}`;
    },
  },
  move: {
    kind: "ask-daemon",
    danger: "The task leaves its state by your word, past what its workflow would do next.",
    send: async (task, { to }, input) => moved(await call(routes.moveTask, { ...given(task, input), body: { to } })),
  },
  kill: {
    kind: "ask-daemon",
    danger: "The agent's program is ended at once. What it has not committed is kept in the workspace.",
    async send(task, { command }, input) {
      const run = command.slice(command.lastIndexOf("/") + 1);
      const way = given(task, input);
      return moved(await call(routes.killRun, { ...way, params: { task, run }, body: {} }));
    },
  },
  delete: {
    kind: "ask-daemon",
    danger: "The task and its parts are forgotten. Their history is moved to the trash folder.",
    async send(task, _, input) {
      const { kept } = await call(routes.deleteTask, given(task, input));
      return `Deleted. Its history is in ${kept}`;
    },
  },
  comment: {
    kind: "ask-daemon",
    asksText: "Your comment",
    async send(task, _, input) {
      await call(routes.commentTask, { ...given(task, input), body: { text: input.text ?? "" } });
      return "The comment is in its history.";
    },
  },
  /** The page's own terminal, in which the person takes control. */
  attach: { kind: "show", part: "agent" },
  diff: { kind: "show", part: "changes" },
  findings: { kind: "show", part: "findings" },
  plan: { kind: "show", part: "task-file" },
  peek: { kind: "show", part: "agent" },
  logs: { kind: "show", part: "agent" },
  explain: { kind: "show", part: "overview" },
  history: { kind: "show", part: "history" },
};

/** An action that this page does not know yet is one for the terminal. */
export function wayOf({ name }: Pick<ActionView, "name">): Way {
  return Object.hasOwn(ways, name) ? (ways[name] as Way) : { kind: "terminal" };
}

/** The command that does the same, with what the person wrote. */
export function commandWith({ command }: Pick<ActionView, "command">, text: string | undefined): string {
  return text === undefined
    ? command
    : command.replace(/"Your (?:answer|message)"|"What should change"|yes$/, () => shellWord(text));
}
