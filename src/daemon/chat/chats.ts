import type { Need } from "../../engine/needs.ts";
import type { Question } from "../../engine/questions.ts";
import type { Task } from "../../engine/task.ts";
import { Fault, retryAtOf, tell } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import type { Chat } from "../../ports/chat.ts";
import type { CallRecord, ChatQuestion } from "../../ports/records.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { cutText } from "../../text.ts";
import { quietUntil } from "../needs/tell-calls.ts";
import { outcomeOf } from "../questions/questions.ts";

/** A chat service with the chats that may read questions and answer them. */
export interface OpenChat {
  readonly chat: Chat;
  readonly allowed: readonly string[];
}

/** Sends every open question once to every allowed chat, and tells these chats when it is no longer open. */
export interface Chats {
  /** The current needs of a task. A new question is stored before it is sent. */
  found(stored: StoredTask, needs: readonly Need[]): Promise<void>;
  /** Whether a chat has received the question that a call is for: then the person is not called for it again. */
  hasSent(call: Pick<CallRecord, "id">): boolean;
  /**
   * Resolves when what is being sent has arrived and is recorded: a reply can come before the chat service has told the id of
   * the message with the question.
   */
  sending(): Promise<void>;
  /** Sends a text that is not stored, such as the reason why an answer was refused. */
  tell(chat: string, text: string, replyTo?: number): Promise<void>;
  /** Something went wrong, or works again. */
  noted(where: string, error: unknown): void;
  /** Milliseconds until the next attempt at something that fails; 0 if it does not fail. */
  pauseFor(where: string): number;
  problem(): string;
  /** The tasks with a question that a chat has not received although it was tried. */
  undelivered(): readonly string[];
  /** The settings have changed: what failed is tried again. */
  wake(): void;
  /** After a start: continues with what an earlier daemon has not sent. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

interface ChatPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** Undefined where no chat is configured. Throws a Fault where it is configured wrongly. */
  open(): OpenChat | undefined;
  /** The hours in which messages make no sound, such as `22:00-07:00`. */
  quiet(): string;
  onError(error: unknown): void;
}

/** A question that passes within this time is not sent, and its end is not told before it is sure. */
const debounce = 1_000;
/** What the problem of a wrong setting is noted for, in place of a chat. */
const settings = "settings";
const firstPause = 5_000;
const maxPause = 5 * 60_000;
/** A longer question is cut, so that the lines after it arrive too. */
const maxQuestion = 3_500;

