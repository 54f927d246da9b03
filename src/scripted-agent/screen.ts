/** The content of the bottom of the screen. */
type View =
  | { readonly kind: "dialog"; readonly title: string; readonly about: string }
  | {
      readonly kind: "box";
      readonly input: string;
      /** What it is doing; undefined while it waits for a message. */
      readonly busy: string | undefined;
      readonly queued: readonly string[];
    };

interface Screen {
  /** Prints lines above the bottom part; they are never redrawn. */
  say(text: string): void;
  show(view: View): void;
  /** Call this after bytes were written to the terminal directly: the drawn state is unknown. */
  forget(): void;
  /** Erases the bottom part. */
  leave(): void;
}

interface Output {
  readonly columns: number;
  write(text: string): unknown;
}

const maxLines = 5;
const spinner = ["⠂", "⠐"] as const;

/** Draws like the real agents: output scrolls up, and a box stays at the bottom. */
export function createScreen(output: Output): Screen {
  let drawn = 0;
  let view: View = { kind: "box", input: "", busy: undefined, queued: [] };
  let beat = 0;
  const erased = () => (drawn > 1 ? `\x1b[${drawn - 1}A\r\x1b[J` : "\r\x1b[J");
  const draw = (above: string) => {
    const lines = linesOf(view).map((line) => cut(line, Math.max(20, output.columns) - 1));
    const title = `\x1b]2;${titleOf(view, spinner[beat++ % spinner.length] ?? "")}\x07`;
    // In one write, so that it is never seen half drawn.
    output.write(`${erased()}${above}${lines.join("\r\n")}${title}`);
    drawn = lines.length;
  };
  return {
    say: (text) => draw(`${printable(text).replaceAll("\n", "\r\n")}\r\n`),
    show(next) {
      view = next;
      draw("");
    },
    forget() {
      output.write("\x1b[0m\r\n");
      drawn = 0;
      draw("");
    },
    leave: () => void output.write(erased()),
  };
}

function titleOf(view: View, mark: string): string {
  if (view.kind === "dialog") return "✋ Scripted agent";
  return view.busy === undefined ? "✳ Scripted agent" : `${mark} Scripted agent`;
}

function linesOf(view: View): readonly string[] {
  const ruler = "─".repeat(60);
  if (view.kind === "dialog")
    return [
      `╭─ ${view.title} ${"─".repeat(40)}`,
      ...lastLines(view.about).map((line) => `│ ${line}`),
      "│ Do you want to proceed?",
      "│ ❯ y. Yes",
      "│   n. No (esc)",
      `╰${ruler}`,
    ];
  return [
    ...(view.busy === undefined ? [] : [`✢ ${view.busy}… (esc to interrupt)`]),
    ...view.queued.slice(0, 3).map((text) => `  queued: ${text.split("\n")[0]}`),
    ...(view.queued.length > 3 ? [`  queued: ${view.queued.length - 3} more`] : []),
    ruler,
    ...lastLines(view.input).map((line, index) => `${index === 0 ? ">" : " "} ${line}`),
    ruler,
    view.busy === undefined ? "  scripted agent · ready" : "  scripted agent · enter queues a message",
  ];
}

/** A long text is only summarised: it would push everything else off the screen. */
function lastLines(text: string): readonly string[] {
  const lines = printable(text).split("\n");
  return lines.length <= maxLines ? lines : [`[Pasted text of ${lines.length} lines]`, ...lines.slice(1 - maxLines)];
}

function printable(text: string): string {
  return text.replaceAll("\t", "    ").replace(/[^\P{Cc}\n]/gu, "�");
}

/** Truncates to the width of a line. Characters that may be wide count as wide: a shorter line does no harm. */
function cut(line: string, width: number): string {
  let used = 0;
  let kept = "";
  for (const char of line) {
    const code = char.codePointAt(0) ?? 0;
    used += code < 0x1100 || (code >= 0x2000 && code < 0x2b00) ? 1 : 2;
    if (used > width) return kept;
    kept += char;
  }
  return kept;
}
