// A daemon of the dashboard's benchmark: ten thousand tasks, whose first thirty runs say something new ten times a second, and a
// terminal of which every line changes as often. Its figures do not depend on git, agents or a disk.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const total = 10_000;
const busy = 30;
const interval = 100;
const [, , socket = ""] = process.argv;
const began = Date.now();
const iso = (ago: number) => new Date(began - ago).toISOString();

const groupOf = (i: number) => (i < 40 ? "needs-me" : i < 140 ? "running" : i < 340 ? "queued" : "over");
const tasks = Array.from({ length: total }, (_, i) => {
  const group = groupOf(i);
  const common = {
    reason: "approval",
    text: "Look at the work and merge it",
    command: `signalbox task merge t${i}`,
    since: iso(i * 1_000),
  };
  return {
    ...{
      id: `t${i}`,
      project: "coffee",
      number: i,
      branch: `branch-${i}`,
      base: "",
      summary: `Make the coffee number ${i} stronger than before`,
    },
    ...{
      workflow: "default",
      workflowHash: "h",
      status: "building",
      previousStatus: "",
      phase: group === "over" ? "over" : "waiting",
    },
    ...{
      outcome: group === "over" ? "done" : null,
      needsPerson: group === "needs-me",
      held: null,
      reason: "",
      judged: null,
      tested: null,
    },
    ...{
      needs: group === "needs-me" ? [{ ...common, brief: common.text }] : [],
      session: "alive",
      waiting: "",
      paused: "",
    },
    ...{
      harness: "claude",
      reviewHarness: "",
      model: "",
      workspace: "",
      prUrl: "",
      ticket: "",
      protectedChanges: [],
      parent: "",
    },
    ...{
      part: null,
      children: null,
      dependsOn: [],
      handDown: [],
      budgets: [],
      labels: [],
      priority: 0,
      autostart: true,
      counters: {},
    },
    ...{
      crashCount: 0,
      runs: [],
      revision: 1,
      createdAt: iso(i * 60_000),
      updatedAt: iso(i * 60_000),
      unread: false,
      snoozedUntil: null,
    },
    ...{ group, since: iso(i * 1_000), ask: group === "needs-me" ? common : null, doing: "", commits: 1 },
    ...{ cost: { dollars: 1.25, tokens: 12_000, unknown: 0 }, lines: { added: 12, removed: 3 }, checks: "passing" },
  };
});
const counts = { "needs-me": 40, running: 100, queued: 200, over: total - 340 };
const runOf = (i: number, what: string) => ({
  ...{
    id: `t${i}/1`,
    task: `t${i}`,
    project: "coffee",
    number: i,
    summary: "",
    key: "worker#1",
    role: "worker",
    agent: "",
    harness: "claude",
  },
  ...{
    model: "opus",
    mode: "session",
    session: "s",
    window: "w",
    pid: 1,
    folder: "",
    sandbox: false,
    activity: "busy",
    since: iso(0),
  },
  ...{
    signAt: iso(0),
    what,
    raised: "",
    messagesWaiting: 0,
    watchers: 0,
    startedAt: iso(i),
    endedAt: null,
    word: "",
    status: "running",
  },
  ...{ report: "", error: "", duration: 0, usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, cost: 0.1 } },
});

let isChanging = false;
let isTerminalChanging = false;
let sent = 0;
const streams = new Set<{ write(text: string): unknown }>();
const watchers = new Set<{ send(text: string): void }>();
setInterval(() => {
  if (isChanging) {
    sent++;
    const text = Array.from({ length: busy }, (_, i) => {
      const data = runOf(40 + i, `Step ${sent} of the work on this coffee, which is about to be stronger`);
      return `event: live\ndata: ${JSON.stringify(data)}\n\n`;
    }).join("");
    for (const stream of streams) stream.write(text);
  }
  if (isTerminalChanging) {
    const rows = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [
        i,
        `\u001b[32m${i}\u001b[0m line ${sent++} of what the agent prints, \u001b[1mbold\u001b[0m and plain text`,
      ]),
    );
    for (const watcher of watchers) watcher.send(JSON.stringify({ type: "change", rows }));
  }
}, interval);

const answers: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
  "/v1/health": () => ({ version: "0.1.0", pid: process.pid }),
  "/v1/status": () => ({
    ...{
      version: "0.1.0",
      pid: process.pid,
      home: "",
      startedAt: iso(0),
      address: "",
      projects: 1,
      storeProblem: "",
      refused: 0,
    },
    ...{
      tasks: { open: 340, needPerson: 40 },
      savingProblem: { reason: "", fix: "" },
      terminalProblem: { reason: "", fix: "" },
    },
    ...{
      configProblems: [],
      agents: { atWork: 30, idle: 0, waiting: 0, needPerson: 0 },
      budgets: [],
      paused: { all: false, projects: [] },
    },
    calls: { channels: [], quiet: "" },
  }),
  "/v1/counts": () => ({ all: counts, projects: [{ project: "coffee", ...counts }] }),
  "/v1/harnesses": () => ({
    harnesses: [],
    sandbox: { setting: "off", works: false, version: "", reason: "", fix: "" },
  }),
  "/v1/events": () => ({ events: [], last: 0 }),
  "/v1/runs": () => ({ runs: Array.from({ length: busy }, (_, i) => runOf(40 + i, "Begins")), next: null }),
  "/v1/tasks": (query) => {
    const limit = Number(query.get("limit") ?? 50);
    const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const ids = query.get("ids")?.split(",");
    const found = tasks.filter(
      (task) =>
        (query.get("group") ?? task.group) === task.group &&
        (ids === undefined || ids.includes(task.id)) &&
        words.every((word) => `${task.id}\n${task.summary}`.toLowerCase().includes(word)),
    );
    return { tasks: found.slice(0, limit), next: null };
  },
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/bench") {
    isChanging = searchParams.get("list") === "on";
    isTerminalChanging = searchParams.get("terminal") === "on";
    return response.end(String(sent));
  }
  if (pathname === "/v1/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": from 1\n\n");
    streams.add(response);
    request.on("close", () => streams.delete(response));
    return;
  }
  const [, , , id, part] = pathname.split("/");
  const task = tasks.find((each) => each.id === id);
  const body =
    part === "actions"
      ? { task, actions: [] }
      : part === "explain"
        ? { task, where: "It is being built.", blocked: [], moves: [], next: [], owed: [], warnings: [] }
        : answers[pathname]?.(searchParams);
  const text = JSON.stringify(body ?? { error: { code: "not-found", message: "No such route." } });
  response.writeHead(body === undefined ? 404 : 200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
});
const terminals = new WebSocketServer({ server });
terminals.on("connection", (watcher) => {
  watcher.send(JSON.stringify({ type: "run", run: "worker#1", role: "worker", harness: "claude", source: "screen" }));
  const lines = Array.from({ length: 50 }, () => "");
  watcher.send(JSON.stringify({ type: "screen", columns: 120, lines, cursor: null, title: "", above: 0 }));
  watchers.add(watcher);
  watcher.on("close", () => watchers.delete(watcher));
});
server.listen(socket, () => process.stdout.write("ready\n"));
