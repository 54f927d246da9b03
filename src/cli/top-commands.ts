import { buildCommand } from "@stricli/core";
import { agentNames } from "./find-agents.ts";
import { offerTasks } from "./offers.ts";
import { flag, json, numberFlag, offerWorkflows, textFlag } from "./parameters.ts";
import { allowFullPermissions, projectFlags, projectForm } from "./project-commands.ts";
import { eventForm, project } from "./task-parameters.ts";

/** Commands that stand directly below `signalbox`. */

export const guide = buildCommand({
  loader: async () => (await import("./commands/guide.ts")).guide,
  parameters: {},
  docs: {
    brief: "Lead through the first steps, or say how things are and what comes next",
    fullDescription: `On a terminal, signalbox alone does this. In a repository that is no project yet it looks for harnesses, asks whether to make it one, explains full permissions, and asks for the first task. In a project it shows the open tasks, what needs you, and the commands that come next. Elsewhere it says what to do. You can leave with Ctrl-C at any point: what you agreed to is done, and nothing else.

Exit codes: 0 ok, 1 you left, there is no commit yet, or somebody has to be asked and cannot be, 2 wrong usage`,
  },
});

export const init = buildCommand({
  loader: async () => (await import("./commands/init.ts")).init,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          optional: true,
          placeholder: "PATH",
          brief: "A git repository, or a folder in one; otherwise this folder",
        },
      ],
    },
    flags: {
      name: textFlag("NAME", "What it is called; otherwise as its folder"),
      workflow: projectFlags.workflow,
      harness: projectFlags.harness,
      "pool-size": projectFlags["pool-size"],
      "allow-full-permissions": allowFullPermissions,
      config: flag("Also write .signalbox/config.yml, with everything in it as a remark"),
      json,
    },
  },
  docs: {
    brief: "Make a repository a project",
    fullDescription: `What is not said is as the repository's configuration or your own says. Of a repository that is a project already nothing changes, but --allow-full-permissions counts there too. It says what agents' folders will lack, because git ignores it, and proposes how they are made ready (setup, test_command, copy) from what is in the repository. On a terminal you are asked for that, and for full permissions where the project's agents need them; elsewhere the commands are printed.

--json: ${projectForm}
Exit codes: 0 ok, 1 the name is taken, 2 wrong usage, 3 no such folder or workflow, or no git repository`,
  },
});

export const install = buildCommand({
  loader: async () => (await import("./commands/install.ts")).install,
  parameters: {
    flags: {
      harness: {
        kind: "enum",
        values: agentNames,
        optional: true,
        variadic: true,
        brief: "Only for this agent; otherwise for those on your PATH; may be given several times",
      },
      project: flag("For everybody who works in this repository, instead of for yourself"),
      "dry-run": flag("Only say what would be done"),
      remove: flag("Remove it again"),
      force: flag("Also where the file is not as Signalbox wrote it; what is replaced is kept beside it"),
      json,
    },
  },
  docs: {
    brief: "Teach the agents in your terminal to hand work to Signalbox",
    fullDescription: `Puts a skill where agents look for such: Claude Code in ~/.claude/skills, Codex, Gemini CLI and OpenCode in ~/.agents/skills. With it they ask what is unclear, make tasks of what you want, and watch them. What you have changed stays as it is. After an update of Signalbox, do it again; doctor says when.

--json: { dryRun, places: [{ path, harnesses, change, note }] }
Exit codes: 0 ok, 1 a file was kept because it is not as Signalbox wrote it, or cannot be written, 2 wrong usage, 3 no agent, or no git repository`,
  },
});

export const events = buildCommand({
  loader: async () => (await import("./commands/events.ts")).events,
  parameters: {
    flags: {
      project: { ...project, brief: "Only of this project" },
      task: { ...textFlag("TASK", "Only of this task"), proposeCompletions: offerTasks },
      agent: textFlag("A", "Only by or about this role or run, such as worker or worker#2"),
      after: numberFlag("N", "Only what came after this position", 0, Number.MAX_SAFE_INTEGER),
      follow: flag("Show what happens from now on, or since --after"),
      bell: flag(
        "With --follow, ring the terminal's bell: in the beginning if a task needs you, then whenever you are called",
      ),
      json,
    },
  },
  docs: {
    brief: "Show the history of everything, the oldest first",
    fullDescription: `One line for each event: when, which task, what, who, and what it was about.

--json: { events: [${eventForm}], last }
with --follow: ${eventForm}. One is on each line.
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or task`,
  },
});

export const trust = buildCommand({
  loader: async () => (await import("./commands/trust.ts")).trust,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          optional: true,
          proposeCompletions: offerWorkflows,
          placeholder: "WORKFLOW",
          brief: "A workflow that the repository brings along, or a path to another file",
        },
      ],
    },
    flags: { config: flag("Trust the repository's configuration, with the commands in it"), project, json },
  },
  docs: {
    brief: "Let a workflow run that is neither built in nor in your folder, as its file is now",
    fullDescription: `A workflow can start agents and commands on your machine. One in .signalbox/workflows of a repository, or in any other file, is used only after you have read and trusted it, and again after each change. So is .signalbox/config.yml where it names commands (setup, teardown, test_command). Prints the path of the file.

--json: { hash, file }, with --config { hash, file, commands }
Exit codes: 0 ok, 1 the file has errors, 2 wrong usage, 3 no such project or workflow`,
  },
});

export const backup = buildCommand({
  loader: async () => (await import("./commands/backup.ts")).backup,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          optional: true,
          placeholder: "FILE",
          brief: "The new file; otherwise one in backups/ in your folder, named after the time",
        },
      ],
    },
    flags: { json },
  },
  docs: {
    brief: "Copy everything that is stored into a new file",
    fullDescription: `Work goes on meanwhile. The copy is as everything was at one moment, is opened and found sound before it gets its name, and can be read by you alone. Prints its path.

The daemon makes such copies by itself, once a day and before a new version changes the form of the database; of each kind seven are kept. Those that you ask for are never deleted.

--json: { path }
Exit codes: 0 ok, 1 the file is there already or cannot be written, 2 wrong usage`,
  },
});

export const restore = buildCommand({
  loader: async () => (await import("./commands/restore.ts")).restore,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          optional: true,
          placeholder: "BACKUP",
          brief: "The name of a backup, or the path of a file; otherwise the newest",
        },
      ],
    },
    flags: {
      list: flag("Only show the backups, the newest first, and whether they are sound"),
      empty: flag("Begin with nothing"),
      "as-it-is": flag("Go on with a database that has lost its newest entries"),
      yes: flag("Do not ask"),
      json,
    },
  },
  docs: {
    brief: "Put a backup in the place of the database",
    fullDescription: `The daemon must not run. What is there is set aside in set-aside/ in your folder, never deleted. What happened after the backup is forgotten: projects, tasks, history. Work in git stays as it is. You are asked before; agents cannot do it.

The daemon does not start where the database is gone or empty although the folder was used, or has less in it than it had. Then decide with this command.

--json: { restored, setAside }, with --list { backups: [{ path, at, kind, bytes, projects, tasks, number, problem }] }
Exit codes: 0 ok, 1 you said no, the daemon runs, or the backup is damaged, 2 wrong usage, 3 no such backup`,
  },
});
