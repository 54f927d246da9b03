import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import type { Places } from "./home/places.ts";
import type { Log } from "./ports/log.ts";

export interface Watchdog {
  /** The daemon stops in good order: nobody is to start it again. */
  stop(): void;
}

/** How often in a row a daemon that dies soon after its start is started again. */
const maxRevivals = 3;
/** What has lived so long did not die of its start. */
const soundAfter = 10 * 60 * 1000;

/** The argument by which a daemon knows how often it was revived; without it, nobody revives it. */
const argument = "--revived=";

/**
 * Starts a process that waits for our end, and starts the daemon again where it was killed or crashed. Agents in a sandbox
 * cannot start it themselves, and nobody else might for hours. It is a shell that reads from a pipe of ours: it costs next to
 * nothing, and the system tells it of our end, however that comes.
 */
export function startWatchdog(home: string, places: Places, argv: readonly string[], log: Log): Watchdog {
  rmSync(places.stopped, { force: true });
  const given = argv.find((each) => each.startsWith(argument));
  if (given === undefined) return { stop() {} };
  const revived = Number(given.slice(argument.length)) || 0;
  if (revived > 0) log.warn("The daemon had died, and was started again", { times: revived });
  let watching = revived < maxRevivals ? watch(home, places, argv, revived + 1) : undefined;
  const dismiss = () => {
    watching?.stdin?.on("error", () => {});
    watching?.stdin?.end("stop\n");
  };
  const timer = setTimeout(() => {
    if (revived === 0) return;
    dismiss();
    watching = watch(home, places, argv, 1);
  }, soundAfter);
  timer.unref();
  return {
    stop() {
      clearTimeout(timer);
      dismiss();
    },
  };
}

function watch(home: string, places: Places, argv: readonly string[], times: number): ChildProcess {
  const [, file = ""] = argv;
  const report = openReport(places.startReport);
  const daemon = [process.execPath, ...process.execArgv, file, `${argument}${times}`];
  const child = spawn("/bin/sh", ["-c", script, "signalbox-watchdog", home, places.stopped, ...daemon], {
    ...{ cwd: "/", detached: true, stdio: ["pipe", report, report] },
  });
  if (report !== "ignore") closeSync(report);
  // Where there is no shell the daemon goes on without.
  child.on("error", () => {});
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
  return child;
}

function openReport(file: string): number | "ignore" {
  try {
    return openSync(file, "a", 0o600);
  } catch {
    return "ignore";
  }
}

// A word: the daemon stops in good order. No word: it died, unless somebody killed it on purpose or its home is gone.
const script = `
read -r word && exit 0
sleep 1
[ -d "$1" ] && [ ! -e "$2" ] || exit 0
shift 2
exec "$@" </dev/null
`;
