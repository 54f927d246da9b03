import type { MessageView, SentView } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TypeOf } from "../../api/wire.ts";
import { Fault } from "../../fault.ts";
import { shellWord } from "../../shell-quote.ts";
import { readInput } from "../ask.ts";
import { createCall, createOnlooker } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { type NamedTask, nameTask, projectHere } from "../find.ts";
import { createScreenLog, pause, printOutput, runInTerminal, unlessInterrupted, untilInterrupted } from "../screen.ts";
import { given, writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import {
  color,
  flag,
  json,
  numberFlag,
  oneTask,
  optionalWord,
  raw,
  task,
  taskExitCodes,
  textFlag,
} from "./parameters.ts";

const role = textFlag(
  "R",
  "The agent with this role, or this run such as reviewer#2; otherwise the one that is working",
);

/** An agent's screen, as the API returns it. */
const screenForm = "{ run, role, harness, source, text, next, isOver }";

export const attach = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...task, optional: true, brief: `${task.brief}; without one, the only task with a terminal` }],
    },
    flags: { role },
  },
  docs: {
    brief: "Show a task's agent in this terminal, and talk to it",
    fullDescription: `F12, or Ctrl-Q and then d, brings you back; the agent continues. If its program has ended, you see its last screen, and the command says so. Inside your own tmux the agent is shown in a pane of it. Without a terminal, the command that would have been run is printed.

Examples:
  signalbox task attach coffee#12
  signalbox task attach coffee/stronger-coffee --role reviewer

Exit codes: 0 ok, 1 there is no terminal here, or the agent cannot be shown, 2 wrong usage, 3 no such task or agent`,
  },
  async func({ role }, reference) {
    const call = createCall(this);
    const named = reference === undefined ? await onlyTask(call) : await nameTask(call, reference);
    const tmux = process.env.TMUX || undefined;
    const { run, argv, set, unset, hint } = await call(routes.attachTask, { ...named, body: given({ role, tmux }) });
    if (!process.stdin.isTTY || !process.stdout.isTTY) {
      this.say("This is not a terminal, so the agent cannot be shown here. In a terminal, run:");
      const changes = [...unset.map((name) => `-u ${name}`), ...set.map(({ name, value }) => `${name}=${value}`)];
      this.print(
        ["env", ...changes, ...argv].map((word) => (word.startsWith("-u ") ? word : shellWord(word))).join(" "),
      );
      this.process.exitCode = exitCodes.failed;
      return;
    }
    this.say(hint);
    const failure = await runInTerminal(argv, { ...changedBy(set), ...Object.fromEntries(unset.map(emptied)) });
    if (failure === undefined) return this.say(`You are back. ${await howItGoesOn(call, named, run)}`);
    throw new Fault("attach", `The terminal could not be shown: ${argv[0]} ${failure}.`, {
      hint: "Check the daemon's environment: signalbox doctor",
    });
  },
});

/** Whether the agent that the person has left continues; it may have ended in front of them. */
async function howItGoesOn(call: Call, named: NamedTask, key: string): Promise<string> {
  const query = { ...named.query, task: named.params.task, all: "true" } as const;
  const { runs } = await call(routes.listRuns, { query });
  const run = runs.find((each) => each.key === key);
  if (run?.endedAt === null && run.activity !== "ended") return "The agent continues.";
  const again = run === undefined ? "" : ` To bring it back: signalbox task respawn ${run.task}`;
  return `${key} has ended.${again}`;
}

function changedBy(set: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(set.map(({ name, value }) => [name, value] as const));
}

const emptied = (name: string) => [name, undefined] as const;

/** Without a task, the command means the only one whose agent has a terminal. */
async function onlyTask(call: Call): Promise<NamedTask> {
  const project = (await projectHere(call))?.name;
  const { runs } = await call(routes.listRuns, { query: given({ project }) });
  const shown = runs.filter(({ mode, pid }) => mode === "session" && pid > 0);
  const [only, ...others] = [...new Set(shown.map(({ task }) => task))];
  if (only !== undefined && others.length === 0) return { params: { task: only }, query: {} };
  const where = project === undefined ? "" : ` in ${project}`;
  if (only === undefined)
    throw new Fault("run.missing", `No agent${where} has a terminal now.`, { hint: "See all: signalbox agent ps" });
  const names = [...new Set(shown.map((run) => `${run.project}#${run.number}`))];
  throw new Fault("usage", `Several tasks${where} have an agent with a terminal: ${names.join(", ")}.`, {
    hint: `Name one, such as: signalbox task attach ${names[0]}`,
  });
}

