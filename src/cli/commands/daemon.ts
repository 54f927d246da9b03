import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import { oneLine } from "../../text.ts";
import { callRunning, createCall, isAlive } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { shownTask, whosePause } from "../find.ts";
import { offerHarnesses } from "../offers.ts";
import { describeCounts } from "../parts.ts";
import { daemonArguments, daemonSurroundings, findDaemon, silentFault } from "../start-daemon.ts";
import { count, listed, writeAgents, writeJson } from "../text.ts";
import { watchWork } from "../watch/live.ts";
import { command } from "./command.ts";
import { flag, json, project, textFlag } from "./parameters.ts";

/** What is paused, as the API returns it. */
const pausedForm =
  "{ all, projects, ended, commands, failed: [{ run, problem }], merges: [{ task, project, number, target, why }] }";

const all = flag("All projects");

const stopTimeout = 10_000;

export const down = command({
  parameters: {
    flags: { force: flag("Kill it immediately; unfinished effects are done again after the next start") },
  },
  docs: {
    brief: "Stop the daemon",
    fullDescription: `A daemon that does not answer, because it hangs or is suspended, is found by its lock. With --force it is killed, which loses nothing; without --force the command gives up after a few seconds.

Agents continue, and an agent that calls signalbox starts the daemon again; to end them first: signalbox pause --all --now. Effects that tasks still owe are done after the next start; a running command is killed, and run again then.

Exit codes: 0 ok, also if it is not running, 1 it does not stop, 2 wrong usage`,
  },
  async func({ force }): Promise<void> {
    const found = await findDaemon(homePlaces(this.home));
    if (found.kind === "none") return this.say("The daemon is not running.");
    if (found.kind === "silent") return endSilent(this, found.pid, force);
    if (found.kind === "closed") {
      if (!force) throw found.problem;
      await killDaemon(this, found.pid);
      return this.say("The daemon was killed. Tasks continue when it starts again.");
    }
    const { status } = found;
    if (force) await killDaemon(this, status.pid);
    else {
      await callRunning(this, (call) => call(routes.stop, { body: {} }));
      await waitFor(this, status.pid);
    }
    // Idle agents count too: their programs are running.
    const atWork = status.agents.atWork + status.agents.idle;
    if (atWork === 0) return this.say("The daemon has stopped. Tasks continue when it starts again.");
    const who = atWork === 1 ? "One agent continues" : `${atWork} agents continue`;
    this.say(`The daemon has stopped. ${who}; an agent that calls signalbox starts it again.`);
    this.say("To end the agents too, before you stop the daemon: signalbox pause --all --now");
  },
});

/** Kills a daemon that does not answer. Agents continue; stored data is kept. */
async function endSilent(context: Context, pid: number | undefined, force: boolean): Promise<void> {
  if (!force) throw silentFault(pid);
  if (pid === undefined) {
    throw new Fault("daemon.unknown", "The daemon does not answer, and its process cannot be identified.", {
      hint: "It may belong to another user, or run in another container. End it there.",
    });
  }
  await killDaemon(context, pid);
  context.say(`The daemon (process ${pid}) did not answer, and was killed. Tasks continue when it starts again.`);
}

/** How long git processes of a killed daemon may continue. */
const gitTimeout = 2_000;

