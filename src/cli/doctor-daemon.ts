import { readFileSync, rmSync, statSync } from "node:fs";
import { type Call, createClient } from "../api/client.ts";
import { socketRequest } from "../api/socket-request.ts";
import { packageVersion } from "../home/package-version.ts";
import { homePlaces } from "../home/places.ts";
import { type Check, error, type Finding, ok, warning } from "./doctor-finding.ts";
import type { FoundDaemon } from "./find-daemon.ts";
import { isAlive } from "./is-alive.ts";

/** Shows no credential: whoever reaches the socket may read, and the token may be what is wrong. */
export function quietCall(socket: string): Call {
  return createClient((question) => socketRequest({ ...question, socket, headers: {} }));
}

/** The daemon, and what one that died has left behind. */
export function daemonCheck(home: string, found: FoundDaemon): Check {
  return { name: "daemon", look: () => lookAtDaemon(home, found) };
}

function lookAtDaemon(home: string, daemon: FoundDaemon): readonly Finding[] {
  const { socket, pid: file, log } = homePlaces(home);
  const pid = processIn(file);
  if (daemon.kind === "silent") {
    const who = daemon.pid === undefined ? "" : ` (process ${daemon.pid})`;
    const end = "If it stays so, end it, which loses nothing; what was under way is carried out again:";
    return error(`lives${who}, but does not answer`, `${end}\nsignalbox down --force\nThen look into ${log}`);
  }
  if (daemon.kind === "answers") {
    const seen = daemon.status;
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
