import { type Call, Refusal } from "../../api/client.ts";
import type { PlanView } from "../../api/person.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { Fault } from "../../fault.ts";
import type { Context } from "../context.ts";
import { tellChange, writeFailure } from "../fast/tell.ts";
import { shownTask } from "../find.ts";
import { gone, type Messages } from "../messages.ts";
import { count, listed } from "../text.ts";
import { changed, type KeptDraft, showPlan } from "./task-plan.ts";

/** `gone`: the plan was answered elsewhere, or the task has moved. */
type PlanEnd = "left" | "skipped" | "decided" | "gone";

const question = "Carry it out? [yes/edit/later/cancel] ";
const help =
  "yes starts the engineers; edit opens the plan in your editor; later leaves it open; cancel cancels the task, after a yes";

/** The longest shown description, in lines. `task plan` shows all. */
const maxLines = 6;

/** Shows the plan of a task, and asks whether to carry it out. A yes is for the plan that was shown, and for no other. */
export async function askPlan(context: Context, call: Call, messages: Messages, task: TaskView): Promise<PlanEnd> {
  const { say, print, paint } = context;
  const about = { params: { task: task.id }, query: {} };
  const kept: KeptDraft = { draft: undefined };
  const show = async (): Promise<PlanView | undefined> => {
    const plan = await call(routes.getPlan, { ...about, query: { shown: "true" } });
    if (!plan.canChange) return undefined;
    print(paint.bold(`The plan of ${shownTask(task)} ${task.summary}`));
    showPlan(context, plan, maxLines);
    return plan;
  };
  const over = async (): Promise<PlanEnd> => {
    const now = await call(routes.getTask, about);
    say(`The plan waits for you no more: it was answered elsewhere, and ${shownTask(task)} is in ${now.task.status}.`);
    return "gone";
  };
  let plan = await show();
  for (;;) {
    if (plan === undefined) return over();
    const shown: PlanView = plan;
    const words = await readWhile(messages, () => isPresent(call, shown));
    if (words === undefined) return "left";
    if (words === gone) {
      plan = await showAgain();
      continue;
    }
    const wish = words.trim().toLowerCase();
    if (wish === "later") return "skipped";
    const act = actOf(wish === "y" ? "yes" : wish, shown);
    if (act === undefined) {
      say(help);
      continue;
    }
    const isDecided = await act().catch(async (error: unknown) => {
      if (!(error instanceof Fault) && !(error instanceof Refusal)) throw error;
      say(writeFailure(context, error));
      return false;
    });
    if (isDecided) return "decided";
    // A refusal, a changed mind or an editor that fails changes nothing. The plan is shown again, as it is then.
    plan = await showAgain(shown);
  }

  async function showAgain(before?: PlanView): Promise<PlanView | undefined> {
    const now = await call(routes.getPlan, about);
    if (now.canChange && before?.fingerprint === now.fingerprint) return before;
    if (now.canChange) say("The plan has changed. This is the plan now:");
    return show();
  }

  function actOf(wish: string, shown: PlanView): (() => Promise<boolean>) | undefined {
    const acts: Readonly<Record<string, () => Promise<boolean>>> = {
      async yes() {
        await call(routes.approveTask, { ...about, body: { plan: shown.fingerprint } });
        return true;
      },
      async edit() {
        await messages.without(() => changed(context, call, about, shown, { edit: true, file: undefined }, kept));
        return false;
      },
      cancel: async () => (await isPresent(call, shown)) && askCancel(context, call, messages, task.id),
    };
    return Object.hasOwn(acts, wish) ? acts[wish] : undefined;
  }
}

/** How often the prompt looks whether the plan is still the one that it has shown, in milliseconds. */
const pollInterval = 1_000;

/** Reads an answer; `gone` once the question is out of date. */
async function readWhile(messages: Messages, isOpen: () => Promise<boolean>) {
  const over = new AbortController();
  const look = async () => {
    if (!(await isOpen())) over.abort();
  };
  // A look that fails is repeated.
  const timer = setInterval(() => void look().catch(() => {}), pollInterval);
  try {
    return await messages.read(question, over.signal);
  } finally {
    clearInterval(timer);
  }
}

async function isPresent(call: Call, { task, fingerprint }: PlanView): Promise<boolean> {
  const now = await call(routes.getPlan, { params: { task } });
  return now.canChange && now.fingerprint === fingerprint;
}

/** Says what cancelling a task ends, asks, and does it. A task that moves in the meantime is not cancelled. */
export async function askCancel(context: Context, call: Call, messages: Messages, id: string): Promise<boolean> {
  const { say } = context;
  const about = { params: { task: id } };
  const { task, entry } = await call(routes.getTask, about);
  const answer = await messages.read(`${await cancelQuestion(call, task)} [y/N] `, new AbortController().signal);
  if (typeof answer !== "string" || !/^y(es)?$/i.test(answer.trim())) {
    say("Nothing was cancelled.");
    return false;
  }
  const now = await call(routes.getTask, about);
  if (now.entry !== entry) {
    const moved = `Nothing was cancelled: ${shownTask(task)} has moved to ${now.task.status} in the meantime.`;
    say(now.task.outcome === null ? `${moved} To cancel it there: signalbox task cancel ${id}` : moved);
    return false;
  }
  tellChange(context, await call(routes.cancelTask, { ...about, body: {} }));
  return true;
}

/** `Cancel coffee#1 Add dark mode? It is in PLANNED. That ends 2 agents and 3 open parts.` */
async function cancelQuestion(call: Call, task: TaskView): Promise<string> {
  const { runs } = await call(routes.listRuns, { query: { project: task.project } });
  const open = (task.children?.parts ?? []).filter(({ state }) => state === "running" || state === "waiting");
  const ids = new Set([task.id, ...open.map((part) => part.id)]);
  const agents = runs.filter((run) => ids.has(run.task) && run.activity !== "ended").length;
  const ends = [
    ...(agents === 0 ? [] : [count(agents, "agent")]),
    ...(open.length === 0 ? [] : [count(open.length, "open part")]),
  ];
  const what = ends.length === 0 ? "No agent is at work." : `That ends ${listed(ends)}.`;
  return `Cancel ${shownTask(task)} ${task.summary}? It is in ${task.status}. ${what}`;
}
