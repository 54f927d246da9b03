/** The style sequences of a text, one after the other, without those that make text invisible or tiny. */
interface StyleFilter {
  /** What to print instead of a sequence such as `\u001b[31m`. */
  take(sequence: string): string;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** Bold, dim, italic, underline, reverse, strike, overline, colours and their ends. Not: conceal, fonts, small letters. */
const plainCodes = new Set([1, 2, 3, 4, 5, 7, 9, 21, 22, 23, 24, 25, 27, 28, 29, 53, 55, 59]);
const esc = "\u001b";

/**
 * Agents' output may contain styles that hide text from a person. A foreground that cannot be told from its background
 * is printed in the terminal's own colours.
 */
export function createStyleFilter(): StyleFilter {
  let front: Rgb | undefined;
  let back: Rgb | undefined;
  return {
    take(sequence) {
      const codes = sequence.slice(2, -1).split(/[;:]/).map(Number);
      const kept: string[] = [];
      for (let i = 0; i < codes.length; i++) {
        const code = codes[i] ?? 0;
        if (code === 38 || code === 48 || code === 58) {
          const read = readColour(codes.slice(i + 1), sequence.includes(":"));
          i += read.length;
          if (read.colour === undefined) continue;
          kept.push(`${code};${read.text}`);
          if (code === 38) front = read.colour;
          if (code === 48) back = read.colour;
        } else if (code === 0) {
          kept.push("0");
          front = undefined;
          back = undefined;
        } else if (code === 39 || code === 49) {
          kept.push(`${code}`);
          if (code === 39) front = undefined;
          else back = undefined;
        } else if (isColour(code, 30, 90)) {
          kept.push(`${code}`);
          front = paletteColour(code >= 90 ? code - 82 : code - 30);
        } else if (isColour(code, 40, 100)) {
          kept.push(`${code}`);
          back = paletteColour(code >= 100 ? code - 92 : code - 40);
        } else if (plainCodes.has(code)) kept.push(`${code}`);
      }
      if (kept.length === 0) return "";
      if (isHidden(front, back)) kept.push("39", "49");
      return `${esc}[${kept.join(";")}m`;
    },
  };
}

function isColour(code: number, dark: number, bright: number): boolean {
  return (code >= dark && code <= dark + 7) || (code >= bright && code <= bright + 7);
}

/** Differences of colours up to this, of 765, cannot be seen. */
const minDifference = 60;
const black: Rgb = [0, 0, 0];

/** Most terminals are dark, so that black without a background is hidden too. */
function isHidden(front: Rgb | undefined, back: Rgb | undefined): boolean {
  if (front === undefined) return false;
  const behind = back ?? black;
  return front.reduce((sum, value, i) => sum + Math.abs(value - (behind[i] ?? 0)), 0) < minDifference;
}

interface ReadColour {
  readonly colour: Rgb | undefined;
  readonly text: string;
  /** How many codes it takes. */
  readonly length: number;
}

/** Reads `5;n` or `2;r;g;b`. With colons there may be an empty colour space before the values. */
function readColour(codes: readonly number[], hasColons: boolean): ReadColour {
  const [kind] = codes;
  if (kind === 5) {
    const index = codes[1] ?? 256;
    return { colour: index < 256 ? paletteColour(index) : undefined, text: `5;${index}`, length: 2 };
  }
  if (kind !== 2) return { colour: undefined, text: "", length: codes.length };
  const from = hasColons && codes.length > 4 ? 2 : 1;
  const values = codes.slice(from, from + 3);
  const colour = values.length === 3 && values.every((value) => value < 256) ? (values as unknown as Rgb) : undefined;
  return { colour, text: `2;${values.join(";")}`, length: from + 3 };
}

const steps = [0, 95, 135, 175, 215, 255];

/** A colour of the palette of 256, with xterm's values for the first 16. */
function paletteColour(index: number): Rgb {
  if (index >= 232) return [8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10];
  if (index >= 16) {
    const place = index - 16;
    const step = (value: number) => steps[value % 6] ?? 0;
    return [step(Math.floor(place / 36)), step(Math.floor(place / 6)), step(place)];
  }
  if (index === 7) return [229, 229, 229];
  if (index === 8) return [127, 127, 127];
  const strong = index > 8 ? 255 : 205;
  return [index & 1 ? strong : 0, index & 2 ? strong : 0, index & 4 ? strong : 0];
}
