import { buildCommand } from "@stricli/core";
import { offerHarnesses } from "./offers.ts";
import { flag, json, textFlag } from "./parameters.ts";
import { onlyProject, project, taskFlag } from "./task-parameters.ts";

/** What agents use up, and whether they may start. */

const pausedForm = "{ all, projects, ended, commands, failed: [{ run, problem }] }";

export const usage = buildCommand({
  loader: async () => (await import("./commands/usage.ts")).usage,
  parameters: {
    flags: {
      by: {
        kind: "enum",
        values: ["run", "task", "role", "harness", "model", "project", "day"],
        brief: "What it is added up by",
        default: "task",
      },
      since: textFlag("WHEN", "Only runs that began since then: 2026-11-15, 2026-11-15T08:00, 90m, 24h or 7d"),
      project: onlyProject,
      task: taskFlag("TASK", "Only of this task"),
      json,
    },
  },
  docs: {
    brief: "Show what agents have used: tokens, money and time",
    fullDescription: `What a harness does not tell is not known: such a cost is shown as ?, and as $1.20 + ? where some runs of several told theirs. Limits are set with signalbox config set budget.task and its like.

--json: { rows: [{ key, name, runs, inputTokens, outputTokens, cachedTokens, cost, unknown, duration }], total }. unknown counts runs that told no cost, duration is in milliseconds
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or task`,
  },
});

const all = flag("All projects");

export const pause = buildCommand({
  loader: async () => (await import("./commands/pause.ts")).pause,
  parameters: {
    flags: {
      project,
      all,
      now: flag(
        "Also end agents and commands of tasks that are at work; agents go on in their sessions later, commands run again",
      ),
      json,
    },
  },
  docs: {
    brief: "Start no more agents and commands of tasks, until told otherwise",
    fullDescription: `Nothing is lost, and nothing counts as failed: tasks wait. Workflows merge, push and open nothing meanwhile; what you merge yourself (signalbox task merge) is merged. It holds also after the daemon was started again. Go on with signalbox resume.

--json: ${pausedForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

export const resume = buildCommand({
  loader: async () => (await import("./commands/resume.ts")).resume,
  parameters: {
    flags: {
      project,
      all,
      harness: {
        ...textFlag("H", "Forget the limit of this harness's provider, so that its agents go on"),
        proposeCompletions: offerHarnesses,
      },
      json,
    },
  },
  docs: {
    brief: "Go on after signalbox pause, or after a provider's limit",
    fullDescription: `Where a provider takes no more, nothing is started in its harness until the limit is over. If that takes more than six hours, or the provider refuses three times without saying until when, you are called. A time more than eight days away is not believed: the provider is asked again after five minutes. With --harness the limit is forgotten at once; a provider that still takes no more says so again.

--json: ${pausedForm}
Exit codes: 0 ok, 1 failed, or no limit is known of the harness, 2 wrong usage, 3 no such project`,
  },
});

export const mcp = buildCommand({
  loader: async () => (await import("./commands/mcp.ts")).mcp,
  parameters: {},
  docs: {
    brief: "Speak the Model Context Protocol on stdin and stdout, for the agent that starts it",
    fullDescription: `Harnesses start it for their agents; there is no need to do so by hand. It speaks for the run whose SIGNALBOX_TOKEN it has, about that run's task alone. Its tools are task_update (status, summary, branch) and comment (text). What is refused comes back as an error of the tool, with what is missing.

Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
});
