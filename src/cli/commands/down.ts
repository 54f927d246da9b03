import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { homePlaces } from "../../home/places.ts";
import { callRunning } from "../connect.ts";
import type { Context } from "../context.ts";
import { isAlive } from "../is-alive.ts";

const patience = 10_000;

export async function down(this: Context, { force }: { force: boolean }): Promise<void> {
  const status = await callRunning(this, (call) => call(routes.status));
  if (status === undefined) return this.say("The daemon does not run.");
  if (force) process.kill(status.pid, "SIGKILL");
  else await callRunning(this, (call) => call(routes.stop, { body: {} }));
  await waitFor(this, status.pid);
  const { atWork, idle } = status.agents;
  const count = atWork + idle;
  if (count === 0) return this.say("The daemon has stopped. Tasks are taken up again when it starts.");
  const who = count === 1 ? "One agent goes" : `${count} agents go`;
  this.say(`The daemon has stopped. ${who} on; whoever hands something over starts it again.`);
  this.say("To end agents too, before it stops: signalbox pause --all --now");
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
