import type { UsageRow } from "../../api/agent-wires.ts";
import { routes } from "../../api/routes.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { given } from "../given.ts";
import { nameTask } from "../name-task.ts";
import { readSince } from "../read-since.ts";
import { writeTable } from "../table.ts";
import { writeJson } from "../write-json.ts";
import { writeCosts, writeDuration, writeTokens } from "../write-usage.ts";

export interface UsageFlags {
  readonly by: "run" | "task" | "role" | "harness" | "model" | "project" | "day";
  readonly since?: string;
  readonly project?: string;
  readonly task?: string;
  readonly json: boolean;
}

export async function usage(this: Context, flags: UsageFlags) {
  const { by, project } = flags;
  const since = flags.since === undefined ? undefined : readSince(flags.since, Date.now());
  const call = createCall(this);
  const named = flags.task === undefined ? undefined : await nameTask(call, flags.task);
  const task = named && (await call(routes.getTask, named)).task.id;
  const answer = await call(routes.listUsage, { query: { by, ...given({ since, project, task }) } });
  if (flags.json) return this.print(writeJson(answer));
  const { rows, total } = answer;
  if (rows.length === 0)
    return this.say(
      'No agent has used anything yet, as far as was asked. To start one: signalbox task create "What is to be done"',
    );
  const right = { align: "right" } as const;
  const table = [
    { title: by.toUpperCase(), paint: this.paint.bold },
    { title: "RUNS", ...right },
    { title: "INPUT", ...right },
    { title: "CACHED", ...right },
    { title: "OUTPUT", ...right },
    { title: "COST", ...right },
    { title: "TIME", ...right },
  ];
  this.print(writeTable(table, [...rows, ...(rows.length > 1 ? [total] : [])].map(cells), this.tableWidth));
  if (total.unknown > 0) this.say("\n? is what a harness did not tell; it is not nothing.");
}

function cells(row: UsageRow): readonly string[] {
  const { name, runs, inputTokens, cachedTokens, outputTokens, duration } = row;
  const tokens = [inputTokens, cachedTokens, outputTokens].map(writeTokens);
  return [name, String(runs), ...tokens, writeCosts(row), writeDuration(duration)];
}