export const send = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [task, optionalWord("TEXT|-", "The message; without it, or with -, it is read from stdin")],
    },
    flags: { role, wait: flag("Wait until the message has arrived, or needs a person"), json },
  },
  docs: {
    brief: "Send a message to a task's agent",
    fullDescription: `The message is delivered when the agent is ready for input: not while it is busy, and never into a dialog. Several messages arrive one after the other, each once. An agent that is not started yet gets the message after its start; waitsFor says what it waits for.

Prints waiting, delivered, typed (its harness does not confirm the arrival) or undelivered.

--json: { id, from, to, text, at, state, problem, waitsFor }
${taskExitCodes("refused, or with --wait: not delivered")}`,
  },
  async func({ role, wait, json }, reference, words = "-") {
    const text = words === "-" ? await readInput(this, "-") : words;
    const call = createOnlooker(this);
    const named = await nameTask(call, reference);
    const sent = await call(routes.sendMessage, { ...named, body: given({ text, role }) });
    if (wait && sent.waitsFor !== "") this.say(sent.waitsFor);
    const message = wait ? { ...sent, ...(await settled(call, named, sent)) } : sent;
    if (message.state === "undelivered" || (wait && message.state === "waiting"))
      this.process.exitCode = exitCodes.failed;
    if (json) return this.print(writeJson(message));
    this.print(message.state);
    this.say(explained(message, reference, wait));
  },
});

const sendInterval = 300;

/** Polls until the message has arrived, was given up, or its run has ended. */
async function settled(call: Call, named: NamedTask, sent: MessageView): Promise<MessageView> {
  let message = sent;
  while (message.state === "waiting") {
    await pause(sendInterval);
    const { task } = named.params;
    const { runs } = await call(routes.listRuns, { query: { task, ...named.query } });
    const { messages } = await call(routes.listMessages, named);
    message = messages.find(({ id }) => id === sent.id) ?? message;
    if (!runs.some(({ key }) => key === message.to)) break;
  }
  return message;
}

function explained({ state, to, problem, waitsFor }: SentView, reference: string, hasWaited: boolean): string {
  switch (state) {
    case "waiting":
      if (!hasWaited && waitsFor !== "")
        return `The message is kept, and delivered to ${to} after its start. ${waitsFor}`;
      return hasWaited
        ? `${to} ended before the message could be delivered. To restart it: signalbox task respawn ${reference}`
        : `${to} gets the message when it is ready for input. To see what it is doing: signalbox task peek ${reference}`;
    case "delivered":
      return `The message has arrived in the conversation of ${to}.`;
    case "typed":
      return `The message was typed into the terminal of ${to}, whose harness does not confirm that it has arrived.`;
    case "undelivered":
      return `${problem} To see what ${to} is doing: signalbox task attach ${reference}`;
  }
}

type Screen = TypeOf<typeof routes.getScreen.answer>;

const pollInterval = 500;

/** The length of the scrollback of agents' terminals. */
const allLines = "10000";

export const logs = command({
  parameters: {
    positional: oneTask,
    flags: { role, follow: flag("Keep printing new output until the agent ends"), raw, color },
  },
  docs: {
    brief: "Print the whole output of a task's agent",
    fullDescription: `For an agent in a terminal, this is its screen and the scrollback; with --follow, a line of the screen is printed when it no longer changes. For an agent without a terminal, it is its prompts (>), the tools it used (·), what it said and its errors (!), then what its program printed on its other channel. Terminal control sequences are removed.

Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such task or agent`,
  },
  async func({ role, follow, color, raw }, reference) {
    const ending = untilInterrupted();
    const call = createOnlooker(this, ending);
    const about = await nameTask(call, reference);
    const printing = { ...about, which: given({ role }), follow, color, raw, ending };
    await printRun(this, call, printing).catch(unlessInterrupted(ending));
  },
});

