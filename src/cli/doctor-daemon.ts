import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Call, createClient } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { openStream, socketRequest } from "../api/socket-request.ts";
import type { TypeOf } from "../api/wire.ts";
import { packageVersion } from "../home/package-version.ts";
import { homePlaces } from "../home/places.ts";
import { isNotRunning } from "./ask-daemon.ts";
import { type Check, error, type Finding, ok, warning } from "./doctor-finding.ts";
import { isAlive } from "./is-alive.ts";

/** What the daemon said about itself: nothing where it does not run, and `silent` where it does not answer. */
export type Seen = TypeOf<typeof routes.status.answer> | "silent" | undefined;

/** Shows no credential: whoever reaches the socket may read, and the token may be what is wrong. */
export function quietCall(socket: string): Call {
  return createClient((question) => socketRequest({ ...question, socket, headers: {} }));
}

export async function lookForDaemon(socket: string): Promise<Seen> {
  const answers = await probe(socket);
  return answers === true ? quietCall(socket)(routes.status) : answers;
}

const patience = 5_000;

/** A daemon that hangs must not hang us. */
function probe(socket: string): Promise<true | "silent" | undefined> {
  return new Promise((resolve) => {
    const end = (seen: true | "silent" | undefined) => {
      clearTimeout(timer);
      hangUp();
      resolve(seen);
    };
    const hangUp = openStream(
      { socket, method: routes.status.method, path: routes.status.path, headers: {} },
      () => end(true),
      () => end("silent"),
      (problem) => end(isNotRunning(problem) ? undefined : "silent"),
    );
    const timer = setTimeout(() => end("silent"), patience);
  });
}

/** The daemon, and what one that died has left behind. */
export function daemonCheck(home: string, seen: Seen): Check {
  return { name: "daemon", look: () => lookAtDaemon(home, seen) };
}

function lookAtDaemon(home: string, seen: Seen): readonly Finding[] {
  const { socket, run, log } = homePlaces(home);
  const file = join(run, "daemon.pid");
  const pid = processIn(file);
  if (seen === "silent") {
    const end = pid !== undefined && isAlive(pid) ? `End it: kill -9 ${pid}` : "Find it with ps, and end it";
    return error("runs, but does not answer", `${end}\nThen look into ${log}`);
  }
  if (seen !== undefined) {
    const about = `runs: version ${seen.version}, process ${seen.pid}`;
    return seen.version === packageVersion
      ? ok(seen.address === "" ? about : `${about}, on http://${seen.address}`)
      : warning(`${about}; this command line is version ${packageVersion}`, "signalbox down && signalbox up");
  }
  const left = [
    ...(statSync(socket, { throwIfNoEntry: false }) === undefined ? [] : [socket]),
    ...(pid !== undefined && !isAlive(pid) ? [file] : []),
  ];
  if (left.length === 0) return ok("does not run; it is started when it is needed");
  return warning(`does not run; one that died has left ${left.join(" and ")}`, "signalbox up", () => {
    for (const path of left) rmSync(path, { force: true });
    return `removed ${left.length > 1 ? "both" : "it"}`;
  });
}

function processIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}
