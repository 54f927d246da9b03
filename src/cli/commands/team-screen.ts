import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { canAsk } from "../ask.ts";
import { createOnlooker } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { createMessages } from "../messages.ts";
import { writeTeamSummary } from "../team-summary.ts";
import { count, writeJson } from "../text.ts";
import { watchLive, withRun } from "../watch/live.ts";
import type { Frame } from "../watch/rows.ts";
import {
  createSteadyTexts,
  createTeamBoard,
  endOfTeam,
  type TeamBoard,
  type TeamEnd,
  teamLines,
  usageOfTeam,
} from "../watch/team.ts";
import { createTalk } from "./chat.ts";
import { askPlan } from "./plan-prompt.ts";

/** The task that a team works on. */
export interface Started extends Pick<TaskView, "id" | "project"> {
  /** A warning that stays on the screen; empty if there is none. */
  readonly notice: string;
}

/** Shows the team at work until the task is over or the person leaves, and asks what it asks. */
export async function stay(
  context: Context,
  call: Call,
  { id, project, notice }: Started,
  json: boolean,
): Promise<void> {
  const asks = context.isTerminal && canAsk() && !json;
  const skipped = new Set<string>();
  const look = createTeamBoard(id, notice);
  const conversation = asks ? createConversation(context) : undefined;
  const shown = json ? { ...context, isTerminal: false, print: () => {} } : context;
  let last: TeamBoard | undefined;
  const watched = {
    project,
    look: async (onlooker: Call) => {
      last = await look(onlooker);
      return last;
    },
    withRun: (before: TeamBoard, run: TeamBoard["runs"][number]) =>
      before.runs.some((each) => each.id === run.id) ? { ...before, runs: withRun(before.runs, run) } : before,
    lines: (board: TeamBoard, frame: Frame) => teamLines(board, frame, leftOpen(board, skipped)),
    onKey: (key: string) => key === againKey && skipped.clear(),
    document: (board: TeamBoard) => board,
    texts: createSteadyTexts(Date.now),
    isEnough: (board: TeamBoard) => {
      const end = endOfTeam(board, Date.now());
      if (conversation === undefined) return end !== undefined;
      return (end !== undefined && end !== "needs-person") || nextAsked(board, skipped) !== undefined;
    },
  };
  const watch = () => watchLive(shown, watched, false);
  // A task that is over is not watched: its end is shown again.
  const first = await watched.look(call);
  const over = first.task.outcome === null ? undefined : endOfTeam(first, Date.now());
  if (over !== undefined) {
    conversation?.messages.close();
    return finish(context, call, first, over, json);
  }
  try {
    for (;;) {
      const board = await (conversation === undefined ? watch() : conversation.messages.without(watch));
      if (board === undefined) return leave(context, last, id, json);
      const asked = conversation && nextAsked(board, skipped);
      if (asked === undefined) {
        // Without a terminal the command ends: one more look, because not everything that goes on has an event.
        const now = await watched.look(call);
        const end = endOfTeam(now, Date.now());
        if (end === undefined) continue;
        return finish(context, call, now, end, json);
      }
      const end = await conversation?.ask(board, asked);
      if (end === "left") return leave(context, board, id, json, true);
      if (end === "skipped") skipped.add(asked);
    }
  } finally {
    conversation?.messages.close();
  }
}

const planQuestion = "plan";

/** The key that asks again what the person has left open. */
const againKey = "a";

/** What the person has left open, and how it is asked again; empty if nothing is. */
function leftOpen({ questions, hasPlan, task }: TeamBoard, skipped: ReadonlySet<string>): string {
  const open = [...questions.map(({ id }) => id), ...(hasPlan ? [planQuestion] : [])].filter((id) => skipped.has(id));
  if (task.outcome !== null || open.length === 0) return "";
  const what = open.includes(planQuestion) ? "The plan waits for you." : `${count(open.length, "question")} left open.`;
  return `${what} To be asked again, press ${againKey}`;
}

/** The next thing to ask the person here: the id of a question, or the plan. */
function nextAsked({ questions, hasPlan, task }: TeamBoard, skipped: ReadonlySet<string>): string | undefined {
  if (task.outcome !== null) return undefined;
  const open = questions.find(({ id }) => !skipped.has(id));
  return open?.id ?? (hasPlan && !skipped.has(planQuestion) ? planQuestion : undefined);
}

/** What a team asks: the questions of agents, and whether to carry out the plan. */
function createConversation(context: Context) {
  const messages = createMessages(process.stdin, process.stderr);
  const leaving = new AbortController();
  messages.left.addEventListener("abort", () => leaving.abort());
  const call = createOnlooker(context, leaving.signal);
  const talk = createTalk(context, call, messages);
  return {
    messages,
    async ask({ task, questions }: TeamBoard, asked: string): Promise<"left" | "skipped" | "over"> {
      const question = questions.find(({ id }) => id === asked);
      const answering = question === undefined ? askPlan(context, call, messages, task) : talk.one(question);
      const end = await answering.catch((error: unknown) => {
        // A request fails if the person leaves while it waits for the daemon.
        if (messages.left.aborted) return "left" as const;
        throw error;
      });
      return end === "left" || end === "skipped" ? end : "over";
    },
  };
}

function leave(context: Context, board: TeamBoard | undefined, id: string, json: boolean, isAsked = false): void {
  context.process.exitCode = exitCodes.detached;
  if (json) context.print(writeJson(document(board, "detached")));
  const waits = isAsked || (board !== undefined && endOfTeam(board, Date.now()) === "needs-person");
  context.say(`${waits ? "It waits for you." : "The work goes on."} To come back to it: signalbox run --resume ${id}`);
}

/** Only `run` ends with this. The other codes are in the agents' fast path, which has to stay small. */
const partlyDone = 7;

async function finish(context: Context, call: Call, board: TeamBoard, end: TeamEnd, json: boolean): Promise<void> {
  if (end === "needs-person") context.process.exitCode = exitCodes.person;
  else if (end === "partly-done") context.process.exitCode = partlyDone;
  else if (end !== "done") context.process.exitCode = exitCodes.failed;
  if (json) return context.print(writeJson(document(board, end)));
  const isDone = end === "done" || end === "partly-done";
  context.print(writeTeamSummary(board, end, context, isDone ? await whyUntested(call, board.task.id) : ""));
}

/** Why the joined work of a task was not tested; empty if it was, or if that is not known. */
async function whyUntested(call: Call, task: string): Promise<string> {
  const { events } = await call(routes.listEvents, { query: { task, limit: "1000" } }).catch(() => ({ events: [] }));
  const last = events.findLast(
    ({ type, data }) => type === "task.worked" && ["tests", "untested"].includes(`${data.word}`),
  );
  return last?.data.word === "untested" ? String(last.data.reason) : "";
}

function document(board: TeamBoard | undefined, end: TeamEnd | "detached") {
  const { task = null, pullRequest = null, questions = [], waits = [] } = board ?? {};
  return { end, task, pullRequest, questions, waits, usage: usageOfTeam(board ?? { usage: new Map() }) };
}
