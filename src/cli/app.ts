import { type Application, buildApplication, buildCommand, buildRouteMap, version } from "@stricli/core";
import { packageVersion } from "../home/package-version.ts";
import { agentCommands } from "./agent-commands.ts";
import { configCommands } from "./config-commands.ts";
import type { Context } from "./context.ts";
import { crewCommands } from "./crew-commands.ts";
import { doctor, down, status, up } from "./daemon-commands.ts";
import { exitCodeOfError } from "./exit-code.ts";
import { harnessCommands } from "./harness-commands.ts";
import { createHelp } from "./help.ts";
import { createMessages } from "./messages.ts";
import { flag, json, textFlag, wholeNumber } from "./parameters.ts";
import { projectCommands } from "./project-commands.ts";
import { salvageCommands } from "./salvage-commands.ts";
import { taskCommands } from "./task-commands.ts";
import { ticketCommands } from "./ticket-commands.ts";
import { backup, events, guide, init, install, restore, trust } from "./top-commands.ts";
import { mcp, pause, resume, usage } from "./work-commands.ts";
import { workflowCommands } from "./workflow-commands.ts";
import { workspaceCommands } from "./workspace-commands.ts";

const demo = buildCommand({
  loader: async () => (await import("./commands/demo.ts")).demo,
  parameters: {
    flags: {
      keep: flag("Leave repository, home and history, to look around"),
      export: textFlag("DIR", "Write each task's history there, as signalbox task export prints it"),
      json,
    },
  },
  docs: {
    brief: "Watch four scripted agents work on four tasks, from creation to merge",
    fullDescription: `Makes a repository and a home folder that are thrown away, starts a daemon, and lets four scripted agents work there at once in terminals of their own, through the workflow "default": one goes straight through, one fails its review once, one has a question for a person, one is killed and goes on. You are the person who looks on; the demo answers and merges. Nothing of yours is touched, no model is asked, and nothing is left running. Needs git and tmux.

On a terminal it shows everything as it is now; elsewhere it prints a line for each thing that happens. If it fails, everything is kept, and it says where.

--json: { took, scripted, tasks: [{ id, number, branch, summary, about, status, took, stays: [{ status, took }], reviews: [{ run, verdict, text }], question: { asked, answered } | null, crashes: [{ run, status, reason, next, after }], merged, usage: { runs, inputTokens, outputTokens, cachedTokens, cost, unknown }, events, replays }], home, repository, exported }. Times are in milliseconds; home and repository are null without --keep
Exit codes: 0 all merged, 1 it failed or was interrupted, 2 wrong usage`,
  },
});

const rehearse = buildCommand({
  loader: async () => (await import("./commands/rehearse.ts")).rehearse,
  parameters: {
    flags: {
      runs: {
        kind: "parsed",
        parse: wholeNumber(1, 1_000_000),
        placeholder: "N",
        brief: "Lives for each workflow",
        default: "500",
      },
      seed: {
        kind: "parsed",
        parse: wholeNumber(0, 2 ** 32 - 1),
        placeholder: "S",
        brief: "The same seed gives the same lives",
        default: "7",
      },
      json,
    },
  },
  docs: {
    brief: "Prove and rehearse every built-in workflow",
    fullDescription: `Needs no agent, no network and no tokens: the engine that moves real tasks is given everything that can happen.

Exit codes: 0 all proved, 1 a workflow failed, 2 wrong usage`,
  },
});

const completion = buildCommand({
  loader: async () => (await import("./commands/completion.ts")).completion,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: (shell: string) => {
            if (shell === "bash" || shell === "zsh" || shell === "fish") return shell;
            throw new Error(`"${shell}" is not known. It can be bash, zsh or fish.`);
          },
          proposeCompletions: () => ["bash", "zsh", "fish"],
          placeholder: "SHELL",
          brief: "bash, zsh or fish",
        },
      ],
    },
  },
  docs: {
    brief: "Print a script that completes commands, flags and names",
    fullDescription: `Put one of these into the start-up file of your shell:
  eval "$(signalbox completion bash)"       # ~/.bashrc
  eval "$(signalbox completion zsh)"        # ~/.zshrc, after compinit
  signalbox completion fish | source        # ~/.config/fish/config.fish`,
  },
});

const routes = buildRouteMap({
  routes: {
    guide,
    init,
    project: projectCommands,
    task: taskCommands,
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
    doctor,
    demo,
    rehearse,
    completion,
  },
  docs: {
    brief: "Run coding agents through workflows that are proved before they run",
    fullDescription: `On a terminal, signalbox alone leads you from a repository to its first task, and later says how things are.

Start with:
  signalbox init                            make the repository you are in a project
  signalbox task create "Brew stronger"     give it something to do
  signalbox demo                            watch four scripted agents at work
  signalbox workflow show default           read one
  signalbox workflow eject default my-flow  make your own from it

ls, new and rm stand for list, create and delete; signalbox help task create is signalbox task create --help

Environment: SIGNALBOX_HOME (your files, ~/.signalbox), NO_COLOR
Exit codes: 0 ok, 1 something failed or an error was found, 2 wrong usage, 3 not found`,
  },
});

/** Every command as it is typed after the program's name, such as "task merge". */
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
      // Colours of errors and help are ours.
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
      // Only errors in arguments need to know which command they belong to.
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
