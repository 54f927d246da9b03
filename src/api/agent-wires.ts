import { boolean, integer, list, nullable, number, oneOf, record, type TypeOf, text } from "./wire.ts";

export const usageWire = record({
  inputTokens: integer(0),
  outputTokens: integer(0),
  cachedTokens: integer(0),
  /** US dollars; null where nobody told: unknown is not zero. */
  cost: nullable(number),
});

/** One execution of an agent, as it is known now. */
export const runWire = record({
  id: text,
  task: text,
  project: text,
  /** The task's number and summary. */
  number: integer(0),
  summary: text,
  key: text,
  role: text,
  /** The slot that it is performed by; empty where there is none. */
  agent: text,
  harness: text,
  model: text,
  mode: text,
  session: text,
  window: text,
  pid: integer(0),
  folder: text,
  /** waiting: it may not start yet. unknown: nobody can tell. */
  activity: oneOf("waiting", "starting", "busy", "idle", "asks", "unknown", "ended"),
  since: text,
  /** The last sign of life. */
  signAt: text,
  /** What it is at, what it asks, or why it waits or ended. */
  what: text,
  /** Why a person should look; empty where nobody has to. */
  raised: text,
  messagesWaiting: integer(0),
  watchers: integer(0),
  startedAt: text,
  endedAt: nullable(text),
  word: text,
  usage: usageWire,
});
export type RunView = TypeOf<typeof runWire>;

export const screenWire = record({
  run: text,
  role: text,
  harness: text,
  /** screen: what its terminal shows. output: what it has printed. */
  source: oneOf("screen", "output"),
  text,
  /** Where to go on reading; of a screen the length of what was shown. */
  next: integer(0),
  isOver: boolean,
});

export const attachWire = record({
  run: text,
  argv: list(text),
  set: list(record({ name: text, value: text })),
  unset: list(text),
  hint: text,
});

const messageFields = {
  id: text,
  from: text,
  to: text,
  text,
  at: text,
  /** waiting: the agent is busy. undelivered: a person has to see to it. */
  state: oneOf("waiting", "delivered", "typed", "undelivered"),
  problem: text,
};
export const messageWire = record(messageFields);
export type MessageView = TypeOf<typeof messageWire>;

/** A message that was taken. `waitsFor`: what its run waits for before it is started; empty where it is there. */
export const sentWire = record({ ...messageFields, waitsFor: text });
export type SentView = TypeOf<typeof sentWire>;

export const harnessWire = record({
  name: text,
  title: text,
  found: boolean,
  path: text,
  version: text,
  hint: text,
  /** Whether somebody is logged in, as far as can be told without starting it; what to do where nobody is. */
  login: oneOf("in", "out", "unknown"),
  loginHint: text,
  /** Until when its provider takes no more; null where it does. */
  limitedUntil: nullable(text),
  atWork: integer(0),
  can: record({
    session: boolean,
    turn: boolean,
    resume: boolean,
    namesSession: boolean,
    model: boolean,
    effort: boolean,
    reduced: oneOf("enforced", "asked"),
    withholds: list(text),
    toolsByName: boolean,
    schema: boolean,
    system: boolean,
    mcp: boolean,
    acknowledges: oneOf("hook", "transcript", "stream", "no"),
    tokens: boolean,
    cost: boolean,
  }),
});
export type HarnessView = TypeOf<typeof harnessWire>;

/** A named slot. */
export const agentWire = record({
  name: text,
  project: text,
  harness: text,
  model: text,
  state: oneOf("idle", "ready", "working", "done", "stuck"),
  /** The task that it is for; empty where there is none. */
  task: text,
  reason: text,
  runs: integer(0),
  usage: usageWire,
});
export type AgentView = TypeOf<typeof agentWire>;

export const usageRowWire = record({
  key: text,
  /** As people call it. */
  name: text,
  runs: integer(0),
  inputTokens: integer(0),
  outputTokens: integer(0),
  cachedTokens: integer(0),
  cost: number,
  /** Runs whose cost nobody told. */
  unknown: integer(0),
  /** Milliseconds. */
  duration: integer(0),
});
export type UsageRow = TypeOf<typeof usageRowWire>;

export const pausedWire = record({
  all: boolean,
  projects: list(text),
  /** Agents whose programs were ended. */
  ended: integer(0),
  /** Commands of tasks, such as tests, that were ended; they are run again. */
  commands: integer(0),
  /** Those whose programs could not be ended, and why. */
  failed: list(record({ run: text, problem: text })),
});
