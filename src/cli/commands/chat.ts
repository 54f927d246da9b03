import { type Call, Refusal } from "../../api/client.ts";
import type { QuestionView } from "../../api/questions.ts";
import { routes } from "../../api/routes.ts";
import type { EventView, TaskView } from "../../api/tasks.ts";
import { Fault } from "../../fault.ts";
import { canAsk, handIn, readInput, readWords } from "../ask.ts";
import { createOnlooker } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes, tellChange, writeFailure } from "../fast/tell.ts";
import { nameTask, shownTask } from "../find.ts";
import { createMessages, gone, type Messages } from "../messages.ts";
import { count, given, wrapMessage, writeAge, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { allEvents } from "./events.ts";
import { json, onlyProject, task } from "./parameters.ts";
import { askCancel } from "./plan-prompt.ts";

const help = `Type your answer, and press Enter. Pasted lines are one answer.
  /edit    write the answer in your editor
  /skip    leave this question open, and go on
  /cancel  cancel the task, after a yes
  /quit    leave; Ctrl-C does too. Open questions stay open
To begin an answer with a slash, type two.`;

/** Leads a person through the questions of tasks. Everything is stored by the daemon, so leaving loses nothing. */
export const chat = command({
  parameters: {
    positional: { kind: "tuple", parameters: [{ ...task, optional: true }] },
    flags: { project: onlyProject, json },
  },
  docs: {
    brief: "Answer the questions of tasks, in a conversation",
    fullDescription: `With a task, shows its conversation so far and its question, sends your answer, and waits for the next question. Without a task, goes through all open questions, the oldest first. Commands in the conversation: /edit opens your editor, /skip goes on, /cancel cancels the task after a yes, /quit or Ctrl-C leaves, /help lists them. Nothing is lost if you leave: an open question stays open.

With --json, prints the open questions and asks nothing. Without a terminal, one answer is read from stdin, for the task's question, or without a task for the only open question.

Examples:
  signalbox chat
  signalbox chat coffee#12
  echo yes | signalbox chat coffee#12

--json: { questions: [{ id, task, project, number, summary, kind, text, role, since, answer, choices, command }] }
Exit codes: 0 ok, 1 without a terminal: the answer was refused, or there is nothing to answer; 2 wrong usage, 3 no such task`,
  },
  async func({ project, json }, reference): Promise<void> {
    const leaving = new AbortController();
    const call = createOnlooker(this, leaving.signal);
    const about = reference === undefined ? undefined : await call(routes.getTask, await nameTask(call, reference));
    const open = () => openQuestions(call, given({ project, task: about?.task.id }));
    if (json) return this.print(writeJson({ questions: await open() }));
    if (!canAsk()) return answerFromInput(this, call, await open(), reference !== undefined);
    const messages = createMessages(process.stdin, process.stderr);
    messages.left.addEventListener("abort", () => leaving.abort());
    const talk = createTalk(this, call, messages);
    try {
      if (about === undefined) await talk.through(open);
      else await talk.withTask(about.task);
    } catch (error) {
      if (!messages.left.aborted) throw error;
    } finally {
      messages.close();
    }
  },
});

/** The open questions, the oldest first. */
async function openQuestions(
  call: Call,
  query: { readonly project?: string; readonly task?: string },
): Promise<readonly QuestionView[]> {
  const found: QuestionView[] = [];
  for (let before: string | undefined; ; ) {
    const page = await call(routes.listQuestions, { query: given({ ...query, before }) });
    found.push(...page.questions);
    if (page.next === null) return found.sort((a, b) => a.since.localeCompare(b.since) || a.id.localeCompare(b.id));
    before = String(page.next);
  }
}

/** Sends stdin as the answer to the only question. */
async function answerFromInput(
  context: Context,
  call: Call,
  [only, ...others]: readonly QuestionView[],
  isNamed: boolean,
): Promise<void> {
  if (only === undefined) {
    context.process.exitCode = exitCodes.failed;
    return context.say(isNamed ? "The task asks nothing now." : "No question is open.");
  }
  if (others.length > 0) {
    const names = [only, ...others].map((each) => `  signalbox chat ${each.task}`).slice(0, maxNamed);
    throw new Fault(
      "usage",
      `${count(others.length + 1, "question")} are open, and there is no terminal to choose on.`,
      {
        hint: `Name the task:\n${names.join("\n")}`,
      },
    );
  }
  showQuestion(context, only);
  const text = await readInput(context, "-");
  if (text.trim() !== "") return tellChange(context, await send(call, only, text));
  context.process.exitCode = exitCodes.failed;
  context.say(`Stdin is empty, so nothing was sent. To answer: ${only.command}`);
}

const maxNamed = 10;

/** Sends an answer, and returns what it did to the task. It names the question, so that it is never for another one. */
async function send(call: Call, { id, task, kind }: QuestionView, text: string, to?: string) {
  const about = { params: { task } };
  const body = { text: text.trim(), question: id };
  if (kind === "dialogue") return call(routes.replyTask, { ...about, body });
  return (await call(routes.answerTask, { ...about, body: given({ ...body, to }) })).change;
}

function showQuestion({ print, paint, columns }: Context, question: QuestionView): void {
  const { id, role, text, answer, choices } = question;
  const who = `${role === "" ? shownTask(question) : role} asks`;
  print(`${paint.bold(who)} ${paint.dim(`(${id}, ${writeAge(question.since, Date.now())})`)}`);
  print(indented(text, columns));
  if (answer === "confirm") print(paint.dim("  yes confirms; anything else goes back to the agent"));
  if (choices.length > 0) print(paint.dim(`  the answer can lead to ${choices.join(" or ")}`));
}

function indented(text: string, columns: number): string {
  const lines = text.trim().split("\n");
  return lines.map((line) => `  ${wrapMessage(line, columns - 2, "  ")}`.trimEnd()).join("\n");
}

/** What a person and the agents of a task have said to each other. */
export function conversation(
  events: readonly EventView[],
): readonly { readonly question: string; readonly who: string; readonly text: string }[] {
  return events.flatMap(({ type, by, data }) => {
    const [question, text] = [String(data.question ?? ""), String(data.text ?? data.message ?? "")];
    if (type === "dialogue.asked") return [{ question, who: by, text }];
    if (type !== "dialogue.answered" && type !== "task.answered") return [];
    const via = data.via === undefined ? "" : `, over ${data.via}`;
    return [{ question: "", who: data.who === undefined ? `you${via}` : `${data.who}${via}`, text }];
  });
}

type End = "sent" | "skipped" | "cancelled" | "gone" | "left";

/** Milliseconds between two looks at a task. */
const pollInterval = 500;
/** A need other than a question counts after this many looks in a row, because an agent that is starting can look dead. */
const steadyLooks = 3;
/** How often the daemon is asked whether a question was answered elsewhere. */
const goneInterval = 2_000;

/** A conversation with tasks, in a terminal. */
export function createTalk(context: Context, call: Call, messages: Messages) {
  const { say, print, paint, columns } = context;
  const never = new AbortController().signal;
  const skipped = new Set<string>();
  /** The last shown event of each task. */
  const shown = new Map<string, number>();
  let isNew = true;

  /** Shows what was said since the last time, except the open question, which is shown by itself. */
  const showLog = async (id: string, open: string, isMine = false) => {
    const events = await allEvents(call, { task: id }, shown.get(id) ?? 0);
    shown.set(id, events.at(-1)?.position ?? shown.get(id) ?? 0);
    if (isMine) return;
    for (const { question, who, text } of conversation(events))
      if (question === "" || question !== open) print(`${paint.cyan(who)}\n${indented(text, columns)}`);
  };
  const hint = () => {
    if (isNew) say("Type your answer, or /help.");
    isNew = false;
  };
  /** Fires when the question is not open any more, because it was answered elsewhere, or its task was moved. */
  const watch = (question: QuestionView) => {
    const over = new AbortController();
    const look = async () => {
      const { questions } = await call(routes.listQuestions, { query: { task: question.task } });
      if (questions[0]?.id !== question.id) over.abort();
    };
    // A look that fails is repeated.
    const timer = setInterval(() => void look().catch(() => {}), goneInterval);
    return { signal: over.signal, stop: () => clearInterval(timer) };
  };
  const chosen = async ({ choices }: QuestionView): Promise<string | undefined> => {
    if (choices.length === 0) return undefined;
    const answer = await messages.read(`Which state: ${choices.join(", ")}? `, never);
    return typeof answer === "string" ? answer.trim() : undefined;
  };
  /** Sends a text; tells why if it is refused, and the question is asked again if it is still open. */
  const sendText = async (question: QuestionView, text: string): Promise<End> => {
    try {
      const { task } = await send(call, question, text, await chosen(question));
      say(`Your answer was sent. ${shownTask(task)} is in ${task.status}.`);
      await showLog(question.task, "", true);
      return "sent";
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(writeFailure(context, error));
      return "gone";
    }
  };
  const write = async (question: QuestionView): Promise<End | undefined> => {
    const words = await messages
      .without(() => readWords(context, {}, async () => question.text))
      .catch((error) => void say(writeFailure(context, error)));
    if (words === undefined) return undefined;
    return handIn(context, words, async (text) => {
      const end = await sendText(question, text);
      // The text is kept, and its place is told.
      if (end === "gone") throw new Refusal([]);
      return end;
    }).catch((error) => {
      if (error instanceof Refusal) return "gone" as const;
      throw error;
    });
  };
  const take = async (question: QuestionView, message: string): Promise<End | undefined> => {
    const text = message.trim();
    if (text === "") return undefined;
    if (text === "/skip") return "skipped";
    if (text === "/quit") return "left";
    if (text === "/edit") return write(question);
    if (text === "/cancel") return (await askCancel(context, call, messages, question.task)) ? "cancelled" : undefined;
    if (text === "/help") return void say(help);
    if (/^\/\w*$/.test(text)) return void say(`There is no command ${text}.\n${help}`);
    return sendText(question, text.startsWith("//") ? text.slice(1) : text);
  };
  const answer = async (question: QuestionView): Promise<End> => {
    showQuestion(context, question);
    hint();
    const { signal, stop } = watch(question);
    try {
      for (;;) {
        const message = await messages.read("> ", signal);
        if (message === undefined) return "left";
        if (message === gone) {
          say("The question is not open any more.");
          return "gone";
        }
        const end = await take(question, message);
        if (end !== undefined) return end;
      }
    } finally {
      stop();
    }
  };
  const title = ({ project, number, summary }: Pick<TaskView, "project" | "number" | "summary">) =>
    print(paint.bold(`${shownTask({ project, number })} ${summary}`.trimEnd()));

  return {
    /** Goes through the open questions, and also those that are asked meanwhile. */
    async through(open: () => Promise<readonly QuestionView[]>): Promise<void> {
      for (;;) {
        const question: QuestionView | undefined = (await open()).find(({ id }) => !skipped.has(id));
        if (question === undefined) break;
        title(question);
        await showLog(question.task, question.id);
        const end = await answer(question);
        if (end === "left") return;
        if (end === "skipped") skipped.add(question.id);
      }
      say(skipped.size === 0 ? "No question is open." : `${count(skipped.size, "question")} skipped.`);
    },
    /** Asks one question. Afterwards it may still be open: skipped, or refused with a reason that the person was told. */
    async one(question: QuestionView): Promise<End> {
      title(question);
      await showLog(question.task, question.id);
      return answer(question);
    },
    /** Stays in the conversation of one task until it needs something else, or ends. */
    async withTask(first: TaskView): Promise<void> {
      title(first);
      for (;;) {
        const question = await nextQuestion(first.id);
        if (question === undefined) return;
        await showLog(first.id, question.id);
        const end = await answer(question);
        if (end === "left" || end === "skipped") return;
      }
    },
  };

  /** Waits for the next question of a task; undefined if none will come before a person does something else. */
  async function nextQuestion(id: string): Promise<QuestionView | undefined> {
    let needed = 0;
    for (let looks = 0; !messages.left.aborted; looks++) {
      const { questions } = await call(routes.listQuestions, { query: { task: id } });
      if (questions[0] !== undefined) return questions[0];
      const { task } = await call(routes.getTask, { params: { task: id } });
      const [need] = task.needs;
      needed = need === undefined ? 0 : needed + 1;
      if (task.outcome !== null || needed >= steadyLooks) {
        await showLog(id, "");
        if (task.outcome !== null) say(`The task has ended in ${task.status}.`);
        else if (need !== undefined) say(`The task needs you: ${need.brief}${need.command && `\n${need.command}`}`);
        return undefined;
      }
      if (looks === 0)
        say(paint.dim(`${shownTask(task)} is in ${task.status}. Waiting for its next message; Ctrl-C leaves.`));
      if (await isLeft(task)) return undefined;
    }
    return undefined;
  }

  /** Waits for a moment, in which the person can leave or cancel the task. */
  async function isLeft(task: TaskView): Promise<boolean> {
    const message = await messages.read("", AbortSignal.timeout(pollInterval));
    if (typeof message !== "string") return message === undefined;
    const text = message.trim();
    if (text === "/cancel") await askCancel(context, call, messages, task.id);
    else if (text !== "" && text !== "/quit" && text !== "/skip")
      say("The agent is at work, so this was not sent. /cancel cancels the task, /quit leaves.");
    return text === "/quit" || text === "/skip";
  }
}
