import { type Application, buildApplication, buildRouteMap, run, version } from "@stricli/core";
import { packageVersion } from "../home/places.ts";
import { chat } from "./commands/chat.ts";
import { completion } from "./commands/completion.ts";
import { configCommands } from "./commands/config.ts";
import { agentCommands, crewCommands } from "./commands/crew.ts";
import { down, pause, resume, status, up } from "./commands/daemon.ts";
import { dashboard } from "./commands/dashboard.ts";
import { demo } from "./commands/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { events, usage } from "./commands/events.ts";
import { guide, isPersonThere } from "./commands/guide.ts";
import { harnessCommands } from "./commands/harness.ts";
import { init, trust } from "./commands/init.ts";
import { install } from "./commands/install.ts";
import { mcp } from "./commands/mcp.ts";
import { projectCommands } from "./commands/project.ts";
import { rehearse } from "./commands/rehearse.ts";
import { backup, restore } from "./commands/restore.ts";
import { run as runTeam } from "./commands/run.ts";
import { salvageCommands } from "./commands/salvage.ts";
import { answer, approve, cancel, reply, requestChanges, respawn, retry, spawn } from "./commands/task-act.ts";
import { attach, logs, peek, send } from "./commands/task-agent.ts";
import { clearError, continueTask, launchFixer } from "./commands/task-continue.ts";
import { create } from "./commands/task-create.ts";
import { documents } from "./commands/task-documents.ts";
import { findings } from "./commands/task-findings.ts";
import { actions, explain, exportTask, history, list, show } from "./commands/task-look.ts";
import { createPr, merge, sync } from "./commands/task-merge.ts";
import { plan } from "./commands/task-plan.ts";
import { comment, deleteTask, edit, migrate, update } from "./commands/task-update.ts";
import { wait } from "./commands/task-wait.ts";
import { diff, fetch, open, path, shell } from "./commands/task-work.ts";
import { ticketCommands } from "./commands/ticket.ts";
import { web } from "./commands/web.ts";
import { workflowCommands } from "./commands/workflow.ts";
import { workspaceCommands } from "./commands/workspace.ts";
import { type Context, createContext } from "./context.ts";
import { createPaint, exitCodeOf, exitCodeOfError, exitCodes, writeError, writeFailure } from "./fast/tell.ts";
import type { Unfinished } from "./fast/update.ts";
import { createHelp, createMessages } from "./help.ts";
import { offerCompletions } from "./offers.ts";

/** Runs one command line, or what the fast path has left of it, and sets the exit code of the process. */
export async function start(process: NodeJS.Process, unfinished: Unfinished = {}): Promise<void> {
  const given = process.argv.slice(2);
  const created = contextOf(process);
  if (created === undefined) return;
  const context = { ...created, ...unfinished, isAlone: given.length === 0 };
  // A reader that closes the pipe early (`| head`) is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    context.say(writeError(context, `The output cannot be written (${error.code}).`, "Check where it is written to."));
    process.exit(exitCodes.failed);
  });
  const app = createApp(context);
  const isAlone = given.length === 0 && isPersonThere(process, context.home);
  const words = isAlone ? ["guide"] : withHelp(app, given);
  if (words[0] === "complete" && words[1] === "--") await offerCompletions(app, words.slice(2), context);
  else await run(app, words, context);
  process.exitCode = exitCodeOf(process.exitCode);
}

/** Undefined where the environment names no usable home, which is then told. */
function contextOf(process: NodeJS.Process): Context | undefined {
  try {
    return createContext(process);
  } catch (error) {
    process.stderr.write(`${writeFailure({ talkPaint: createPaint(false), process }, error)}\n`);
    process.exitCode = exitCodeOfError(error);
    return undefined;
  }
}

/** People also try `help task create`, `task help create` and `task help`. */
function withHelp({ root }: Application<Context>, words: readonly string[]): readonly string[] {
  const [first = "", second, ...rest] = words;
  if (first === "help") return [...words.slice(1), "--help"];
  const target = second === "help" && "getAllEntries" in root ? root.getRoutingTargetForInput(first) : undefined;
  return target !== undefined && "getAllEntries" in target ? [first, ...rest, "--help"] : words;
}

const taskCommands = buildRouteMap({
  routes: {
    create,
    list,
    show,
    explain,
    wait,
    actions,
    update,
    edit,
    comment,
    answer,
    approve,
    "request-changes": requestChanges,
    findings,
    documents,
    plan,
    continue: continueTask,
    "launch-fixer": launchFixer,
    "clear-error": clearError,
    cancel,
    retry,
    spawn,
    respawn,
    attach,
    send,
    reply,
    peek,
    logs,
    diff,
    fetch,
    path,
    shell,
    open,
    merge,
    sync,
    "create-pr": createPr,
    history,
    migrate,
    export: exportTask,
    delete: deleteTask,
  },
  aliases: { ls: "list", new: "create", rm: "delete" },
  docs: { brief: "Create, inspect and move tasks" },
});

/** The one table of commands. */
const routes = buildRouteMap({
  routes: {
    guide,
    init,
    project: projectCommands,
    run: runTeam,
    task: taskCommands,
    chat,
    ticket: ticketCommands,
    crew: crewCommands,
    events,
    agent: agentCommands,
    harness: harnessCommands,
    install,
    mcp,
    usage,
    pause,
    resume,
    workspace: workspaceCommands,
    salvage: salvageCommands,
    workflow: workflowCommands,
    trust,
    config: configCommands,
    backup,
    restore,
    up,
    down,
    status,
    dashboard,
    web,
    doctor,
    demo,
    rehearse,
    completion,
  },
  docs: {
    brief: "Run coding agents through workflows that are proved before they run",
    fullDescription: `On a terminal, signalbox alone guides you from a repository to its first task, and later opens the dashboard.

Start with:
  signalbox init                            make this repository a project
  signalbox run "Add dark mode"             let a team of agents build it
  signalbox task create "Brew stronger"     create a task
  signalbox demo                            watch four scripted agents work
  signalbox workflow show default           read a workflow
  signalbox workflow eject default my-flow  make your own copy of it

ls, new and rm stand for list, create and delete; signalbox help task create is signalbox task create --help

Environment: SIGNALBOX_HOME (your files, ~/.signalbox), NO_COLOR
Exit codes: 0 ok, 1 something failed or an error was found, 2 wrong usage, 3 not found`,
  },
});

/** Every command as typed after the program's name, such as "task merge". */
function allCommands(): readonly string[] {
  return routes.getAllEntries().flatMap(({ name: { original: noun }, target }) => {
    if (!("getAllEntries" in target)) return [noun];
    return target.getAllEntries().map(({ name }) => `${noun} ${name.original}`);
  });
}

export function createApp(context: Context): Application<Context> {
  let prefix = "signalbox";
  const messages = createMessages(context, () => prefix, allCommands);
  return buildApplication(
    routes,
    {
      name: "signalbox",
      // We colour errors and help ourselves.
      documentation: { disableAnsiColor: true },
      scanner: { allowArgumentEscapeSequence: true },
      localization: { text: messages },
      determineExitCode: exitCodeOfError,
    },
    {
      help: createHelp(context),
      version: version({
        brief: "Show the version",
        complete: true,
        info: { getCurrentVersion: async () => packageVersion },
      }),
      // Only errors in arguments need the name of their command.
      prefix: {
        hooks: {
          "command:start": ({ result }) => {
            prefix = result.prefix.join(" ");
          },
        },
      },
    },
  );
}