interface Printing extends NamedTask {
  readonly which: { readonly role?: string; readonly run?: string };
  readonly follow: boolean;
  readonly color: boolean;
  /** Print the output unchanged, for other programs. */
  readonly raw: boolean;
  readonly ending: AbortSignal;
}

/** Prints the output or the screen of one run and, if `follow` is set, new output until the run ends. */
export async function printRun(context: Context, call: Call, printing: Printing): Promise<void> {
  const { params, query, which, follow, color, raw, ending } = printing;
  const asked = { ...query, ...which, lines: allLines, styled: String(color), told: String(!raw) };
  const look = (more: { readonly from?: string; readonly run?: string; readonly errors?: string }) =>
    call(routes.getScreen, { params, query: { ...asked, ...more } });
  const first = await look({});
  const tell = (text: string) => printOutput(context, text, color);
  const again = (from: number) => look({ run: first.run, from: String(from) });
  if (first.source === "output") {
    await printed(first, again, tell, follow, ending);
    if (raw) return;
    const errors = (from: number) => look({ run: first.run, from: String(from), errors: "true" });
    const complaint = await errors(0);
    if (complaint.text.trim() === "") return;
    context.say(context.talkPaint.dim(`${first.run}, on its other channel:`));
    return printed(complaint, errors, tell, false, ending);
  }
  if (!follow) {
    tell(first.text.trimEnd());
    if (first.text.trim() === "") context.say(`The screen of ${first.run} is empty or gone.`);
    return;
  }
  const log = createScreenLog();
  for (let screen = first; ; screen = await again(0)) {
    const isOver = screen.isOver || ending.aborted;
    tell(log.take(screen.text, isOver));
    if (isOver) return;
    await pause(pollInterval, ending);
  }
}

/** Shows only whole lines while more can come: a terminal control sequence may be split across two reads. */
async function printed(
  first: Screen,
  again: (from: number) => Promise<Screen>,
  tell: (text: string) => void,
  follow: boolean,
  ending: AbortSignal,
): Promise<void> {
  let rest = "";
  let from = 0;
  for (let part = first; ; part = await again(from)) {
    const text = rest + part.text;
    const isNews = part.next > from;
    from = part.next;
    const isLast = !isNews && (!follow || part.isOver || ending.aborted);
    const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    tell(text.slice(0, end));
    if (isLast) return;
    if (!isNews) await pause(pollInterval, ending);
  }
}

/** For an agent without a terminal: about one screen. */
const defaultLines = 40;

const peekFlags = {
  role,
  lines: numberFlag("N", "Also show this many lines of the scrollback", 1, 10_000),
  color,
  json,
} as const;

type PeekFlags = FlagsOf<typeof peekFlags>;

export const peek = command({
  parameters: {
    positional: oneTask,
    flags: peekFlags,
  },
  docs: {
    brief: "Show the current screen of a task's agent",
    fullDescription: `For an agent without a terminal, this is the end of its output: > its prompts, · the tools it uses, and what it says; with --json, the end of its raw output. Terminal control sequences are removed.

--json: ${screenForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such task or agent`,
  },
  func(flags, reference) {
    return showScreen(this, flags, reference);
  },
});

/** Shows the current screen of an agent of a task. */
export async function showScreen(context: Context, { role, lines, color, json }: PeekFlags, reference: string) {
  const call = createCall(context);
  const { params, query } = await nameTask(call, reference);
  const asked = {
    ...query,
    ...given({ role, lines: lines?.toString() }),
    styled: String(color),
    end: "true",
    told: String(!json),
  };
  const screen = await call(routes.getScreen, { params, query: asked });
  if (json) return context.print(writeJson(screen));
  const text = screen.source === "screen" ? screen.text : lastLines(screen.text, lines ?? defaultLines);
  const shown = text.trimEnd();
  if (shown !== "") return printOutput(context, shown, color);
  const why = screen.isOver ? "has ended, and its window is gone" : "shows nothing yet";
  context.say(`${screen.run} ${why}. To see what happened: signalbox task history ${reference}`);
}

function lastLines(text: string, most: number): string {
  return text.trimEnd().split("\n").slice(-most).join("\n");
}
