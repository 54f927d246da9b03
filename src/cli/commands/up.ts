import { spawn } from "node:child_process";
import { routes } from "../../api/routes.ts";
import { homePlaces } from "../../home/places.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { findDaemon, silentFault } from "../find-daemon.ts";
import { daemonArguments, daemonSurroundings } from "../start-daemon.ts";

export async function up(this: Context, { foreground }: { foreground: boolean }): Promise<void> {
  if (foreground) return stayInForeground(this);
  const found = await findDaemon(homePlaces(this.home));
  if (found.kind === "silent") throw silentFault(found.pid);
  const before = found.kind === "answers" ? found.status : undefined;
  const { pid, version, address } = await createCall(this)(routes.status);
  const where = address === "" ? "" : `, on http://${address}`;
  this.say(
    `The daemon ${before?.pid === pid ? "runs already" : "has started"}: version ${version}, process ${pid}${where}.`,
  );
}

/** For containers and CI: the daemon's end is ours, and what ends us ends it. */
async function stayInForeground({ home, process: own, say }: Context): Promise<void> {
  const child = spawn(process.execPath, daemonArguments("--foreground"), {
    stdio: "inherit",
    env: daemonSurroundings(homePlaces(home), home, process.env).env,
  });
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  const code = await new Promise<number>((resolve) => child.on("exit", (status) => resolve(status ?? 1)));
  for (const signal of signals) process.off(signal, pass);
  if (code === 75) say(`Another daemon has ${homePlaces(home).run} already. Stop it with signalbox down.`);
  own.exitCode = code === 0 ? 0 : 1;
}
