import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/task-wires.ts";
import { Fault } from "../../fault.ts";
import { shownPath } from "../../home/shown-path.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { createCall, fetchText } from "../connect.ts";
import type { Context } from "../context.ts";
import { endStage } from "../demo/end-stage.ts";
import { watchForInterruption } from "../demo/interruption.ts";
import { nextSteps } from "../demo/next-steps.ts";
import { createOnlooker } from "../demo/onlooker.ts";
import { play } from "../demo/play.ts";
import { readExport } from "../demo/read-export.ts";
import { openStage, removeStage, type Stage } from "../demo/stage.ts";
import { summarise, type Told } from "../demo/summarise.ts";
import { writeSummary } from "../demo/write-summary.ts";
import { programChecks } from "../doctor-programs.ts";
import { exitCodes } from "../exit-code.ts";
import { loadSound } from "../load-found.ts";
import { writeJson } from "../write-json.ts";

export interface DemoFlags {
  readonly keep: boolean;
  readonly export?: string;
  readonly json: boolean;
}

export async function demo(this: Context, flags: DemoFlags) {
  await mustHave("git", "tmux");
  const files = flags.export === undefined ? undefined : makeFolder(flags.export);
  const began = Date.now();
  const stage = openStage(process.env);
  const interruption = watchForInterruption(process);
  try {
    const outcome = await perform(this, stage, { ...flags, files, began }, interruption.signal);
    await endStage(stage);
    if (!flags.keep) removeStage(stage);
    tell(this, outcome, flags, stage);
  } catch (error) {
    if (!interruption.signal.aborted) this.say("Ending what was started …");
    await endStage(stage);
    if (!interruption.signal.aborted) throw withEvidence(error, stage);
    this.process.exitCode = exitCodes.failed;
    if (!flags.keep) removeStage(stage);
    this.say(`Interrupted. ${flags.keep ? `Everything is kept in ${stage.folder}.` : "Everything is taken away."}`);
  } finally {
    interruption.stop();
  }
}

interface Outcome {
  readonly took: number;
  readonly tasks: readonly Told[];
  readonly files: readonly string[];
}

/** Plays it, and reads what came of it while the daemon is still there to ask. */
async function perform(
  context: Context,
  stage: Stage,
  { json, files, began }: { readonly json: boolean; readonly files: string | undefined; readonly began: number },
  signal: AbortSignal,
): Promise<Outcome> {
  const workflow = loadSound(findWorkflow({ home: stage.home }, "default"));
  const onlooker = createOnlooker(context, { workflow, began, isQuiet: json });
  const tasks = await play(stage, onlooker, signal).finally(onlooker.close);
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

function tell(context: Context, { took, tasks, files }: Outcome, { keep, json }: DemoFlags, stage: Stage) {
  const kept = keep ? stage : undefined;
  if (!tasks.every(({ replays }) => replays)) context.process.exitCode = exitCodes.failed;
  if (json) {
    const { home, repository } = kept ?? {};
    return context.print(writeJson({ took, scripted: true, tasks, home, repository, exported: files }));
  }
  context.print(`${context.isTerminal ? "" : "\n"}${writeSummary(tasks, took, context)}`);
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
    throw new Fault("unwritable", `${path} cannot be made (${code}).`, {
      hint: "Name a folder, or one that can be made in a folder: --export DIR",
      cause: error,
    });
  }
}

/** Told before anything is begun, and not by whatever fails first without them. */
async function mustHave(...names: readonly string[]): Promise<void> {
  for (const { name, look } of programChecks(process.env, [])) {
    if (!names.includes(name)) continue;
    const [finding] = await look();
    if (finding?.level === "error") throw new Fault("demo.program", `${name} ${finding.found}.`, { hint: finding.fix });
  }
}

/** What has failed, and where everything about it lies. */
function withEvidence(error: unknown, { folder, places }: Stage): Fault {
  const fault = error instanceof Fault ? error : undefined;
  const message = fault?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
  const hint = `Everything is kept in ${folder}; what the daemon did is in ${places.log}. It can be removed when you have seen it.`;
  return new Fault(fault?.code ?? "demo.failed", message, {
    hint: [fault?.hint, hint].filter((each) => each !== undefined).join(" "),
    cause: error,
  });
}
