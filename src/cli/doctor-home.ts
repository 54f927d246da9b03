import { chmodSync, constants, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { formatProblem } from "../engine/language/problem.ts";
import { Fault } from "../fault.ts";
import { loadConfig } from "../home/config.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import { homePlaces } from "../home/places.ts";
import { readHumanToken } from "../home/read-human-token.ts";
import { accessProblem, freeSpace } from "./access-problem.ts";
import { type Check, error, type Finding, ok, warning } from "./doctor-finding.ts";
import { shellWord } from "./shell-word.ts";
import { writeSize } from "./write-size.ts";

/** The user's folder: whose it is, who can look into it, what is written there, and how much room there is. */
export function homeChecks(home: string): readonly Check[] {
  const places = homePlaces(home);
  return [
    { name: "home", look: () => lookAtFolder(home) },
    { name: "socket", look: () => lookAtFolder(dirname(places.socket)) },
    { name: "token", look: () => lookAtToken(places.humanToken) },
    { name: "config", look: () => lookAtConfig(places.config) },
    { name: "disk", look: () => lookAtDisk(home) },
  ];
}

function lookAtFolder(folder: string): readonly Finding[] {
  const found = statOf(folder);
  const make = () => {
    makePrivateFolder(folder);
    return "made it";
  };
  const elsewhere = `Move it away, or ${choose}`;
  if (found === undefined) {
    const above = nearestFolder(folder);
    const problem = statOf(above)?.isDirectory()
      ? accessProblem(above, constants.W_OK | constants.X_OK)
      : { reason: "it is a file", fix: "Move it away" };
    if (problem === undefined) return ok(`${folder} is not there yet; it is made when it is needed`, make);
    const found = `${folder} is not there, and nothing can be made in ${above}: ${problem.reason}`;
    return error(found, `${problem.fix}\nor ${choose}`);
  }
  if (!found.isDirectory()) return error(`${folder} is no folder`, elsewhere);
  if (!isOurs(found)) return error(`${folder} belongs to somebody else`, elsewhere);
  const mode = found.mode & 0o777;
  const problem = accessProblem(folder, constants.W_OK | constants.X_OK);
  if (mode === 0o700 && problem !== undefined)
    return error(`nothing can be written in ${folder}: ${problem.reason}`, problem.fix);
  if (mode === 0o700) return ok(`${folder}, yours alone`);
  const say = (mode & 0o077) === 0 ? `you cannot use ${folder}` : `others can look into ${folder}`;
  return error(`${say} (mode ${mode.toString(8)})`, `chmod 700 ${shellWord(folder)}`, () => {
    chmodSync(folder, 0o700);
    return "closed it to others";
  });
}

const choose =
  "set SIGNALBOX_HOME to a folder of your own that can be written; projects and tasks of this one are not known there";

/** The folder itself where it is there, else the nearest one above it. */
function nearestFolder(folder: string): string {
  const above = dirname(folder);
  return above === folder || statOf(folder) !== undefined ? folder : nearestFolder(above);
}

function lookAtToken(file: string): readonly Finding[] {
  const found = statOf(file);
  if (found === undefined) return ok("not there yet; it is made when it is needed");
  const path = shellWord(file);
  const renew = `Delete it; the daemon makes another one, and this one is worth nothing any more: rm ${path}`;
  if (!isOurs(found)) return error(`${file} belongs to somebody else`, renew);
  if ((found.mode & 0o077) !== 0) {
    const again = `If somebody may have read it: ${renew}`;
    return error(`others can read ${file}, and so pass for you`, `chmod 600 ${path}\n${again}`, () => {
      chmodSync(file, 0o600);
      return `closed it to others\n${again}`;
    });
  }
  try {
    readHumanToken({ humanToken: file });
    return ok("yours alone");
  } catch (problem) {
    return error((problem as Error).message, renew);
  }
}

function lookAtConfig(file: string): readonly Finding[] {
  try {
    const { problems } = loadConfig(file, "user");
    if (problems.length === 0) return ok(statOf(file) === undefined ? "nothing is set" : file);
    const fix = "Mend the file; until then nothing that it says counts";
    return problems.flatMap((problem, i) => error(formatProblem(problem), i === problems.length - 1 ? fix : ""));
  } catch (problem) {
    if (!(problem instanceof Fault)) throw problem;
    return error(problem.message, problem.hint ?? "");
  }
}

const megabyte = 1024 * 1024;

function lookAtDisk(home: string): readonly Finding[] {
  const free = freeSpace(nearestFolder(home));
  const shown = writeSize(free);
  const found = `${shown} free for ${home}`;
  const fix = `Make room, or move your folder to another disk and set SIGNALBOX_HOME`;
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
