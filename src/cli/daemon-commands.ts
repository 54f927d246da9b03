import { buildCommand } from "@stricli/core";
import { flag, json } from "./parameters.ts";

export const up = buildCommand({
  loader: async () => (await import("./commands/up.ts")).up,
  parameters: { flags: { foreground: flag("Stay in front until it is stopped, and log to the terminal") } },
  docs: {
    brief: "Start the daemon",
    fullDescription: `There is one daemon for each home folder. Every command that needs it starts it by itself; a newer command line replaces an older daemon. One that is killed or crashes is started again by a watchdog of its own; one that is stopped is not. In containers and in CI, use --foreground.

Exit codes: 0 ok, 1 it did not start, 2 wrong usage`,
  },
});

export const down = buildCommand({
  loader: async () => (await import("./commands/down.ts")).down,
  parameters: {
    flags: { force: flag("Kill it at once; what was under way is carried out again after the next start") },
  },
  docs: {
    brief: "Stop the daemon",
    fullDescription: `A daemon that does not answer, because it hangs or was stopped, is found by its lock; with --force the system ends it, which loses nothing. Without, you are told so after a few seconds.

Agents go on, and one that hands something over starts it again; signalbox pause --all --now ends them before. What tasks still owe is carried out after the next start; a command that is under way is killed, and run again then.

Exit codes: 0 ok, also where it does not run, 1 it does not stop, 2 wrong usage`,
  },
});

export const status = buildCommand({
  loader: async () => (await import("./commands/status.ts")).status,
  parameters: {
    flags: {
      watch: flag("Show all open tasks and their agents, as they are at every moment, until q or Ctrl-C"),
      json,
    },
  },
  docs: {
    brief: "Show whether the daemon runs, and how it is",
    fullDescription: `With --watch the daemon is started where it does not run; see signalbox task list --watch, which shows one project.

--json: { running, version, pid, home, startedAt, address, tasks: { open, needPerson }, agents: { atWork, idle, waiting, needPerson }, paused: { all, projects }, calls: { channels: [{ name, problem, undelivered }], quiet }, projects, storeProblem, savingProblem: { reason, fix }, terminalProblem: { reason, fix }, configProblems, log }
A daemon that lives but does not answer is told of after a few seconds; then --json has running, answers (false), pid, home and log. storeProblem says why nothing can be saved any more, such as a database that was deleted; it is empty where all is well. savingProblem says why nothing can be saved now, such as a full disk. terminalProblem says since when the terminal server that agents run in has not answered.
Exit codes: 0 it runs, 1 it does not answer, cannot save anything, or failed, 2 wrong usage, 3 it does not run`,
  },
});

export const doctor = buildCommand({
  loader: async () => (await import("./commands/doctor.ts")).doctor,
  parameters: { flags: { fix: flag("Mend what can be mended without losing anything"), json } },
  docs: {
    brief: "Look for what is wrong, and say how to mend it",
    fullDescription: `Looks at the programs that are needed, your folder, the daemon, the database, tasks, projects, your workflows, and agents at work. Needs no daemon and starts none. With --fix, permissions are put right, missing folders are made, and what a dead daemon left is removed; the database is never touched.

--json: { ok, checks: [{ name, level, found, fix, mended }] }
Exit codes: 0 ok, also with warnings, 1 an error remains, 2 wrong usage`,
  },
});
