import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../api/routes.ts";
import { callRunning } from "../connect.ts";
import { isAlive } from "../is-alive.ts";
import type { Stage } from "./stage.ts";

const patience = 10_000;

/** Ends agents, daemon and terminal of the stage. What does not go by itself is killed: nothing is left running. */
export async function endStage({ caller, home, places, env }: Stage): Promise<void> {
  const status = await callRunning(caller, (call) => call(routes.status)).catch(() => undefined);
  if (status !== undefined) {
    await callRunning(caller, async (call) => {
      // Agents first, in good order, by whoever knows them. Where there are none nothing is paused for whoever keeps it all.
      if (status.agents.atWork + status.agents.idle > 0) await call(routes.pause, { body: { all: true, now: true } });
      await call(routes.stop, { body: {} });
    }).catch(() => undefined);
    await until(() => !isAlive(status.pid));
    if (isAlive(status.pid)) kill(status.pid);
  }
  spawnSync("tmux", ["-S", places.terminal, "kill-server"], { env, stdio: "ignore" });
  await until(() => processesOf(home).length === 0);
  for (const pid of processesOf(home)) kill(pid);
  await until(() => processesOf(home).length === 0);
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; waited < patience && !isSo(); waited += 20) await sleep(20);
}

/** Processes that were started for this home, which nobody else has. Only Linux tells. */
function processesOf(home: string): readonly number[] {
  const entry = `SIGNALBOX_HOME=${home}`;
  return pids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(entry) && isAlive(pid);
    } catch {
      // It has ended, or is somebody else's.
      return false;
    }
  });
}

function pids(): readonly number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
