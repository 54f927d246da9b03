import { fstatSync, statSync, writeSync } from "node:fs";
import { type ErrorBody, faultOf } from "../../api/client.ts";
import { isGone } from "../../api/socket-request.ts";
import type { ChangeView } from "../../api/tasks.ts";
import { homeFolder, homePlaces, packageVersion } from "../../home/places.ts";
import { askDaemon, isNotRunning, olderDaemon, warningOf } from "./ask-daemon.ts";
import { createPaint, exitCodeOfError, tellChange, visible, writeFailure } from "./tell.ts";

/**
 * `task update [TASK] --status S`, which agents call several times a task: without the command-line parser and
 * without Node's streams, and only if the daemon runs and answers. In any other case the caller takes the ordinary path
 * with what this returns; undefined if nothing is left to do.
 */
export async function fastUpdate(process: NodeJS.Process): Promise<Unfinished | undefined> {
  const given = readArguments(process.argv.slice(4));
  // A terminal needs colours, and a person does not notice 50 ms.
  if (given === undefined || isTerminal(1) || isTerminal(2)) return {};
  const path = `/v1/tasks/${encodeURIComponent(given.task)}/move`;
  const sentAt = Date.now();
  try {
    const places = homePlaces(homeFolder(process.env));
    const asker = { places, env: process.env, folder: process.cwd(), version: packageVersion };
    const answer = await askDaemon(asker, { method: "POST", path, body: JSON.stringify({ to: given.to }) });
    if (answer.status === olderDaemon) return {};
    const warning = warningOf(answer);
    if (warning !== "") writeTo(2)(`warning: ${warning}`);
    if (answer.status >= 400) throw faultOf(JSON.parse(answer.body) as ErrorBody);
    tellChange(
      { paint: plain, talkPaint: plain, print: writeTo(1), say: writeTo(2) },
      JSON.parse(answer.body) as ChangeView,
    );
  } catch (error) {
    if (isNotRunning(error)) return {};
    if (isGone(error)) return { sentAt };
    writeTo(2)(writeFailure({ talkPaint: plain, process }, error));
    process.exitCode = exitCodeOfError(error);
  }
  return undefined;
}

/** What the fast path leaves to the ordinary path. */
export interface Unfinished {
  /** When the request was sent, if the daemon ended before it answered; otherwise nothing has happened. */
  readonly sentAt?: number;
}

const plain = createPaint(false);

/** A character device other than /dev/null counts as a terminal; node:tty is exact, but takes a millisecond to load. */
function isTerminal(channel: 1 | 2): boolean {
  try {
    const found = fstatSync(channel);
    return found.isCharacterDevice() && found.rdev !== statSync("/dev/null").rdev;
  } catch {
    return false;
  }
}

/** A reader that has gone does not keep us from ending. */
function writeTo(channel: 1 | 2): (text: string) => void {
  return (text) => {
    try {
      writeSync(channel, visible(`${text}\n`));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EPIPE" && code !== "EAGAIN") throw error;
    }
  };
}

/** Only references that need no project: the folder's task, an id (ids have no vowels), `project#number`. */
function readArguments(words: readonly string[]): { task: string; to: string } | undefined {
  let task = ".";
  let to: string | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "--status" && to === undefined) to = words[++i];
    else if (word.startsWith("--status=") && to === undefined) to = word.slice("--status=".length);
    else if (task === "." && /^[b-df-hj-np-tv-xz][b-df-hj-np-tv-xz2-9]{4}$|^[\w.-]+#\d+$/.test(word)) task = word;
    else return undefined;
  }
  return to === undefined || to === "" || to.startsWith("-") ? undefined : { task, to };
}
