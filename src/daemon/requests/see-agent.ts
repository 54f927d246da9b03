import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { OutputReader } from "../../ports/harness.ts";
import type { Processes } from "../../ports/processes.ts";
import type { Run } from "../../ports/records.ts";
import { processName, terminalSession } from "../agents/run-name.ts";
import { lastErrors } from "../agents/turn-reading.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { agentsOf, runOf, runToCome } from "./agents-of.ts";
import { attend } from "./attend.ts";
import { findTask } from "./find-task.ts";
import { mustBeOpen } from "./must-be-open.ts";
import { lastWholeLines, outputPart } from "./output-part.ts";
import { toldPart } from "./told-part.ts";

export function attachTask(core: Core): Handler<Routes["attachTask"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const { terminal } = agents.ports;
    const stored = await findTask(core, asked);
    const { role, tmux } = asked.body;
    const coming = await runToCome(core, stored, role);
    if (coming !== undefined) throw new Fault("run.not-started", coming.why, { hint: coming.fix });
    const found = await runOf(core, stored, role === undefined ? {} : { role });
    // One that sleeps is there again in its session.
    const run = (await agents.wakeUp(found.id)) ?? found;
    const panes = await terminal.list();
    const pane = panes.find((each) => each.run === run.started?.name);
    if (pane === undefined) {
      mustBeOpen(stored);
      throw new Fault("run.no-window", `${run.key} has no window${run.endedAt === undefined ? "" : " any more"}.`, {
        hint: hintFor(run, stored.task.id),
      });
    }
    await attend(core, asked, stored, "attached");
    const at = { session: terminalSession(stored.task.id), run: pane.run };
    const { argv, env, hint } = terminal.attachCommand(at, tmux === undefined ? {} : { TMUX: tmux });
    const pairs = Object.entries(env);
    return {
      run: run.key,
      argv,
      set: pairs.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
      unset: pairs.flatMap(([name, value]) => (value === undefined ? [name] : [])),
      hint,
    };
  };
}

function hintFor({ started, endedAt }: Run, task: string): string {
  if (started?.mode !== "session") return `See what it prints: signalbox task logs ${task}`;
  return endedAt === undefined ? "It is about to start." : `Bring it back: signalbox task respawn ${task}`;
}

const mostOutput = 256 * 1024;
const mostLines = 10_000;

export function getScreen(core: Core): Handler<Routes["getScreen"]> {
  return async (asked) => {
    const { terminal, processes } = agentsOf(core).ports;
    const stored = await findTask(core, asked);
    const { role, run: key, from = "0", lines = "0", styled, end, told, errors } = asked.query;
    const run = await runOf(core, stored, {
      ...(role === undefined ? {} : { role }),
      ...(key === undefined ? {} : { run: key }),
    });
    const about = { run: run.key, role: run.role, harness: run.harness, isOver: run.endedAt !== undefined };
    const { started } = run;
    if (started === undefined) throw new Fault("run.missing", `${run.key} was not started by us.`);
    const isGone = about.isOver && !existsSync(join(core.places.runs, started.name));
    const gone = isGone ? goneText(run.key, whole(from) === 0 && errors !== "true") : undefined;
    if (started.mode === "session") {
      const scrollback = Math.min(whole(lines), mostLines);
      const show = styled === "true" ? terminal.captureStyled : terminal.capture;
      const text = await show(started.name, scrollback).catch(nothingWhereGone);
      const shown = text === "" && gone !== undefined ? gone : text;
      return { ...about, source: "screen", text: shown, next: shown.length };
    }
    if (gone !== undefined) return { ...about, source: "output", text: gone, next: gone.length };
    const channel = errors === "true" ? "errors" : "output";
    const read = (at: number, limit: number) => processes.read(processName(started), channel, at, limit);
    const begin = end === "true" ? await lastWholeLines(read, mostOutput) : whole(from);
    const reader = told === "true" && channel === "output" ? readerOf(core, run, started.name) : undefined;
    const part =
      reader === undefined
        ? await outputPart(read, begin, mostOutput)
        : await toldPart(read, reader, {
            ...{ from: begin, most: mostOutput, isOver: about.isOver },
            ending: await endingOf(processes, processName(started)),
          });
    return { ...about, source: "output", ...part };
  };
}

/** Told once, to whoever reads from the beginning. */
function goneText(run: string, isFirst: boolean): string {
  if (!isFirst) return "";
  return `What ${run} printed is not there any more: its task has been over for longer than keep_ended says, or somebody cleaned up.\n`;
}

async function endingOf(processes: Processes, name: string) {
  const end = await processes.look(name);
  return end.kind === "ended" ? { end, errors: await lastErrors(processes, name) } : undefined;
}

function readerOf(core: Core, { harness }: Run, run: string): OutputReader | undefined {
  const known = agentsOf(core).ports.harnesses().get(harness);
  return known?.readOutput({ run, runFolder: join(core.places.runs, run) });
}

/** Windows go while somebody looks at them. */
function nothingWhereGone(error: unknown): string {
  if (error instanceof Fault && error.code === "terminal.gone") return "";
  throw error;
}

function whole(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
