import { homedir } from "node:os";
import { loadConfig } from "../../home/config.ts";
import type { PartialConfig } from "../../home/config-fields.ts";
import { homePlaces, type Places } from "../../home/places.ts";
import type { Context } from "../context.ts";
import { count, listed } from "../count.ts";
import { callCheck } from "../doctor-calls.ts";
import { daemonCheck, quietCall } from "../doctor-daemon.ts";
import { type Check, error, type Finding } from "../doctor-finding.ts";
import { homeChecks } from "../doctor-home.ts";
import { programChecks } from "../doctor-programs.ts";
import { runCheck } from "../doctor-runs.ts";
import { skillCheck } from "../doctor-skill.ts";
import { askStored, readStored, type Stored, storedInUse, storedUnread } from "../doctor-stored.ts";
import { workChecks } from "../doctor-work.ts";
import { exitCodes } from "../exit-code.ts";
import { type FoundDaemon, findDaemon } from "../find-daemon.ts";
import { wrapMessage } from "../wrap.ts";
import { writeJson } from "../write-json.ts";

export interface DoctorFlags {
  readonly fix: boolean;
  readonly json: boolean;
}

interface Line extends Finding {
  readonly name: string;
  /** What was done about it. */
  readonly mended: string | undefined;
}

export async function doctor(this: Context, { fix, json }: DoctorFlags): Promise<void> {
  const places = homePlaces(this.home);
  const daemon = await findDaemon(places);
  const env = this.process.env ?? {};
  const config = configOf(places);
  const checks = [
    ...programChecks(env, config.agentsEnvironment ?? []),
    skillCheck({ home: homedir(), env, repository: this.repository }),
    ...homeChecks(this.home),
    daemonCheck(this.home, daemon),
    ...workChecks(this.home, await lookIntoStore(places, daemon), daemon),
    runCheck(daemon.kind === "answers" ? quietCall(places.socket) : undefined),
    callCheck(daemon, config.notifyCommand ?? [], env),
  ];
  const lines: Line[] = [];
  for (const check of checks) lines.push(...(await examine(check, fix)));
  const isWell = lines.every(({ level }) => level !== "error");
  if (!isWell) this.process.exitCode = exitCodes.failed;
  if (json) {
    const shown = lines.map(({ name, level, found, fix, mended }) => ({ name, level, found, fix, mended }));
    return this.print(writeJson({ ok: isWell, checks: shown }));
  }
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const [i, line] of lines.entries()) {
    this.print(writeLine(this, line, line.name === lines[i - 1]?.name ? "" : line.name, width));
  }
  this.say(`\n${summary(lines, fix)}`);
}

/** The store is the daemon's while it runs. */
async function lookIntoStore({ database, socket }: Places, daemon: FoundDaemon): Promise<Stored | undefined> {
  try {
    if (daemon.kind === "answers") return await askStored(quietCall(socket), database);
    return daemon.kind === "silent" ? storedInUse : readStored(database);
  } catch (problem) {
    // It may have ended meanwhile, or its files are gone: everything else is looked at all the same.
    return storedUnread((problem as Error).message);
  }
}

/** What the checks of programs need of it; what is wrong with the file is a finding of its own. */
function configOf({ config }: Places): PartialConfig {
  try {
    return loadConfig(config, "user").config;
  } catch {
    return {};
  }
}

/** With `fix`, what can be mended is mended, and then looked at again. */
async function examine(check: Check, fix: boolean): Promise<readonly Line[]> {
  const found = await lookAt(check);
  const mends = found.flatMap(({ mend }) => mend ?? []);
  if (!fix || mends.length === 0) return found.map((each) => ({ ...each, name: check.name, mended: undefined }));
  try {
    const mended = mends.map((mend) => mend()).join("\n");
    return (await lookAt(check)).map((each, i) => ({
      ...each,
      name: check.name,
      mended: i === 0 ? mended : undefined,
    }));
  } catch (problem) {
    return [...found, ...error(`could not be mended: ${(problem as Error).message}`, "")].map((each) => ({
      ...each,
      name: check.name,
      mended: undefined,
    }));
  }
}

/** What cannot be looked at is an error, and no reason not to look at the rest. */
async function lookAt(check: Check): Promise<readonly Finding[]> {
  try {
    return await check.look();
  } catch (problem) {
    const { message, code } = problem as NodeJS.ErrnoException;
    const isGone = code === "ENOENT";
    return error(
      `could not be looked at: ${message}`,
      isGone ? "It was deleted meanwhile. Look again: signalbox doctor" : "Look at who owns it, and at its permissions",
    );
  }
}

/** One finding: a mark, the check, what was found, and below it what was done or is to be done. */
function writeLine(
  { paint, columns }: Context,
  { level, found, fix, mended }: Line,
  name: string,
  width: number,
): string {
  const marks = { ok: paint.green("✓"), warning: paint.yellow("!"), error: paint.red("✗") };
  const indent = " ".repeat(width + 4);
  const room = columns - indent.length;
  return [
    `${marks[level]} ${paint.bold(name.padEnd(width))}  ${wrapMessage(found, room, indent)}`,
    ...(mended === undefined ? [] : [`${indent}${paint.green("mended:")} ${mended.replaceAll("\n", `\n${indent}`)}`]),
    // Commands are to be copied, so they are not broken into lines.
    ...(fix === "" ? [] : fix.split("\n").map((line) => `${indent}${paint.cyan(wrapMessage(line, room, indent))}`)),
  ].join("\n");
}

function summary(lines: readonly Line[], fix: boolean): string {
  const numberOf = (level: Finding["level"]) => lines.filter((line) => line.level === level).length;
  const [errors, warnings] = [numberOf("error"), numberOf("warning")];
  if (errors + warnings === 0) return "All is well.";
  const counted = [
    ...(errors > 0 ? [count(errors, "error")] : []),
    ...(warnings > 0 ? [count(warnings, "warning")] : []),
  ];
  const canMend = !fix && lines.some(({ level, mend }) => level !== "ok" && mend !== undefined);
  return `${listed(counted)}.${canMend ? " To mend what is safe to mend: signalbox doctor --fix" : ""}`;
}
