/** A whole screen that is drawn again and again, and gone afterwards as if it had never been. */
export interface LiveScreen {
  /** Puts these lines on the screen; only those that are different from before are written. */
  draw(lines: readonly string[]): void;
  /** Everything has to be written again: the size has changed. */
  forget(): void;
  /** Gives the terminal back as it was. Safe to do twice. */
  leave(): void;
  /** Takes the terminal again after `leave`. */
  enter(): void;
}

const csi = "\u001b[";
/** The other screen, without a cursor; lines that are too long are cut by the terminal, not broken. */
const begin = `${csi}?1049h${csi}?25l${csi}?7l${csi}2J`;
const end = `${csi}?7h${csi}?25h${csi}?1049l`;

export function createLiveScreen(stdout: Pick<NodeJS.WriteStream, "write">): LiveScreen {
  let shown: readonly string[] = [];
  let isOn = false;
  const write = (text: string) => void stdout.write(text);
  return {
    enter() {
      if (isOn) return;
      isOn = true;
      shown = [];
      write(begin);
    },
    leave() {
      if (!isOn) return;
      isOn = false;
      write(end);
    },
    forget() {
      shown = [];
      if (isOn) write(`${csi}2J`);
    },
    draw(lines) {
      if (!isOn) return;
      let changes = "";
      for (let row = 0; row < Math.max(lines.length, shown.length); row++) {
        const line = lines[row] ?? "";
        if (line !== shown[row]) changes += `${csi}${row + 1};1H${line}${csi}0m${csi}K`;
      }
      shown = lines;
      // Terminals that know it show everything between the two at once; the others pass over it.
      if (changes !== "") write(`${csi}?2026h${changes}${csi}?2026l`);
    },
  };
}