export function createChats(ports: ChatPorts): Chats {
  const { store, clock } = ports;
  /** Questions that are open, or whose end must still be told. */
  const rows = new Map<string, ChatQuestion>();
  /** The texts of open questions. They are not stored a second time. */
  const texts = new Map<string, string>();
  const sentNeeds = new Set<string>();
  const troubles = new Map<string, { readonly problem: string; readonly tries: number; readonly until: number }>();
  const inTurn = createTurns();
  let cancel = () => {};
  let isStopped = false;
  let underWay: Promise<void> | undefined;
  let isAgain = false;

  const remember = (row: ChatQuestion) => {
    rows.set(row.id, row);
    if (Object.keys(row.sent).length > 0) sentNeeds.add(row.need);
  };
  const put = async (row: ChatQuestion) => {
    await store.chatQuestions.put(row);
    remember(row);
  };
  const forget = ({ id, need }: ChatQuestion) => {
    rows.delete(id);
    sentNeeds.delete(need);
  };
  const opened = (): OpenChat | "broken" | undefined => {
    try {
      const found = ports.open();
      troubles.delete(settings);
      return found;
    } catch (error) {
      noted(settings, error);
      return "broken";
    }
  };
  const noted = (where: string, error: unknown) => {
    if (error === undefined) return void troubles.delete(where);
    const tries = (troubles.get(where)?.tries ?? 0) + 1;
    const pause = Math.min(firstPause * 2 ** (tries - 1), maxPause);
    const until = Math.max(clock.now() + pause, retryAtOf(error) ?? 0);
    troubles.set(where, { problem: error instanceof Fault ? tell(error) : String(error), tries, until });
    if (!(error instanceof Fault)) ports.onError(error);
  };

  const begin = async ({ task }: StoredTask, { key }: Need, id: string) => {
    const now = clock.now();
    const before = rows.get(id) ?? (await store.chatQuestions.get(id));
    if (before?.isOpen) return remember(before);
    const { id: owner, project } = task;
    // A question that came back is sent again to the chats that were told that it is over.
    const kept = Object.entries(before?.sent ?? {}).filter(([, { isClosed }]) => !isClosed);
    const sent = Object.fromEntries(kept);
    await put({ id, project, task: owner, at: before?.at ?? now, need: key, isOpen: true, changedAt: now, sent });
  };

  /** Sends what is owed to one chat. Returns when to continue. */
  const deliver = async ({ chat: service }: OpenChat, chat: string, row: ChatQuestion): Promise<number | undefined> => {
    const sent = row.sent[chat];
    const text = texts.get(row.id);
    // After a start, the needs of its task are not known yet.
    if (row.isOpen && text === undefined) return undefined;
    if (row.isOpen ? sent !== undefined : sent === undefined || sent.isClosed) return undefined;
    const now = clock.now();
    const due = Math.max(row.changedAt + debounce, troubles.get(chat)?.until ?? 0);
    if (due > now) return due;
    const stored = await store.getTask(row.task);
    if (stored === undefined) return void forget(row);
    try {
      const isSilent = quietUntil(ports.quiet(), now) !== undefined;
      const asking = text === undefined ? undefined : { chat, text, isSilent };
      const closing = { chat, text: await outcomeOf(store, stored.task, row.id), isSilent: true };
      const id = await service.send(row.isOpen && asking ? asking : { ...closing, ...replyTo(sent?.message) });
      const message = sent?.message ?? id;
      noted(chat, undefined);
      const latest = rows.get(row.id) ?? row;
      await put({ ...latest, sent: { ...latest.sent, [chat]: { message, isClosed: !row.isOpen } } });
      return undefined;
    } catch (error) {
      noted(chat, error);
      return troubles.get(chat)?.until;
    }
  };

  const deliverAll = async (): Promise<number | undefined> => {
    const found = opened();
    if (found === undefined) return undefined;
    if (found === "broken") return troubles.get(settings)?.until;
    let next: number | undefined;
    for (const row of [...rows.values()]) {
      for (const chat of found.allowed) {
        const at = isStopped ? undefined : await deliver(found, chat, rows.get(row.id) ?? row);
        if (at !== undefined) next = Math.min(next ?? at, at);
      }
      const latest = rows.get(row.id);
      const isDone = ({ sent }: ChatQuestion) => found.allowed.every((chat) => sent[chat]?.isClosed !== false);
      if (latest !== undefined && !latest.isOpen && isDone(latest)) forget(latest);
    }
    return next;
  };
  const wake = () => {
    if (isStopped) return;
    cancel();
    isAgain = underWay !== undefined;
    if (isAgain) return;
    underWay = deliverAll()
      .catch((error) => {
        ports.onError(error);
        return clock.now() + firstPause;
      })
      .then((at) => {
        underWay = undefined;
        if (isAgain) return wake();
        if (at === undefined || isStopped) return;
        cancel = clock.after(Math.max(at - clock.now(), 0), wake);
      });
  };

  return {
    found: (stored, needs) =>
      inTurn(stored.task.id, async () => {
        const asking = stored.isOpen ? needs.find(({ question }) => question !== undefined) : undefined;
        const question = asking?.question;
        for (const row of rows.values())
          if (row.task === stored.task.id && row.isOpen && row.id !== question?.id) {
            texts.delete(row.id);
            await put({ ...row, isOpen: false, changedAt: clock.now() });
          }
        if (asking !== undefined && question !== undefined && opened() !== undefined) {
          texts.set(question.id, messageText(stored.task, question));
          await begin(stored, asking, question.id);
        }
        wake();
      }),
    hasSent: ({ id }) => sentNeeds.has(id),
    sending: async () => underWay,
    async tell(chat, text, replyTo) {
      try {
        const found = opened();
        if (found === undefined || found === "broken") return;
        await found.chat.send({ chat, text, ...(replyTo === undefined ? {} : { replyTo }) });
        noted(chat, undefined);
      } catch (error) {
        noted(chat, error);
      }
    },
    noted,
    pauseFor: (where) => Math.max(0, (troubles.get(where)?.until ?? 0) - clock.now()),
    problem: () => [...troubles.values()].at(-1)?.problem ?? "",
    undelivered() {
      const late = [...rows.values()].filter(({ isOpen, sent }) => isOpen && Object.keys(sent).length === 0);
      return troubles.size === 0 ? [] : [...new Set(late.map(({ task }) => task))];
    },
    wake() {
      troubles.clear();
      wake();
    },
    async recover() {
      for (const row of await store.chatQuestions.list({}))
        if (row.isOpen || Object.values(row.sent).some(({ isClosed }) => !isClosed)) remember(row);
      // A task that has ended is not looked at again.
      for (const row of [...rows.values()])
        if (row.isOpen && (await store.getTask(row.task))?.isOpen !== true)
          await put({ ...row, isOpen: false, changedAt: clock.now() });
      wake();
    },
    async stop() {
      isStopped = true;
      cancel();
      await underWay;
    },
  };
}

function replyTo(message: number | undefined): { readonly replyTo?: number } {
  return message === undefined ? {} : { replyTo: message };
}

/** The message with a question. */
function messageText({ id, project, number, summary }: Task, question: Question): string {
  const { role, text, answer, choices } = question;
  const asked =
    text.length > maxQuestion ? `${cutText(text, maxQuestion)}\n(signalbox chat ${id} shows all of it)` : text;
  const how =
    choices.length > 0
      ? `The answer chooses a state, so it needs a command: ${choices.map((to) => `signalbox task answer ${id} --status ${to}`).join(" or ")}`
      : answer === "confirm"
        ? "Reply with yes to confirm; anything else goes back to the agent."
        : "Reply to this message to answer.";
  const head = `${project}#${number} ${summary}`.trimEnd();
  return `${head}\n${role === "" ? "Question" : `${role} asks`} ${question.id}:\n\n${asked}\n\n${how}`;
}
