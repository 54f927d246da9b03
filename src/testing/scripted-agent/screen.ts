/** What the lower end of the screen shows. */
export type View =
  | { readonly kind: "dialog"; readonly title: string; readonly about: string }
  | {
      readonly kind: "box";
      readonly input: string;
      /** What it is at; undefined while it waits for a message. */
      readonly busy: string | undefined;
      readonly queued: readonly string[];
    };

export interface Screen {
  /** Adds lines above the lower end, as they are from now on. */
  say(text: string): void;
  show(view: View): void;
  /** Bytes went to the terminal past us: nobody knows what it shows. */
  forget(): void;
  /** Takes the lower end away. */
  leave(): void;
}

interface Output {
  readonly columns: number;
  write(text: string): unknown;
}

const mostLines = 5;
const spinner = ["⠂", "⠐"] as const;

/** Draws like the real ones: what was said goes up into the scrollback, below it stays a box. */
export function createScreen(output: Output): Screen {
  let drawn = 0;
  let view: View = { kind: "box", input: "", busy: undefined, queued: [] };
  let beat = 0;
  const erased = () => (drawn > 1 ? `\x1b[${drawn - 1}A\r\x1b[J` : "\r\x1b[J");
  const draw = (above: string) => {
    const lines = linesOf(view).map((line) => cut(line, Math.max(20, output.columns) - 1));
    const title = `\x1b]2;${titleOf(view, spinner[beat++ % spinner.length] ?? "")}\x07`;
    // In one piece, so that nobody sees it half drawn.
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

/** A long text is only named: it would push everything else away. */
function lastLines(text: string): readonly string[] {
  const lines = printable(text).split("\n");
  return lines.length <= mostLines ? lines : [`[Pasted text of ${lines.length} lines]`, ...lines.slice(1 - mostLines)];
}

function printable(text: string): string {
  return text.replaceAll("\t", "    ").replace(/[^\P{Cc}\n]/gu, "�");
}

/** As much as fits into a line. What is not surely narrow counts as wide: a line too short does no harm. */
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
