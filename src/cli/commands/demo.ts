import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { Fault } from "../../fault.ts";
import { shownPath } from "../../home/places.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import { createCall, fetchText } from "../connect.ts";
import type { Context } from "../context.ts";
import { invite } from "../demo/invite.ts";
import { createOnlooker, play } from "../demo/play.ts";
import { endStage, openStage, removeStage, type Stage, watchForInterruption } from "../demo/stage.ts";
import { nextSteps, readExport, summarise, type Told, writeSummary } from "../demo/summary.ts";
import { programChecks } from "../doctor/programs.ts";
import { exitCodes } from "../fast/tell.ts";
import { loadSound } from "../findings.ts";
import { ownCommand } from "../start-daemon.ts";
import { writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { flag, json, textFlag } from "./parameters.ts";

const demoFlags = {
  web: flag("Be the person yourself, in your browser: answer, review and merge the four tasks"),
  keep: flag("Keep the repository, the home and the history, so that you can inspect them"),
  export: textFlag("DIR", "Write each task's history there, as signalbox task export prints it"),
  json,
} as const;

type DemoFlags = FlagsOf<typeof demoFlags>;

export const demo = command({
  parameters: {
    flags: demoFlags,
  },
  docs: {
    brief: "Watch four scripted agents work on four tasks, from creation to merge",
    fullDescription: `Creates a temporary repository and home folder, starts a daemon, and lets four scripted agents work in their own terminals at the same time, through the workflow "default": one goes straight through, one fails its review once, one asks a person a question, one is killed and continues. You only watch; the demo answers and merges. It does not touch your files, calls no model, and leaves nothing running. It needs git and tmux.

With --web you are the person: it prints a link to the page for browsers, says what to do there, and stays until Ctrl-C.

On a terminal it shows a live view; elsewhere and with --web it prints a line for each event. If it fails, everything is kept, and it prints where.

--json: { took, scripted, tasks: [{ id, number, branch, summary, about, status, took, stays: [{ status, took }], reviews: [{ run, verdict, text }], question: { asked, answered } | null, crashes: [{ run, status, reason, next, after }], merged, usage: { runs, inputTokens, outputTokens, cachedTokens, cost, unknown }, events, replays }], home, repository, exported }. Times are in milliseconds; home and repository are null without --keep
Exit codes: 0 all merged, 1 it failed or was interrupted, 2 wrong usage`,
  },
  async func(flags) {
    await mustHave("git", "tmux");
    const files = flags.export === undefined ? undefined : makeFolder(flags.export);
    const began = Date.now();
    const stage = openStage(process.env);
    const interruption = watchForInterruption(process);
    try {
      const outcome = await perform(this, stage, { ...flags, files, began }, interruption.signal);
      const stays = flags.web && !flags.json;
      if (stays) await lookAround(this, outcome, interruption.signal);
      await endStage(stage);
      if (!flags.keep) removeStage(stage);
      tell(this, outcome, flags, stage, stays);
    } catch (error) {
      if (!interruption.signal.aborted) this.say("Ending what was started …");
      await endStage(stage);
      if (!interruption.signal.aborted) throw withEvidence(error, stage, ownCommand(this.process.env?.PATH));
      this.process.exitCode = exitCodes.failed;
      if (!flags.keep) removeStage(stage);
      this.say(`Interrupted. ${flags.keep ? `Everything is kept in ${stage.folder}.` : "Everything is removed."}`);
    } finally {
      interruption.stop();
    }
  },
});

interface Outcome {
  readonly took: number;
  readonly tasks: readonly Told[];
  readonly files: readonly string[];
}

/** Plays the demo, and reads the results while the daemon is still running. */
async function perform(
  context: Context,
  stage: Stage,
  { json, web, files, began }: DemoFlags & { readonly files: string | undefined; readonly began: number },
  signal: AbortSignal,
): Promise<Outcome> {
  const workflow = loadSound(findWorkflow({ home: stage.home }, "default"));
  // A live view would cover what the person is told.
  const shown = web ? { ...context, isTerminal: false } : context;
  const onlooker = createOnlooker(shown, { workflow, began, isQuiet: json });
  const invitePerson = web ? { invitePerson: (call: Call) => invite(context, stage, call) } : {};
  const tasks = await play(stage, { onlooker, signal, ...invitePerson }).finally(onlooker.close);
  const took = Date.now() - began;
  const failed = tasks.find(({ outcome }) => outcome !== "done");
  if (failed !== undefined) throw new Fault("demo.failed", `#${failed.number} ended in ${failed.status}.`);
  const { rows } = await createCall(stage.caller)(routes.listUsage, { query: { by: "task" } });
  const written: string[] = [];
  const told: Told[] = [];
  for (const task of tasks) {
    const text = await fetchText(stage.caller, routes.exportTask, { params: { task: task.id } });
    if (files !== undefined) written.push(writeHistory(files, task, text));
    told.push(summarise(readExport(text), usageOf(rows.find(({ key }) => key === task.id)), workflow));
  }
  return { took, tasks: told, files: written };
}

function usageOf(row: Partial<Told["usage"]> | undefined): Told["usage"] {
  const { runs = 0, inputTokens = 0, outputTokens = 0, cachedTokens = 0, cost = 0, unknown = 0 } = row ?? {};
  return { runs, inputTokens, outputTokens, cachedTokens, cost, unknown };
}

/** Everything is merged: the person may look at it in the browser as long as they like. */
async function lookAround(context: Context, { tasks, took }: Outcome, signal: AbortSignal): Promise<void> {
  context.print(`\n${writeSummary(tasks, took, context)}`);
  context.say("\nLook around in your browser. Ctrl-C ends the daemon and the demo.");
  if (signal.aborted) return;
  // Handlers of signals alone do not keep Node running.
  const awake = setInterval(() => {}, 60_000);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  clearInterval(awake);
}

function tell(
  context: Context,
  { took, tasks, files }: Outcome,
  { keep, json }: DemoFlags,
  stage: Stage,
  isSummarised: boolean,
) {
  const kept = keep ? stage : undefined;
  if (!tasks.every(({ replays }) => replays)) context.process.exitCode = exitCodes.failed;
  if (json) {
    const { home, repository } = kept ?? {};
    return context.print(writeJson({ took, scripted: true, tasks, home, repository, exported: files }));
  }
  if (!isSummarised) context.print(`${context.isTerminal ? "" : "\n"}${writeSummary(tasks, took, context)}`);
  if (files.length > 0) context.print(`Exported: ${files.map(shownPath).join(", ")}`);
  context.say(`\n${nextSteps(context, kept)}`);
}

function writeHistory(folder: string, { number, branch }: TaskView, text: string): string {
  const file = join(folder, `${number}-${branch}.jsonl`);
  writeFileSync(file, text);
  return file;
}

function makeFolder(path: string): string {
  const folder = resolve(path);
  try {
    mkdirSync(folder);
    return folder;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(folder).isDirectory()) return folder;
    throw new Fault("unwritable", `${path} cannot be created (${code}).`, {
      hint: "Name a folder that exists, or whose parent does: --export DIR",
      cause: error,
    });
  }
}

/** Reports missing programs before anything is started. */
async function mustHave(...names: readonly string[]): Promise<void> {
  for (const { name, look } of programChecks(process.env, {})) {
    if (!names.includes(name)) continue;
    const [finding] = await look();
    if (finding?.level === "error") throw new Fault("demo.program", `${name} ${finding.found}.`, { hint: finding.fix });
  }
}

/** The failure, with the folder that has the evidence. Its commands are for the demo's home, whose daemon they start again. */
export function withEvidence(error: unknown, { folder, home, places }: Stage, own: string): Fault {
  const fault = error instanceof Fault ? error : undefined;
  const message = fault?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
  const command = `SIGNALBOX_HOME=${shellWord(home)} ${own}`;
  const advice = (fault?.hint ?? "").split("\n").filter((line) => line !== "");
  const hint = [
    ...advice.map((line) => line.replace(/(^|: )signalbox /, `$1${command} `)),
    `Everything is kept in ${folder}`,
    `The daemon's log is ${places.log}`,
    `To remove it: ${command} down; rm -r ${shellWord(folder)}`,
  ].join("\n");
  return new Fault(fault?.code ?? "demo.failed", message, { hint, cause: error });
}