/** Kills the daemon, and its git processes in workspaces that do not end by themselves: they may wait for a pipe. */
async function killDaemon(context: Context, pid: number): Promise<void> {
  const { workspaces } = homePlaces(context.home);
  const gits = childrenOf(pid).filter((child) => isGitIn(child, workspaces));
  kill(context, pid);
  await waitFor(context, pid);
  for (let waited = 0; waited < gitTimeout && gits.some(isAlive); waited += 50) await sleep(50);
  for (const child of gits.filter((each) => isAlive(each) && isGitIn(each, workspaces))) {
    try {
      // Each has its own process group.
      process.kill(-child, "SIGTERM");
    } catch {
      // It has ended in the meantime.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

/** False if the system does not say. */
function isGitIn(pid: number, folder: string): boolean {
  try {
    const isGit = readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git");
    return isGit && readlinkSync(`/proc/${pid}/cwd`).startsWith(`${realpathSync(folder)}/`);
  } catch {
    return false;
  }
}

/** Records that the daemon was stopped on purpose, so that the watchdog does not restart it. */
function kill({ home }: Context, pid: number): void {
  try {
    makePrivateFolder(dirname(homePlaces(home).stopped));
    writeFileSync(homePlaces(home).stopped, "", { mode: 0o600 });
  } catch {
    // The home is not writable or gone; then the watchdog may restart the daemon.
  }
  process.kill(pid, "SIGKILL");
}

/** Waits for the process to end, not only for its socket, so that the next daemon gets the lock. */
async function waitFor({ home }: Context, pid: number): Promise<void> {
  for (let waited = 0; waited < stopTimeout; waited += 20) {
    if (!isAlive(pid)) return;
    await sleep(20);
  }
  throw new Fault("daemon.silent", `The daemon (process ${pid}) does not stop.`, {
    hint: `It may be waiting for a command. Read ${homePlaces(home).log}, or kill it: signalbox down --force`,
  });
}

export const pause = command({
  parameters: {
    flags: {
      project,
      all,
      now: flag(
        "Also end the running agents and commands of tasks; later agents resume their sessions, and commands run again",
      ),
      json,
    },
  },
  docs: {
    brief: "Start no more agents and commands of tasks, until signalbox resume with the same --project or --all",
    fullDescription: `Nothing is lost, and nothing counts as failed: tasks wait. Meanwhile workflows do not merge, push or open pull requests; a merge of theirs whose tests run is not published, even if you had begun it with continue or approve. Your own signalbox task merge still works, and so does what you begin during the pause. The pause outlasts a restart of the daemon. To continue, use signalbox resume, with --all after pause --all.

--json: ${pausedForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func(flags) {
    const call = createCall(this);
    const who = await whosePause(call, flags);
    const answer = await call(routes.pause, { body: { ...who, now: flags.now } });
    if (flags.json) return this.print(writeJson(answer));
    const name = who.project ?? "Everything";
    const again = who.project === undefined ? "--all" : `--project ${who.project}`;
    if (answer.ended > 0) this.say(`${count(answer.ended, "agent")} ended; later they resume their sessions.`);
    else if (!flags.now) this.say("Working agents continue. To end them too, add --now");
    if (answer.commands > 0) this.say(`${count(answer.commands, "command")} ended; later they run again.`);
    for (const { run, problem } of answer.failed) {
      this.say(`${run} could not be ended: ${problem}`);
      this.say(`To try again: signalbox agent kill ${run}`);
    }
    for (const { task, project, number, target, why } of answer.merges) {
      const [what, then] =
        why === "publishing"
          ? [`is being published to "${target}", which cannot be stopped. To undo it: `, "--undo"]
          : [`into "${target}" is yours and continues. To stop it: `, "--cancel"];
      this.say(`The merge of ${project}#${number} ${what}signalbox task merge ${task} ${then}`);
    }
    this.say(`${name} is paused: no agent and no command of a task is started. To continue: signalbox resume ${again}`);
  },
});

export const resume = command({
  parameters: {
    flags: {
      project,
      all,
      harness: {
        ...textFlag("H", "Ignore the recorded limit of this harness's provider, so that its agents continue"),
        proposeCompletions: offerHarnesses,
      },
      json,
    },
  },
  docs: {
    brief: "Continue after signalbox pause, or after a provider's limit",
    fullDescription: `While a provider's limit is reached, nothing is started in its harness. If that takes more than six hours, or if the provider refuses three times without saying until when, you are called. A time more than eight days away is not believed: the provider is asked again after five minutes. With --harness the recorded limit is forgotten immediately; if it still applies, the provider refuses again.

--json: ${pausedForm}
Exit codes: 0 ok, 1 failed, everything is still paused, or no limit of the harness is known, 2 wrong usage, 3 no such project`,
  },
  async func(flags) {
    const call = createCall(this);
    const { harness } = flags;
    if (harness !== undefined) {
      if (flags.all || flags.project !== undefined)
        throw new Fault("usage", "--harness cannot be given with --project or --all.", {
          hint: "Leave one of them out.",
        });
      const answer = await call(routes.resume, { body: { harness } });
      if (flags.json) return this.print(writeJson(answer));
      return this.say(
        `The limit of ${harness} is forgotten: its agents continue. To see the working agents: signalbox agent ps`,
      );
    }
    const who = await whosePause(call, flags);
    const answer = await call(routes.resume, { body: who });
    if (answer.all) this.process.exitCode = exitCodes.failed;
    if (flags.json) return this.print(writeJson(answer));
    if (answer.all) return this.say("Everything is still paused. To continue: signalbox resume --all");
    this.say(`${who.project ?? "Everything"} continues. To see the working agents: signalbox agent ps`);
    if (answer.projects.length > 0) this.say(`Still paused: ${listed(answer.projects)}.`);
  },
});

export const status = command({
  parameters: {
    flags: {
      watch: flag("Show a live view of all open tasks and their agents, until q or Ctrl-C"),
      json,
    },
  },
  docs: {
    brief: "Show whether the daemon runs, and its state",
    fullDescription: `With --watch the daemon is started if it is not running. To watch one project, use signalbox task list --watch

--json: { running, version, pid, home, startedAt, address, tasks: { open, needPerson }, agents: { atWork, idle, waiting, needPerson }, budgets: [{ reason, fix }], paused: { all, projects }, calls: { channels: [{ name, problem, undelivered, strangers }], quiet }, projects, storeProblem, savingProblem: { reason, fix }, terminalProblem: { reason, fix }, refused, configProblems, log }
A daemon that runs but does not answer is reported after a few seconds; then --json has running, answers (false), pid, home and log. storeProblem says why nothing can be saved any more, such as a deleted database; otherwise it is empty. savingProblem says why nothing can be saved now, such as a full disk. terminalProblem says since when the terminal server of the agents has not answered. refused counts the requests without a valid credential since the daemon started.
Exit codes: 0 it runs, 1 it does not answer, cannot save anything, or failed, 2 wrong usage, 3 it is not running`,
  },
  async func({ watch, json }): Promise<void> {
    if (watch) return watchWork(this, { open: "true", limit: "500" }, json);
    const { log } = homePlaces(this.home);
    const daemon = await findDaemon(homePlaces(this.home));
    if (daemon.kind === "silent") {
      if (!json) throw silentFault(daemon.pid);
      this.process.exitCode = exitCodes.failed;
      return this.print(writeJson({ running: true, answers: false, pid: daemon.pid ?? null, home: this.home, log }));
    }
    if (daemon.kind === "closed") throw daemon.problem;
    const found = daemon.kind === "answers" ? daemon.status : undefined;
    if (found === undefined) this.process.exitCode = exitCodes.notFound;
    // An older daemon does not report it.
    const storeProblem = found?.storeProblem ?? "";
    const saving = found?.savingProblem ?? { reason: "", fix: "" };
    if (storeProblem !== "" || saving.reason !== "") this.process.exitCode = exitCodes.failed;
    if (json)
      return this.print(
        writeJson(found === undefined ? { running: false, home: this.home } : { running: true, log, ...found }),
      );
    if (found === undefined) {
      return this.say(
        `The daemon of ${this.home} is not running.\nAny command that needs it starts it; so does signalbox up.`,
      );
    }
    const { bold, red, yellow } = this.paint;
    const { open, needPerson } = found.tasks;
    const rows: readonly (readonly [string, string])[] = [
      ["daemon", `version ${found.version}, process ${found.pid}, since ${found.startedAt}`],
      ["home", found.home],
      ["log", log],
      [
        "api",
        found.address === ""
          ? "on its socket only (signalbox web opens a page)"
          : `http://${found.address} (signalbox web)`,
      ],
      ...(storeProblem === ""
        ? []
        : [["database", `${red("lost:")} ${storeProblem} (signalbox doctor says what to do)`] as const]),
      ...(saving.reason === "" ? [] : [["disk", `${red(saving.reason)} ${saving.fix} (signalbox doctor)`] as const]),
      ...(found.configProblems.length === 0
        ? []
        : [["config", `${red("not used:")} ${found.configProblems.join(" ")} (signalbox doctor)`] as const]),
      ["projects", String(found.projects)],
      [
        "tasks",
        `${open} open${needPerson > 0 ? `, ${yellow(`${needPerson} need${needPerson === 1 ? "s" : ""} you`)} (signalbox task list --needs-me --all)` : ""}`,
      ],
      ...(await partRows(this)),
      ["agents", writeAgents(found.agents)],
      // An older daemon does not report them.
      ...(found.budgets ?? []).map(
        ({ reason, fix }) => ["budget", [yellow(reason), ...fix.split("\n")].join(`\n${" ".repeat(9)}`)] as const,
      ),
      ["calls", callsRow(found.calls.channels, yellow)],
      ...pausedRows(found.paused, yellow),
    ];
    for (const [name, value] of rows) this.print(`${bold(name.padEnd(9))}${value}`);
  },
});

/** How far the parts of each open task are, of the newest tasks. */
async function partRows(context: Context): Promise<readonly (readonly [string, string])[]> {
  const query = { open: "true", limit: "200" } as const;
  // The rest of the status is more important than a daemon that stops now.
  const found = await callRunning(context, (call) => call(routes.listTasks, { query })).catch(() => undefined);
  return (found?.tasks ?? []).flatMap((task) => {
    const { children, part, summary } = task;
    if (part !== null || children === null || children.parts.length === 0) return [];
    return [["parts", `${describeCounts(children)} (${shownTask(task)} ${oneLine(summary)})`] as const];
  });
}

/** The channels through which you are called, and which of them fail. */
function callsRow(
  channels: readonly { readonly name: string; readonly problem: string }[],
  yellow: (text: string) => string,
): string {
  if (channels.length === 0) return "no channel (signalbox doctor says how to set one up)";
  return listed(channels.map(({ name, problem }) => (problem === "" ? name : yellow(`${name}, which failed`))));
}

function pausedRows(
  { all, projects }: { readonly all: boolean; readonly projects: readonly string[] },
  yellow: (text: string) => string,
): readonly (readonly [string, string])[] {
  if (all) return [["paused", `${yellow("everything")} (signalbox resume --all)`]];
  if (projects.length === 0) return [];
  return [["paused", `${yellow(listed(projects))} (signalbox resume --project ${projects[0]})`]];
}

export const up = command({
  parameters: { flags: { foreground: flag("Stay in the foreground until it is stopped, and log to the terminal") } },
  docs: {
    brief: "Start the daemon",
    fullDescription: `There is one daemon for each home folder. Every command that needs the daemon starts it; a newer command line replaces an older daemon. A watchdog restarts a daemon that crashes or is killed, but not one that was stopped. In containers and in CI, use --foreground.

Exit codes: 0 ok, 1 it did not start, 2 wrong usage`,
  },
  async func({ foreground }): Promise<void> {
    if (foreground) return stayInForeground(this);
    const found = await findDaemon(homePlaces(this.home));
    if (found.kind === "silent") throw silentFault(found.pid);
    if (found.kind === "closed") throw found.problem;
    const before = found.kind === "answers" ? found.status : undefined;
    const { pid, version, address } = await createCall(this)(routes.status);
    const where = address === "" ? "" : `, on http://${address}`;
    this.say(
      `The daemon ${before?.pid === pid ? "already runs" : "has started"}: version ${version}, process ${pid}${where}.`,
    );
  },
});

/** For containers and CI: the command ends with the daemon, and a signal that ends it ends the daemon. */
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
  if (code === 75) say(`Another daemon already uses ${homePlaces(home).run}. Stop it with signalbox down.`);
  own.exitCode = code === 0 ? 0 : 1;
}
