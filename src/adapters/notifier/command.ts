import { Fault } from "../../fault.ts";
import type { Commands } from "../../ports/commands.ts";
import type { Note, Notifier } from "../../ports/notifier.ts";
import { shownText } from "./shown-text.ts";

export interface CommandOptions {
  readonly commands: Commands;
  /** What is run, without a shell; the title and the text are added as the last two arguments. */
  readonly argv: readonly string[];
  /** What the command may see of our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** Runs a command of the person's for each note. Texts are one line each, and data: no part of them is obeyed. */
export function command({ commands, argv, env, timeout = 30_000 }: CommandOptions): Notifier {
  const [program = ""] = argv;
  return {
    async notify(note) {
      const variables = variablesOf(note);
      const own = [variables.SIGNALBOX_NOTE_TITLE, variables.SIGNALBOX_NOTE_TEXT].map(asArgument);
      const { code, timedOut, output } = await commands.run({
        argv: [...argv, ...own],
        cwd: env.HOME ?? "/",
        env: { ...env, ...variables },
        timeout,
      });
      if (code === 0) return;
      const how = timedOut ? `did not end within ${timeout / 1000} s` : `ended with ${code ?? "a signal"}`;
      const said = shownText(output, 300);
      throw new Fault("notifier.failed", `The command "${program}" ${how}${said === "" ? "." : `: ${said}`}`, {
        // It may ask something that does not answer now.
        retry: "later",
        hint: "Look at notify.command of your configuration.",
      });
    },
  };
}

function variablesOf({ title, text, task, project, key, needs = [] }: Note) {
  const [first] = needs;
  return {
    SIGNALBOX_NOTE_TITLE: shownText(title, 200),
    SIGNALBOX_NOTE_TEXT: shownText(text, 1_000),
    SIGNALBOX_NOTE_TASK: task,
    SIGNALBOX_NOTE_PROJECT: project,
    SIGNALBOX_NOTE_KEY: key,
    SIGNALBOX_NOTE_REASON: needs.length === 1 && first !== undefined ? first.reason : "",
    SIGNALBOX_NOTE_COMMAND: needs.length === 1 && first !== undefined ? shownText(first.command, 500) : "",
    SIGNALBOX_NOTE_TASKS: needs.map(({ name }) => name).join(" "),
  };
}

/** Nothing that a task is called can be an option of the command. */
function asArgument(text: string): string {
  return text.startsWith("-") ? ` ${text}` : text;
}
