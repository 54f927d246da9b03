import { accessSync, chmodSync, constants, type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { formatProblem } from "../engine/language/problem.ts";
import { Fault } from "../fault.ts";
import { shellWord } from "../shell-quote.ts";
import { listed, writeSize } from "../text.ts";
import { builtInHarnesses } from "./agent-fields.ts";
import { loadConfig, resolveConfig } from "./config.ts";
import { readHumanToken } from "./human-token.ts";
import { makePrivateFolder } from "./make-folder.ts";
import { homePlaces } from "./places.ts";

/** One result of a check. */
export interface Finding {
  readonly level: "ok" | "warning" | "error";
  /** What was found, shown beside the name of the check. */
  readonly found: string;
  /** What to do about it: the exact commands, one on each line. Empty if there is nothing to do. */
  readonly fix: string;
  /** Repairs it and says what it did. Only for repairs that cannot lose anything. */
  readonly mend?: () => string;
}

/** One check of `doctor`. */
export interface Check {
  readonly name: string;
  look(): readonly Finding[] | Promise<readonly Finding[]>;
}

type Mend = Finding["mend"];

export function ok(found: string, mend?: Mend): readonly Finding[] {
  return finding("ok", found, "", mend);
}

export function warning(found: string, fix: string, mend?: Mend): readonly Finding[] {
  return finding("warning", found, fix, mend);
}

export function error(found: string, fix: string, mend?: Mend): readonly Finding[] {
  return finding("error", found, fix, mend);
}

function finding(level: Finding["level"], found: string, fix: string, mend: Mend): readonly Finding[] {
  return [{ level, found, fix, ...(mend === undefined ? {} : { mend }) }];
}

/** Checks of the user's folder: owner, permissions, token, configuration and free space. */
export function homeChecks(home: string): readonly Check[] {
  const places = homePlaces(home);
  return [
    { name: "home", look: () => lookAtFolder(home) },
    { name: "socket", look: () => lookAtSockets([dirname(places.terminal), dirname(places.socket)]) },
    { name: "token", look: () => lookAtToken(places.humanToken) },
    { name: "config", look: () => lookAtConfig(places.config) },
    { name: "models", look: () => lookAtModels(places.config) },
    { name: "disk", look: () => lookAtDisk(home) },
  ];
}

/** The folders of the daemon's socket and of the terminal server's. */
function lookAtSockets(folders: readonly string[]): readonly Finding[] {
  const found = folders.map(lookAtFolder);
  const wrong = found.flat().filter(({ level }) => level !== "ok");
  return wrong.length > 0 ? wrong : (found.at(-1) ?? []);
}

function lookAtFolder(folder: string): readonly Finding[] {
  const found = statOf(folder);
  const make = () => {
    makePrivateFolder(folder);
    return "created it";
  };
  const elsewhere = `Move it away, or ${choose}`;
  if (found === undefined) {
    const above = nearestFolder(folder);
    const problem = statOf(above)?.isDirectory()
      ? accessProblem(above, constants.W_OK | constants.X_OK)
      : { reason: "it is a file", fix: "Move it away" };
    if (problem === undefined) return ok(`${folder} does not exist yet; it is created when it is needed`, make);
    const found = `${folder} does not exist, and cannot be created in ${above}: ${problem.reason}`;
    return error(found, `${problem.fix}\nor ${choose}`);
  }
  if (!found.isDirectory()) return error(`${folder} is not a folder`, elsewhere);
  if (!isOurs(found)) return error(`${folder} belongs to another user`, elsewhere);
  const mode = found.mode & 0o777;
  const problem = accessProblem(folder, constants.W_OK | constants.X_OK);
  if (mode === 0o700 && problem !== undefined)
    return error(`${folder} is not writable: ${problem.reason}`, problem.fix);
  if (mode === 0o700) return ok(`${folder}, private`);
  const say = (mode & 0o077) === 0 ? `you cannot use ${folder}` : `other users can read ${folder}`;
  return error(`${say} (mode ${mode.toString(8)})`, `chmod 700 ${shellWord(folder)}`, () => {
    chmodSync(folder, 0o700);
    return "made it private";
  });
}

const choose =
  "set SIGNALBOX_HOME to a writable folder of your own; it will not have the projects and tasks of this one";

/** The folder itself if it exists, otherwise its nearest existing parent. */
function nearestFolder(folder: string): string {
  const above = dirname(folder);
  return above === folder || statOf(folder) !== undefined ? folder : nearestFolder(above);
}

function lookAtToken(file: string): readonly Finding[] {
  const found = statOf(file);
  if (found === undefined) return ok("does not exist yet; it is created when it is needed");
  const path = shellWord(file);
  const renew = `Delete it; the daemon creates a new one, and this one becomes invalid: rm ${path}`;
  if (!isOurs(found)) return error(`${file} belongs to another user`, renew);
  if ((found.mode & 0o077) !== 0) {
    const again = `If another user may have read it: ${renew}`;
    return error(`other users can read ${file}, and so act as you`, `chmod 600 ${path}\n${again}`, () => {
      chmodSync(file, 0o600);
      return `made it private\n${again}`;
    });
  }
  try {
    readHumanToken({ humanToken: file });
    return ok("private");
  } catch (problem) {
    return error((problem as Error).message, renew);
  }
}

function lookAtConfig(file: string): readonly Finding[] {
  try {
    const { problems } = loadConfig(file, "user");
    if (problems.length === 0) return ok(statOf(file) === undefined ? "nothing is set" : file);
    const fix = "Fix the file; until then it is ignored";
    return problems.flatMap((problem, i) => error(formatProblem(problem), i === problems.length - 1 ? fix : ""));
  } catch (problem) {
    if (!(problem instanceof Fault)) throw problem;
    return error(problem.message, problem.hint ?? "");
  }
}

/** The models that tiers stand for. A harness without one is no fault: only workflows that name tiers need it. */
function lookAtModels(file: string): readonly Finding[] {
  // A wrong file is a finding of its own.
  const { config } = loadConfig(file, "user");
  const { value: tiers } = resolveConfig({ user: config }).modelTiers;
  const known: readonly string[] = [...builtInHarnesses, ...Object.keys(config.harnesses ?? {})];
  const unknown = Object.entries(tiers).flatMap(([tier, models]) =>
    Object.keys(models).flatMap((harness) => (known.includes(harness) ? [] : [`model_tiers.${tier}.${harness}`])),
  );
  const fix = `Known harnesses: ${known.join(", ")}. Correct the names in ${file}`;
  if (unknown.length > 0) return warning(`${listed(unknown)} names no harness that you have`, fix);
  const shown = Object.entries(tiers).map(([tier, models]) => {
    const each = Object.entries(models).map(([harness, model]) => `${harness} ${model || "(its own choice)"}`);
    return `${tier}: ${each.join(", ") || "no model"}`;
  });
  return ok(shown.join("; "));
}

const megabyte = 1024 * 1024;

function lookAtDisk(home: string): readonly Finding[] {
  const free = freeSpace(nearestFolder(home));
  const shown = writeSize(free);
  const found = `${shown} free for ${home}`;
  const fix = `Free some space, or move your Signalbox home to another disk and set SIGNALBOX_HOME`;
  if (free < 100 * megabyte) return error(found, fix);
  return free < 1024 * megabyte ? warning(found, fix) : ok(`${shown} free`);
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function isOurs({ uid }: Stats): boolean {
  const us = process.getuid?.();
  return us === undefined || uid === us;
}

interface AccessProblem {
  readonly reason: string;
  /** What to do about it, without losing anything. */
  readonly fix: string;
}

/** Why a file or folder cannot be accessed in this mode (`R_OK`, `W_OK`, …); undefined if it can. */
export function accessProblem(path: string, mode: number): AccessProblem | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EROFS") {
      return {
        reason: `the file system of ${path} is mounted read-only`,
        fix: "Mount it writable; the system log says why it is not, such as a disk error",
      };
    }
    const owner = statSync(path, { throwIfNoEntry: false })?.uid;
    const us = process.getuid?.();
    if (owner !== undefined && us !== undefined && owner !== us) {
      return {
        reason: `${path} belongs to another user (uid ${owner}; yours is ${us})`,
        fix: `Run signalbox as that user, or change its owner: sudo chown -R ${us} ${shellWord(path)}`,
      };
    }
    return {
      reason: `the permissions of ${path} forbid it (${code})`,
      fix: `chmod u+rwX ${shellWord(path)}`,
    };
  }
}

/** The free bytes for an ordinary user. */
function freeSpace(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
