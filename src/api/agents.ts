import { route } from "./client.ts";
import { budgetFields, changeWire } from "./tasks.ts";
import { boolean, integer, list, map, nullable, number, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const usageWire = record({
  inputTokens: integer(0),
  outputTokens: integer(0),
  cachedTokens: integer(0),
  /** US dollars; null if the harness did not report it: unknown is not zero. */
  cost: nullable(number),
});

/** One execution of an agent, in its latest known state. */
const runWire = record({
  id: text,
  task: text,
  project: text,
  /** The task's number and summary. */
  number: integer(0),
  summary: text,
  key: text,
  role: text,
  /** The named agent that performs it; empty if there is none. */
  agent: text,
  harness: text,
  model: text,
  mode: text,
  session: text,
  window: text,
  pid: integer(0),
  folder: text,
  /** Whether it was started in a sandbox. */
  sandbox: boolean,
  /** waiting: it may not start yet. unknown: there is no evidence. */
  activity: oneOf("waiting", "starting", "busy", "idle", "asks", "unknown", "ended"),
  since: text,
  /** The last sign of life. */
  signAt: text,
  /** What it is doing, what it asks, or why it waits or ended. */
  what: text,
  /** Why it needs a person; empty if it does not. */
  raised: text,
  messagesWaiting: integer(0),
  watchers: integer(0),
  startedAt: text,
  endedAt: nullable(text),
  word: text,
  /** completed: it ended well, or had said that its work was complete. stopped: it was ended, or lost with its machine. */
  status: oneOf("waiting", "running", "completed", "failed", "stopped"),
  /** What it said when its work was complete; empty if it did not. */
  report: text,
  /** Why it failed; empty if it did not. */
  error: text,
  /** Milliseconds from its start to its end, or until now. */
  duration: integer(0),
  usage: usageWire,
});
export type RunView = TypeOf<typeof runWire>;

const screenWire = record({
  run: text,
  role: text,
  harness: text,
  /** screen: the content of its terminal. output: everything it has printed. */
  source: oneOf("screen", "output"),
  text,
  /** Where to continue reading; for a screen, the length of the text. */
  next: integer(0),
  isOver: boolean,
});

const attachWire = record({
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
  /** waiting: the agent is busy. undelivered: a person must deal with it. */
  state: oneOf("waiting", "delivered", "typed", "undelivered"),
  problem: text,
};
const messageWire = record(messageFields);
export type MessageView = TypeOf<typeof messageWire>;

/** An accepted message. `waitsFor`: what its run waits for before it is started; empty if the run has been started. */
const sentWire = record({ ...messageFields, waitsFor: text });
export type SentView = TypeOf<typeof sentWire>;

const harnessWire = record({
  name: text,
  title: text,
  found: boolean,
  path: text,
  version: text,
  hint: text,
  /** Whether the harness is logged in, checked without starting it, and how to log in if not. */
  login: oneOf("in", "out", "unknown"),
  loginHint: text,
  /** When its provider's limit ends; null if no limit is reached. */
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

/** Whether agents run in a sandbox on this machine. */
const sandboxWire = record({
  setting: oneOf("auto", "on", "off"),
  works: boolean,
  version: text,
  /** Why it does not work, and what to do about it; empty if it does. */
  reason: text,
  fix: text,
});
export type SandboxView = TypeOf<typeof sandboxWire>;

/** A named slot. */
const agentWire = record({
  name: text,
  project: text,
  harness: text,
  model: text,
  state: oneOf("idle", "ready", "working", "done", "stuck"),
  /** The task that it belongs to, whose run it does, or whose run it has failed; empty if there is none. */
  task: text,
  /** What it does, or why it is stuck or waits; empty if there is nothing to say. */
  reason: text,
  runs: integer(0),
  usage: usageWire,
});
export type AgentView = TypeOf<typeof agentWire>;

const usageRowWire = record(
  {
    key: text,
    /** As people call it. */
    name: text,
    runs: integer(0),
    inputTokens: integer(0),
    outputTokens: integer(0),
    cachedTokens: integer(0),
    cost: number,
    /** The number of runs whose cost is unknown. */
    unknown: integer(0),
    /** Milliseconds. */
    duration: integer(0),
  },
  /** What it was grouped by; missing in the total. */
  { keys: map(text) },
);
export type UsageRow = TypeOf<typeof usageRowWire>;

export const pausedWire = record({
  all: boolean,
  projects: list(text),
  /** Agents whose programs were ended. */
  ended: integer(0),
  /** Commands of tasks, such as tests, that were ended; they are run again later. */
  commands: integer(0),
  /** The runs whose programs could not be ended, and why. */
  failed: list(record({ run: text, problem: text })),
  /** Merges that the pause does not stop: `publishing` cannot be stopped any more, `person` was requested with `task merge`. */
  merges: list(record({ task: text, project: text, number: integer(0), target: text, why: text })),
});

const nothing = record({});
const name = shortText(100);
const numberText = shortText(20);
const ofTask = record({}, { project: name });

/** The routes about agents. */
export const agentRoutes = {
  listRuns: route({
    name: "listRuns",
    method: "GET",
    path: "/v1/runs",
    summary: "List the running agents, and with all=true also the ended ones",
    access: "person",
    query: record({}, { project: name, task: name, all: shortText(5), before: shortText(400), limit: shortText(20) }),
    /** The newest runs, the oldest of them first. `next`: to be given as `before` for the runs before them; null if there are none. */
    answer: record({ runs: list(runWire), next: nullable(text) }),
  }),
  spawnTask: route({
    name: "spawnTask",
    method: "POST",
    path: "/v1/tasks/:task/spawn",
    summary: "Start a task that waits for a slot or for a person",
    access: "person",
    query: ofTask,
    body: nothing,
    answer: changeWire,
  }),
  respawnTask: route({
    name: "respawnTask",
    method: "POST",
    path: "/v1/tasks/:task/respawn",
    summary: "Restart a task's dead agent without moving the task",
    access: "person",
    query: ofTask,
    body: nothing,
    answer: changeWire,
  }),
  attachTask: route({
    name: "attachTask",
    method: "POST",
    path: "/v1/tasks/:task/attach",
    summary: "Return the command that attaches a terminal to a task's agent, and record that a person is present",
    access: "person",
    isNoted: true,
    query: ofTask,
    body: record({}, { role: name, tmux: shortText(4_000) }),
    answer: attachWire,
  }),
  sendMessage: route({
    name: "sendMessage",
    method: "POST",
    path: "/v1/tasks/:task/messages",
    summary: "Send a message to a task's agent; it is delivered when the agent is ready for input",
    access: "person",
    query: ofTask,
    body: record({ text }, { role: name }),
    answer: sentWire,
  }),
  listMessages: route({
    name: "listMessages",
    method: "GET",
    path: "/v1/tasks/:task/messages",
    summary: "List the messages to a task's agents, and whether they were delivered",
    access: "person",
    query: ofTask,
    answer: record({ messages: list(messageWire) }),
  }),
  commentTask: route({
    name: "commentTask",
    method: "POST",
    path: "/v1/tasks/:task/comments",
    summary: "Add a comment to a task's history",
    access: "run",
    query: ofTask,
    body: record({ text: shortText(20_000) }),
    answer: record({ task: text, at: text }),
  }),
  getScreen: route({
    name: "getScreen",
    method: "GET",
    path: "/v1/tasks/:task/screen",
    summary: "Show the screen or the output of a task's agent",
    access: "person",
    query: record(
      {},
      {
        ...{ project: name, role: name, run: name, from: numberText, lines: numberText },
        ...{ styled: shortText(5), end: shortText(5), told: shortText(5), errors: shortText(5) },
      },
    ),
    answer: screenWire,
  }),
  killRun: route({
    name: "killRun",
    method: "POST",
    path: "/v1/tasks/:task/runs/:run/kill",
    summary: "End a task's agent; its workflow decides what follows",
    access: "person",
    isNoted: true,
    query: ofTask,
    body: nothing,
    answer: changeWire,
  }),
  listHarnesses: route({
    name: "listHarnesses",
    method: "GET",
    path: "/v1/harnesses",
    summary: "List the harnesses, whether they are installed and what they support",
    access: "person",
    query: record({}, { name }),
    answer: record({ harnesses: list(harnessWire), sandbox: sandboxWire }),
  }),
  listUsage: route({
    name: "listUsage",
    method: "GET",
    path: "/v1/usage",
    summary: "Sum up the tokens and costs of agents",
    access: "person",
    query: record(
      {},
      {
        /** run, task, role, agent, harness, model, project or day; or two of them, such as project,day. */
        by: shortText(40),
        project: name,
        task: name,
        since: shortText(40),
        /** Also list the budgets of open tasks. */
        budgets: oneOf("true"),
      },
    ),
    answer: record(
      { rows: list(usageRowWire), total: usageRowWire },
      /** The task that has each budget, and the budget. */
      { budgets: list(record({ task: text, ...budgetFields })) },
    ),
  }),
  pause: route({
    name: "pause",
    method: "POST",
    path: "/v1/pause",
    summary: "Pause a project, or all: start no more agents; with now also end the running ones, which resume later",
    access: "person",
    isNoted: true,
    body: record({}, { project: name, all: boolean, now: boolean }),
    answer: pausedWire,
  }),
  resume: route({
    name: "resume",
    method: "POST",
    path: "/v1/resume",
    summary: "Resume a paused project, or all, or a harness whose provider's limit was reached",
    access: "person",
    isNoted: true,
    body: record({}, { project: name, all: boolean, harness: name }),
    answer: pausedWire,
  }),
  listAgents: route({
    name: "listAgents",
    method: "GET",
    path: "/v1/agents",
    summary: "List the named agents",
    access: "person",
    query: record({}, { project: name }),
    answer: record({ agents: list(agentWire) }),
  }),
  addAgents: route({
    name: "addAgents",
    method: "POST",
    path: "/v1/agents",
    summary: "Create named agents: one with this name, or this many with the next free names",
    access: "person",
    isNoted: true,
    body: record({ project: name }, { name, count: integer(1, 100), harness: name, model: name }),
    answer: record({ agents: list(agentWire) }),
  }),
  assignAgent: route({
    name: "assignAgent",
    method: "POST",
    path: "/v1/agents/:agent/assign",
    summary: "Give a task to a named agent: its runs use that agent's harness and model",
    access: "person",
    isNoted: true,
    body: record({ project: name, task: name }),
    answer: agentWire,
  }),
  clearAgent: route({
    name: "clearAgent",
    method: "POST",
    path: "/v1/agents/:agent/clear",
    summary: "Make a named agent available again that has failed a run; the task that it failed stays as it is",
    access: "person",
    isNoted: true,
    body: record({ project: name }),
    answer: agentWire,
  }),
  cleanAgents: route({
    name: "cleanAgents",
    method: "POST",
    path: "/v1/agents/cleanup",
    summary:
      "Remove idle agents and, unless only agents are asked for, dead windows and the run folders of ended tasks",
    access: "person",
    isNoted: true,
    body: record({}, { project: name, dryRun: boolean, onlyAgents: boolean }),
    answer: record({ done: list(text) }),
  }),
} as const;
