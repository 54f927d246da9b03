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
  /** When it fires, what is under way is ended. */
  readonly signal?: AbortSignal;
  /** Makes the marks of our commands differ from those of other daemons. */
  readonly home?: string;
  /** Ends everybody who was started with this entry, `NAME=value`, in the environment. */
  sweep?(entry: string): Promise<void>;
}

/**
 * Runs a command of the person's for each note. Texts are one line each, and data: no part of them is obeyed. One that does
 * not end in time, or is cut short because the daemon stops, is ended with everything that it has started. It has been
 * started with the note, so it is not started with it again.
 */
export function command({ commands, argv, env, timeout = 30_000, signal, home = "", sweep }: CommandOptions): Notifier {
  const [program = ""] = argv;
  const stopped = new Fault("notifier.stopped", `The command "${program}" was not started: the daemon stops.`, {
    retry: "later",
  });
  return {
    async notify(note) {
      const variables = variablesOf(note);
      const own = [variables.SIGNALBOX_NOTE_TITLE, variables.SIGNALBOX_NOTE_TEXT].map(asArgument);
      if (signal?.aborted) throw stopped;
      const mark = `${home}:${note.key}`;
      const endAll = async () => sweep?.(`SIGNALBOX_NOTE_OF=${mark}`);
      const ended = await commands
        .run({
          argv: [...argv, ...own],
          cwd: env.HOME ?? "/",
          env: { ...env, ...variables, SIGNALBOX_NOTE_OF: mark },
          timeout,
          ...(signal === undefined ? {} : { signal }),
        })
        .catch((error: unknown) => {
          if (signal?.aborted) return undefined;
          throw error;
        });
      if (ended === undefined) return endAll();
      const { code, timedOut, output } = ended;
      if (timedOut) {
        await endAll();
        throw new Fault(
          "notifier.slow",
          `The command "${program}" did not end within ${timeout / 1000} s, and was ended. The call counts as made.`,
          { hint: "Let it end by itself; look at notify.command of your configuration." },
        );
      }
      if (code === 0) return;
      const how = `ended with ${code ?? "a signal"}`;
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
