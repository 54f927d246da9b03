/** Lines that are drawn again and again in the same place, below what the terminal shows already. */
export interface Screen {
  show(lines: readonly string[]): void;
  /** Takes them away; the cursor is where they began. */
  clear(): void;
}

type Terminal = Pick<NodeJS.WriteStream, "write" | "on" | "off">;

/** Written past what keeps control characters from terminals: whoever draws must have taken care of that. */
export function createScreen(terminal: Terminal): Screen {
  let shown = 0;
  let isOpen = false;
  const top = () => (shown > 1 ? `\u001b[${shown - 1}A\r` : "\r");
  // What was drawn for another width is broken into more lines than we know of.
  const forget = () => {
    terminal.write("\u001b[H\u001b[2J");
    shown = 0;
  };
  return {
    show(lines) {
      if (!isOpen) terminal.on("resize", forget);
      const begin = isOpen ? "" : hideCursor;
      isOpen = true;
      const text = lines.map((line) => `${line}${endOfLine}`).join("\n");
      // All at once, for terminals that know how to: nobody sees half of it.
      terminal.write(`${begin}\u001b[?2026h${top()}${text}${endOfScreen}\u001b[?2026l`);
      shown = lines.length;
    },
    clear() {
      if (!isOpen) return;
      terminal.off("resize", forget);
      terminal.write(`${top()}${endOfScreen}${showCursor}`);
      isOpen = false;
      shown = 0;
    },
  };
}

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const endOfLine = "\u001b[K";
const endOfScreen = "\u001b[J";
