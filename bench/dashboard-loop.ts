// What the dashboard is measured against: a bare loop that reads the same lists and the same streams, and writes the lines that
// have changed. It knows no colours of its own, no wide characters, no keys and no groups.
import { request } from "node:http";
import { WebSocket } from "ws";
import type { RunView } from "../src/api/agents.ts";
import { createEventReader } from "../src/api/event-stream.ts";
import { followTerminal } from "../src/api/terminal.ts";

const [, , socket = "", preview = ""] = process.argv;
const { columns = 200, rows = 60 } = process.stdout;
const half = preview === "" ? columns : Math.floor(columns / 2);

interface Row {
  readonly id: string;
  readonly number: number;
  readonly summary: string;
  readonly status: string;
  readonly group: string;
  readonly doing: string;
}
const read = (path: string) =>
  new Promise<{ tasks: readonly Row[] }>((resolve) => {
    request({ socketPath: socket, path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(JSON.parse(text)));
    }).end();
  });

const pages = await Promise.all(
  ["needs-me", "running", "queued"].map((group) => read(`/v1/tasks?group=${group}&limit=200`)),
);
const tasks = pages.flatMap((page) => page.tasks).filter(({ number }) => number >= 40);
const runs = new Map<string, RunView>();
let terminal: readonly string[] = [];
const reader = createEventReader({ onEvent: () => {}, onLive: (run) => runs.set(run.task, run) });
request({ socketPath: socket, path: "/v1/stream?live=true" }, (response) => response.on("data", reader)).end();
if (preview !== "")
  followTerminal(new WebSocket(`ws+unix:${socket}:/v1/tasks/t40/terminal`) as never, {
    onScreen: (screen) => {
      terminal = screen?.lines ?? [];
    },
  });

let shown: readonly string[] = [];
process.stdout.write("\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J");
setInterval(() => {
  const lines = Array.from({ length: rows }, (_, i) => {
    const task = tasks[i];
    if (task === undefined) return "";
    const what = runs.get(task.id)?.what ?? task.doing;
    const left = `coffee#${task.number}  ${task.summary.padEnd(48).slice(0, 48)}  ${task.status.padEnd(14)}  ${what}`
      .padEnd(half)
      .slice(0, half);
    return preview === "" ? left : `${left}${terminal[i] ?? ""}`;
  });
  let changes = "";
  for (const [i, line] of lines.entries())
    if (line !== shown[i]) changes += `\u001b[${i + 1};1H${line}\u001b[0m\u001b[K`;
  shown = lines;
  if (changes !== "") process.stdout.write(`\u001b[?2026h${changes}\u001b[?2026l`);
}, 100);
