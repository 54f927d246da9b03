import { homedir } from "node:os";
import { type Check, error, type Finding, homeChecks } from "../../home/checks.ts";
import { loadConfig } from "../../home/config.ts";
import type { PartialConfig } from "../../home/config-fields.ts";
import { homePlaces, type Places } from "../../home/places.ts";
import type { Context } from "../context.ts";
import { callCheck } from "../doctor/calls.ts";
import {
  askStored,
  daemonCheck,
  readStored,
  runCheck,
  type Stored,
  storedInUse,
  storedUnread,
  workChecks,
} from "../doctor/daemon.ts";
import { programChecks, skillCheck } from "../doctor/programs.ts";
import { exitCodes } from "../fast/tell.ts";
import { type FoundDaemon, findDaemon, personsCall } from "../start-daemon.ts";
import { count, listed, wrapMessage, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json } from "./parameters.ts";

interface Line extends Finding {
  readonly name: string;
  /** How it was repaired. */
  readonly mended: string | undefined;
}

export const doctor = command({
  parameters: { flags: { fix: flag("Repair what can be repaired without losing anything"), json } },
  docs: {
    brief: "Find problems, and say how to fix them",
    fullDescription: `Checks the programs that are needed, your Signalbox home (~/.signalbox), the daemon, the database, tasks, projects, your workflows and working agents. Needs no daemon and starts none. With --fix, permissions are corrected, missing folders are created, and leftovers of a dead daemon are removed; the database is never touched.

--json: { ok, checks: [{ name, level, found, fix, mended }] }
Exit codes: 0 ok, also with warnings, 1 an error remains, 2 wrong usage`,
  },
  async func({ fix, json }): Promise<void> {
    const places = homePlaces(this.home);
    const daemon = await findDaemon(places);
    const env = this.process.env ?? {};
    const config = configOf(places);
    const checks = [
      ...programChecks(env, config),
      skillCheck({ home: homedir(), env, repository: this.repository }),
      ...homeChecks(this.home),
      daemonCheck(this.home, daemon),
      ...workChecks(this.home, await lookIntoStore(places, daemon), daemon),
      runCheck(daemon.kind === "answers" ? personsCall(places) : undefined),
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
  },
});

/** While the daemon runs, only the daemon reads the store. */
async function lookIntoStore(places: Places, daemon: FoundDaemon): Promise<Stored | undefined> {
  try {
    if (daemon.kind === "answers") return await askStored(personsCall(places), places.database);
    return daemon.kind === "silent" || daemon.kind === "closed" ? storedInUse : readStored(places.database);
  } catch (problem) {
    // The daemon may have ended, or its files are gone: the other checks still run.
    return storedUnread((problem as Error).message);
  }
}

/** The settings that the program checks need. Errors in the file are a separate finding. */
function configOf({ config }: Places): PartialConfig {
  try {
    return loadConfig(config, "user").config;
  } catch {
    return {};
  }
}

/** Runs a check. With `fix`, repairs what it can and checks again. */
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
    return [...found, ...error(`--fix could not repair this: ${(problem as Error).message}`, "")].map((each) => ({
      ...each,
      name: check.name,
      mended: undefined,
    }));
  }
}

/** A check that throws is an error finding, and does not stop the other checks. */
async function lookAt(check: Check): Promise<readonly Finding[]> {
  try {
    return await check.look();
  } catch (problem) {
    const { message, code } = problem as NodeJS.ErrnoException;
    const isGone = code === "ENOENT";
    return error(
      `could not be checked: ${message}`,
      isGone ? "It was deleted in the meantime. Check again: signalbox doctor" : "Check its owner and its permissions",
    );
  }
}

/** One finding: a mark, the check, what was found, and below it the repair or what to do. */
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
    // Commands are not wrapped, so that they can be copied.
    ...(fix === "" ? [] : fix.split("\n").map((line) => `${indent}${paint.cyan(wrapMessage(line, room, indent))}`)),
  ].join("\n");
}

function summary(lines: readonly Line[], fix: boolean): string {
  const numberOf = (level: Finding["level"]) => lines.filter((line) => line.level === level).length;
  const [errors, warnings] = [numberOf("error"), numberOf("warning")];
  if (errors + warnings === 0) return "No problems found.";
  const counted = [
    ...(errors > 0 ? [count(errors, "error")] : []),
    ...(warnings > 0 ? [count(warnings, "warning")] : []),
  ];
  const canMend = !fix && lines.some(({ level, mend }) => level !== "ok" && mend !== undefined);
  return `${listed(counted)}.${canMend ? " To make the safe repairs: signalbox doctor --fix" : ""}`;
}
