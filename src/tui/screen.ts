import { written } from "./cells.ts";

export interface Output {
  write(text: string, onWritten?: () => void): unknown;
}

/** A terminal that is drawn line by line, and that is afterwards as it was before. */
export interface Screen {
  enter(): void;
  /** Restores the terminal. Idempotent. */
  leave(): void;
  /** Writes the lines that have changed since the last frame. Returns whether there were any. */
  draw(lines: readonly string[], columns: number, onDrawn?: () => void): boolean;
  /** The terminal has another size: it is cleared with the next frame. */
  clear(): void;
  /** Writes a sequence that draws nothing, such as the bell. */
  send(sequence: string): void;
}

const csi = "\u001b[";
/** The alternate screen without a cursor; long lines are cut; pasted text is marked. */
const begin = `${csi}?1049h${csi}?25l${csi}?7l${csi}?2004h${csi}2J`;
const end = `${csi}0m${csi}?2004l${csi}?7h${csi}?25h${csi}?1049l`;
const mouseOn = `${csi}?1000h${csi}?1006h`;
const mouseOff = `${csi}?1006l${csi}?1000l`;

export function createScreen(output: Output, hasMouse: boolean): Screen {
  let shown: readonly string[] = [];
  let isOn = false;
  let mustClear = false;
  return {
    enter() {
      if (isOn) return;
      isOn = true;
      shown = [];
      mustClear = false;
      output.write(begin + (hasMouse ? mouseOn : ""));
    },
    leave() {
      if (!isOn) return;
      isOn = false;
      output.write((hasMouse ? mouseOff : "") + end);
    },
    draw(lines, columns, onDrawn) {
      if (!isOn) return false;
      let changes = "";
      if (mustClear) {
        changes = `${csi}2J`;
        mustClear = false;
        shown = [];
      }
      for (let row = 0; row < Math.max(lines.length, shown.length); row++) {
        const line = lines[row] ?? "";
        if (line === (shown[row] ?? "")) continue;
        const { bytes, width } = written(line, columns);
        const style = bytes.includes("\u001b") ? `${csi}0m` : "";
        // Erasing after a full line would erase its last character.
        changes += `${csi}${row + 1};1H${bytes}${style}${width < columns ? `${csi}K` : ""}`;
      }
      shown = lines;
      if (changes === "") return false;
      output.write(`${csi}?2026h${changes}${csi}?2026l`, onDrawn);
      return true;
    },
    clear() {
      mustClear = true;
    },
    send(sequence) {
      if (isOn) output.write(sequence);
    },
  };
}
