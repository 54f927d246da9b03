import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import { callRunning } from "../connect.ts";
import type { Context } from "../context.ts";
import { findDaemon, silentFault } from "../find-daemon.ts";
import { isAlive } from "../is-alive.ts";

const patience = 10_000;

export async function down(this: Context, { force }: { force: boolean }): Promise<void> {
  const found = await findDaemon(homePlaces(this.home));
  if (found.kind === "none") return this.say("The daemon does not run.");
  if (found.kind === "silent") return endSilent(this, found.pid, force);
  const { status } = found;
  if (force) kill(this, status.pid);
  else await callRunning(this, (call) => call(routes.stop, { body: {} }));
  await waitFor(this, status.pid);
  // Also those that rest: their programs live.
  const atWork = status.agents.atWork + status.agents.idle;
  if (atWork === 0) return this.say("The daemon has stopped. Tasks are taken up again when it starts.");
  const who = atWork === 1 ? "One agent goes" : `${atWork} agents go`;
  this.say(`The daemon has stopped. ${who} on; whoever hands something over starts it again.`);
  this.say("To end agents too, before it stops: signalbox pause --all --now");
}

/** The system ends a process that answers nobody. Agents go on; the store keeps what was saved. */
async function endSilent(context: Context, pid: number | undefined, force: boolean): Promise<void> {
  if (!force) throw silentFault(pid);
  if (pid === undefined) {
    throw new Fault("daemon.unknown", "The daemon does not answer, and the system does not tell which process it is.", {
      hint: "It may belong to another user, or run in another container. End it there.",
    });
  }
  kill(context, pid);
  await waitFor(context, pid);
  context.say(`The daemon (process ${pid}) did not answer, and was killed. Tasks are taken up again when it starts.`);
}

/** On purpose: nobody is to start it again by itself. */
function kill({ home }: Context, pid: number): void {
  try {
    makePrivateFolder(dirname(homePlaces(home).stopped));
    writeFileSync(homePlaces(home).stopped, "", { mode: 0o600 });
  } catch {
    // Then it may come back; the home cannot be written, or its folder is gone.
  }
  process.kill(pid, "SIGKILL");
}

/** Gone means: the process, not only its socket. Whoever starts the next one at once must get the lock. */
async function waitFor({ home }: Context, pid: number): Promise<void> {
  for (let waited = 0; waited < patience; waited += 20) {
    if (!isAlive(pid)) return;
    await sleep(20);
  }
  throw new Fault("daemon.silent", `The daemon (process ${pid}) does not stop.`, {
    hint: `It may be waiting for a command. Look into ${homePlaces(home).log}, or end it: signalbox down --force`,
  });
}
